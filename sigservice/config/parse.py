"""Kinds of option values: how text from the environment and values from code are read.

Each kind raises ValueError for what it can't take. The message never repeats the value: it may
be a secret; the caller adds the option's name, what was expected and the example.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_TRUE = {"true", "1", "t", "yes", "on"}
_FALSE = {"false", "0", "f", "no", "off"}
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")


@dataclass(frozen=True)
class Kind:
    """`parse` reads environment text, `check` an in-code value; both return the option's value."""

    expected: str
    example: str
    parse: Callable[[str], Any]
    check: Callable[[Any], Any]


def _boolean(text: str) -> bool:
    word = text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError


def _only(*types: type) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if isinstance(value, bool) and bool not in types:
            raise ValueError
        if not isinstance(value, types):
            raise ValueError
        return value

    return check


BOOLEAN = Kind("true or false", "true", _boolean, _only(bool))
# The one boolean where the specification itself says what a typo means (versionCheck.enable).
TRUE_OR_ANYTHING = Kind(
    "true; any other value disables",
    "true",
    lambda text: text.strip().lower() in _TRUE,
    lambda value: value is True,
)


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError
    return text


STRING = Kind("text on one line", "text", _printable, lambda v: _printable(_only(str)(v)))
SECRET = Kind("text", "a long random text", str, _only(str))
PATH = Kind("a path", "/etc/sigservice/file", str, lambda v: str(_only(str, Path)(v)))


def number(low: int, high: int, unit: str = "") -> Kind:
    """Whole numbers from `low` to `high`."""

    def bounded(value: int) -> int:
        if not low <= value <= high:
            raise ValueError
        return value

    def parse(text: str) -> int:
        if not _WHOLE.fullmatch(text.strip()):
            raise ValueError
        return bounded(int(text))

    what = f"a whole number from {low} to {high}" + (f" ({unit})" if unit else "")
    example = str(min(max(low, 10), high))
    return Kind(what, example, parse, lambda v: bounded(_only(int)(v)))


def choice(*words: str) -> Kind:
    """One of `words`; case and `-` or `_` make no difference."""
    known = {word.replace("_", "-"): word for word in words}

    def parse(text: str) -> str:
        word = text.strip().lower().replace("_", "-")
        if word not in known:
            raise ValueError
        return known[word]

    return Kind("one of " + ", ".join(words), words[0], parse, lambda v: parse(_only(str)(v)))


def _items(values: list[str]) -> list[str]:
    kept = [value.strip() for value in values]
    return list(dict.fromkeys(value for value in kept if value))


def _word_list(value: Any) -> list[str]:
    return _items([_printable(_only(str)(item)) for item in _only(list, tuple)(value)])


LIST = Kind(
    "a comma-separated list",
    "one,two",
    lambda text: _items(_printable(text).split(",")),
    _word_list,
)


def _csp(values: list[str]) -> list[str]:
    # They are written into a header: nothing may end the directive or the header (CSP 3, 2.3).
    if any(re.search(r"[;,\s\"\\<>]|[^!-~]", value) for value in values):
        raise ValueError
    return values


CSP_LIST = Kind(
    "a comma-separated list of CSP sources",
    "cdn.example.com,https://img.example.com",
    lambda text: _csp(LIST.parse(text)),
    lambda value: _csp(_word_list(value)),
)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError from None


def _ssl(value: Any) -> dict[str, Any] | bool:
    """The `ssl` object: false, true or {rejectUnauthorized, ca, cert, key}."""
    if value is None or value is False:
        return False
    if value is True:
        return {"rejectUnauthorized": True}
    if not isinstance(value, dict) or set(value) - {"rejectUnauthorized", "ca", "cert", "key"}:
        raise ValueError
    settings = {key: item for key, item in value.items() if item is not None}
    _only(bool)(settings.setdefault("rejectUnauthorized", True))
    for key in ("ca", "cert", "key"):
        if key in settings:
            settings[key] = pem(_only(str)(settings[key]))
    return settings


def pem(text: str) -> str:
    """PEM text; shells often leave `\\n` as two characters, which is mended here."""
    if "\n" not in text.strip() and "\\n" in text:
        text = text.replace("\\n", "\n")
    if "-----BEGIN" not in text:
        raise ValueError
    return text


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


