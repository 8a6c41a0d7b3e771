"""Types of the database's TLS settings: JSON, PEM text and files with them."""

import json
from pathlib import Path
from typing import Any

from sigservice.config.parse import InvalidValue, ValueType, check_storable

MAX_FILE_BYTES = 1_000_000
_KEYS = {"rejectUnauthorized", "ca", "cert", "key"}


def read_text(path: str) -> str:
    """The text of a file, at most MAX_FILE_BYTES. Raises InvalidValue."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            raise InvalidValue("the file is larger than 1 MB")
        text = content.decode("utf-8")
    except FileNotFoundError:
        raise InvalidValue("the file doesn't exist") from None
    except IsADirectoryError:
        raise InvalidValue("it is a folder") from None
    except UnicodeDecodeError:
        raise InvalidValue("the file is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidValue):
            raise
        raise InvalidValue("the file can't be read") from None
    if not text.strip():
        raise InvalidValue("the file is empty")
    return text


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise InvalidValue("the JSON has a duplicate key")
    return dict(pairs)


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_reject_duplicate_keys)
    except InvalidValue:
        raise
    except (ValueError, RecursionError):
        raise InvalidValue("it is not valid JSON") from None


def _check_ssl(value: Any) -> dict[str, Any] | bool:
    """The `ssl` object: false, true or {rejectUnauthorized, ca, cert, key}."""
    if value is None or value is False:
        return False
    if value is True:
        return {"rejectUnauthorized": True}
    if not isinstance(value, dict):
        raise ValueError
    if set(value) - _KEYS:
        raise InvalidValue("it has an unknown key")
    settings = {key: item for key, item in value.items() if item is not None}
    if not isinstance(settings.setdefault("rejectUnauthorized", True), bool):
        raise InvalidValue("rejectUnauthorized must be true or false")
    for key in ("ca", "cert", "key"):
        if key in settings:
            if not isinstance(settings[key], str):
                raise InvalidValue(f"{key} must be text")
            settings[key] = parse_pem(settings[key])
    if ("cert" in settings) != ("key" in settings):
        raise InvalidValue("cert and key must be set together")
    return settings


def parse_pem(text: str) -> str:
    """PEM text. Shells often leave `\\n` as two characters; they become line breaks."""
    if "\n" not in text.strip() and "\\n" in text:
        text = text.replace("\\n", "\n")
    if "-----BEGIN" not in text:
        raise InvalidValue("it contains no PEM text")
    return check_storable(text)


SSL_JSON = ValueType(
    "false, true or a JSON object with rejectUnauthorized, ca, cert and key (PEM text)",
    '{"rejectUnauthorized": true, "ca": "-----BEGIN CERTIFICATE-----…"}',
    lambda text: _check_ssl(_parse_json(text)),
    _check_ssl,
)


def _parse_ca_config(text: str) -> Any:
    if not text.lstrip().startswith("{"):
        text = read_text(text.strip())
    return _check_ssl(_parse_json(text))


CA_CONFIG = ValueType(
    "a JSON object with the keys rejectUnauthorized, ca, cert and key, or a file with it",
    SSL_JSON.example,
    _parse_ca_config,
    _check_ssl,
)


def _read_pem(path: object) -> str:
    return parse_pem(read_text(str(path)))


PEM_FILE = ValueType("a readable PEM file", "/etc/ssl/db/ca.pem", _read_pem, _read_pem)
