"""Kinds of the database's TLS settings: JSON, PEM text and files with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sigservice.config.parse import InvalidValue, Kind, storable

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


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise InvalidValue("the JSON has a duplicate key")
    return dict(pairs)


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once)
    except InvalidValue:
        raise
    except (ValueError, RecursionError):
        raise InvalidValue("it is not valid JSON") from None


def _ssl(value: Any) -> dict[str, Any] | bool:
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
            settings[key] = pem(settings[key])
    if ("cert" in settings) != ("key" in settings):
        raise InvalidValue("cert and key must be set together")
    return settings


def pem(text: str) -> str:
    """PEM text. Shells often leave `\\n` as two characters; they become line breaks."""
    if "\n" not in text.strip() and "\\n" in text:
        text = text.replace("\\n", "\n")
    if "-----BEGIN" not in text:
        raise InvalidValue("it contains no PEM text")
    return storable(text)


SSL_JSON = Kind(
    "false, true or a JSON object with rejectUnauthorized, ca, cert and key (PEM text)",
    '{"rejectUnauthorized": true, "ca": "-----BEGIN CERTIFICATE-----…"}',
    lambda text: _ssl(_json(text)),
    _ssl,
)


def _ca_config(text: str) -> Any:
    if not text.lstrip().startswith("{"):
        text = read_text(text.strip())
    return _ssl(_json(text))


CA_CONFIG = Kind(
    "a JSON object with the keys rejectUnauthorized, ca, cert and key, or a file with it",
    SSL_JSON.example,
    _ca_config,
    _ssl,
)


def _pem_file(path: str) -> str:
    return pem(read_text(path))


PEM_FILE = Kind("a readable PEM file", "/etc/ssl/db/ca.pem", _pem_file, lambda v: _pem_file(str(v)))