def read_text(path: str) -> str:
    """A file's text; ValueError when it can't be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ValueError from None


def _pem_file(path: str) -> str:
    return pem(read_text(path))


PEM_FILE = Kind("a readable PEM file", "/etc/ssl/db/ca.pem", _pem_file, lambda v: _pem_file(str(v)))


def _url(text: str) -> str:
    parts = urlsplit(_printable(text.strip()))
    if " " in text.strip():
        raise ValueError
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError
    _ = parts.port  # raises ValueError for a port that is none
    return text.strip().rstrip("/")


URL = Kind(
    "an absolute http or https address",
    "https://flags.example.com",
    _url,
    lambda v: _url(_only(str)(v)),
)


def _base_path(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._~/-]*", text) or ".." in text.split("/"):
        raise ValueError
    path = "/" + "/".join(part for part in text.split("/") if part)
    return "" if path == "/" else path


BASE_PATH = Kind(
    "a path that starts with /", "/flags", _base_path, lambda v: _base_path(_only(str)(v))
)


def _callable(value: Any) -> Any:
    if not callable(value):
        raise ValueError
    return value


def _networks(values: list[str]) -> list[str]:
    for value in values:
        if value != "localhost":  # how a peer on a unix socket is called
            ipaddress.ip_network(value, strict=False)
    return values


NETWORKS = Kind(
    "a comma-separated list of addresses or networks",
    "10.0.0.7,192.168.0.0/16",
    lambda text: _networks(LIST.parse(text)),
    lambda value: _networks(_word_list([value] if isinstance(value, str) else value)),
)


def _hosts(values: list[str]) -> list[str]:
    for value in values:
        if not re.fullmatch(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*", value):
            ipaddress.ip_network(value, strict=False)
    return values


HOSTS = Kind(
    "a comma-separated list of host names, addresses or networks",
    "hooks.example.com,*.internal.example,10.0.0.0/8",
    lambda text: _hosts(LIST.parse(text.lower())),
    lambda value: _hosts([item.lower() for item in _word_list(value)]),
)


def _cookie_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", name):  # RFC 6265, 4.1.1
        raise ValueError
    return name


COOKIE_NAME = Kind(
    "a cookie name", "service-session", _cookie_name, lambda v: _cookie_name(_only(str)(v))
)


def _no_text(text: str) -> Any:
    raise ValueError


CALLABLE = Kind("a callable (code only)", "a function", _no_text, _callable)


def _token_list(value: Any) -> list[dict[str, Any]]:
    return [dict(_only(dict)(item)) for item in _only(list, tuple)(value)]


TOKENS = Kind(
    "a list of {type, secret, environment, project, username} (code only)",
    '[{"type": "admin", "secret": "*:*.…", "environment": "*", "project": "*"}]',
    _no_text,
    _token_list,
)


def _ui(value: Any) -> dict[str, Any]:
    return dict(_only(dict)(value))


OBJECT = Kind("an object (code only)", '{"environment": "production"}', _no_text, _ui)


def _admin_user(value: Any) -> dict[str, str] | None:
    if value is None:
        return None
    if not isinstance(value, dict) or set(value) != {"username", "password"}:
        raise ValueError
    return {"username": admin_name(value["username"]), "password": password(value["password"])}


def admin_name(text: str) -> str:
    """A user name or an e-mail address, as services/users.py takes it."""
    if not re.fullmatch(r"[^\s@]{1,200}|[^@\s]{1,160}@[^@\s]{1,150}", _printable(_only(str)(text))):
        raise ValueError
    return text


def password(text: str) -> str:
    """What a person can type into the sign-in form."""
    if not 1 <= len(_only(str)(text)) <= 1000 or "\x00" in text:
        raise ValueError
    text.encode()  # a lone surrogate has no UTF-8
    return text


ADMIN_USER = Kind(
    "{username, password} or None (code only)",
    '{"username": "ada", "password": "…"}',
    _no_text,
    _admin_user,
)
ADMIN_NAME = Kind("a user name or an e-mail address", "ada", admin_name, admin_name)
PASSWORD = Kind("a password of up to 1000 characters", "a long random text", password, password)
