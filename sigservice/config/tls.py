"""Kinds of the database's TLS settings: JSON, PEM text and files that hold them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sigservice.config.parse import Kind, Wrong, storable

LARGEST_FILE = 1_000_000
_KEYS = {"rejectUnauthorized", "ca", "cert", "key"}


def read_text(path: str) -> str:
    """A file's text. Raises Wrong; a device without an end is not read to the end."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise Wrong("the file is larger than 1 MB")
        text = content.decode("utf-8")
    except FileNotFoundError:
        raise Wrong("there is no such file") from None
    except IsADirectoryError:
        raise Wrong("it is a folder") from None
    except UnicodeDecodeError:
        raise Wrong("the file is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        if isinstance(error, Wrong):
            raise
        raise Wrong("the file can't be read") from None
    if not text.strip():
        raise Wrong("the file is empty")
    return text


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise Wrong("the JSON has a key twice")
    return dict(pairs)


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once)
    except Wrong:
        raise
    except (ValueError, RecursionError):
        raise Wrong("it is not JSON") from None


def _ssl(value: Any) -> dict[str, Any] | bool:
    """The `ssl` object: false, true or {rejectUnauthorized, ca, cert, key}."""
    if value is None or value is False:
        return False
    if value is True:
        return {"rejectUnauthorized": True}
    if not isinstance(value, dict):
        raise ValueError
    if set(value) - _KEYS:
        raise Wrong("it has a key of another name")
    settings = {key: item for key, item in value.items() if item is not None}
    if not isinstance(settings.setdefault("rejectUnauthorized", True), bool):
        raise Wrong("rejectUnauthorized is neither true nor false")
    for key in ("ca", "cert", "key"):
        if key in settings:
            if not isinstance(settings[key], str):
                raise Wrong(f"{key} is no text")
            settings[key] = pem(settings[key])
    if ("cert" in settings) != ("key" in settings):
        raise Wrong("cert and key go together")
    return settings


def pem(text: str) -> str:
    """PEM text; shells often leave `\\n` as two characters, which is mended here."""
    if "\n" not in text.strip() and "\\n" in text:
        text = text.replace("\\n", "\n")
    if "-----BEGIN" not in text:
        raise Wrong("there is no PEM text in it")
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
    "a JSON object with the keys rejectUnauthorized, ca, cert and key, or a file that holds it",
    SSL_JSON.example,
    _ca_config,
    _ssl,
)


def _pem_file(path: str) -> str:
    return pem(read_text(path))


PEM_FILE = Kind("a readable PEM file", "/etc/ssl/db/ca.pem", _pem_file, lambda v: _pem_file(str(v)))
