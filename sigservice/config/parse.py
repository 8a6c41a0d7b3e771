"""Types of option values: how text from the environment and values from code are parsed.

Each type raises ValueError for invalid values. The caller adds the option's name, the expected type
and an example. It prints the text of an `InvalidValue` only: other errors may contain the value,
which may be a secret.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

_TRUE = {"true", "1", "t", "yes", "on"}
_FALSE = {"false", "0", "f", "no", "off"}
_CSP_KEYWORD = re.compile(  # CSP 3, 2.3.1
    r"'(self|none|unsafe-inline|unsafe-eval|unsafe-hashes|wasm-unsafe-eval|strict-dynamic"
    r"|report-sample|inline-speculation-rules|(nonce|sha256|sha384|sha512)-[A-Za-z0-9+/_-]+=*)'"
)
_TRANSPORT_SECURITY = re.compile(
    r"max-age=(?P<seconds>[0-9]{1,10})(?P<subdomains>; *includeSubDomains)?(?P<preload>; *preload)?"
)
_YEAR_SECONDS = 31_536_000
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")


class InvalidValue(ValueError):
    """Why a value is invalid. The text never contains a part of the value."""


@dataclass(frozen=True)
class ValueType:
    """`parse` reads environment text, `check` an in-code value; both return the option's value."""

    expected: str
    example: str
    parse: Callable[[str], Any]
    check: Callable[[Any], Any]

    @property
    def expected_in_code(self) -> str:
        return self.expected.removesuffix(" (code only)").replace(
            "a comma-separated list", "a list"
        )


def _parse_boolean(text: str) -> bool:
    word = text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError


def of_type(*types: type) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if isinstance(value, bool) and bool not in types:
            raise ValueError
        if not isinstance(value, types):
            raise ValueError
        return value

    return check


def text_type(expected: str, example: str, read: Callable[[str], Any]) -> ValueType:
    """A type of text that is parsed the same way in code and environment."""
    return ValueType(expected, example, read, lambda value: read(of_type(str)(value)))


BOOLEAN = ValueType("true or false", "true", _parse_boolean, of_type(bool))
# The specification defines what a typo in versionCheck.enable means.
TRUE_OR_ANYTHING = ValueType(
    "true; any other value disables",
    "true",
    lambda text: text.strip().lower() == "true",
    lambda value: value is True,
)


def is_false(text: str) -> bool:
    """Whether the text is one of the words for false."""
    return text.strip().lower() in _FALSE


def _check_line(text: str) -> str:
    if not text.isprintable():
        raise InvalidValue("it contains a line break or a non-printable character")
    return text


def check_storable(text: str) -> str:
    """Returns text that UTF-8 and PostgreSQL can store; raises InvalidValue."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidValue("it is not UTF-8") from None
    if "\x00" in text:
        raise InvalidValue("it contains a NUL character")
    return text


def check_path(text: str) -> str:
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise InvalidValue("it contains a line break or another control character")
    return text


STRING = text_type("text on one line", "text", _check_line)


def _check_transport_security(text: str) -> str:
    """The value of Strict-Transport-Security (RFC 6797), with the rules of the preload list."""
    match = _TRANSPORT_SECURITY.fullmatch(text.strip())
    if not match:
        raise ValueError
    if match["preload"] and not (match["subdomains"] and int(match["seconds"]) >= _YEAR_SECONDS):
        raise InvalidValue("preload needs includeSubDomains and a max-age of at least a year")
    return text.strip()


HSTS = text_type(
    "max-age=SECONDS, then optionally ; includeSubDomains and ; preload",
    "max-age=63072000; includeSubDomains",
    _check_transport_security,
)
SECRET = text_type("text", "a long random text", check_storable)
PATH = ValueType(
    "a path",
    "/etc/sigservice/file",
    check_path,
    lambda v: check_path(str(of_type(str, Path)(v))),
)
URL_FILE = replace(
    PATH, expected="a readable file with a connection string", example="/run/secrets/database-url"
)


def number(low: int, high: int, unit: str = "") -> ValueType:
    """Whole numbers from `low` to `high`."""

    def check_bounds(value: int) -> int:
        if not low <= value <= high:
            raise ValueError
        return value

    def parse(text: str) -> int:
        if not _WHOLE.fullmatch(text.strip()):
            raise ValueError
        return check_bounds(int(text))

    expected = f"a whole number from {low} to {high}" + (f" ({unit})" if unit else "")
    example = str(min(max(low, 10), high))
    return ValueType(expected, example, parse, lambda v: check_bounds(of_type(int)(v)))


def choice(*words: str) -> ValueType:
    """One of `words`; case and `-` or `_` make no difference."""
    choices = {word.replace("_", "-"): word for word in words}

    def parse(text: str) -> str:
        word = text.strip().lower().replace("_", "-")
        if word not in choices:
            raise ValueError
        return choices[word]

    return text_type("one of " + ", ".join(words), words[0], parse)


def _strip_items(values: list[str]) -> list[str]:
    items = [value.strip() for value in values]
    return list(dict.fromkeys(value for value in items if value))


def read_words(value: Any) -> list[str]:
    return _strip_items([_check_line(of_type(str)(item)) for item in of_type(list, tuple)(value)])


LIST = ValueType(
    "a comma-separated list",
    "one,two",
    lambda text: _strip_items(_check_line(text).split(",")),
    read_words,
)


def _check_csp(values: list[str]) -> list[str]:
    # A value must not end the directive or the header (CSP 3, 2.3).
    for value in values:
        if re.search(r"[;,\s\"\\<>]|[^!-~]", value):
            raise ValueError
        if "'" in value and not _CSP_KEYWORD.fullmatch(value):
            raise InvalidValue("only CSP keywords may be quoted")
    return values


def _make_secrets_type(example: str) -> ValueType:
    """tokens.py checks each secret."""
    return replace(LIST, expected="a comma-separated list of secrets", example=example)


ADMIN_SECRETS = _make_secrets_type("*:*.964a287e1b728cb5f4f3e0120df92cb5")
CLIENT_SECRETS = _make_secrets_type("default:development.964a287e1b728cb5f4f3e0120df92cb5")


CSP_LIST = ValueType(
    "a comma-separated list of CSP sources",
    "cdn.example.com,https://img.example.com",
    lambda text: _check_csp(LIST.parse(text)),
    lambda value: _check_csp(read_words(value)),
)


def _check_schema(text: str) -> str:
    if len(_check_line(text).encode()) > 63:
        raise InvalidValue("it is longer than 63 bytes, the maximum of PostgreSQL")
    return text


SCHEMA = text_type("a schema's name on one line", "public", _check_schema)


def _check_callable(value: Any) -> Any:
    if not callable(value):
        raise ValueError
    return value


def _check_cookie_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", name):  # RFC 6265, 4.1.1
        raise ValueError
    return name


COOKIE_NAME = text_type("a cookie name", "service-session", _check_cookie_name)


def _reject_text(text: str) -> Any:
    raise ValueError


CALLABLE = ValueType("a callable (code only)", "a function", _reject_text, _check_callable)


def _check_tokens(value: Any) -> list[dict[str, Any]]:
    return [dict(of_type(dict)(item)) for item in of_type(list, tuple)(value)]


TOKENS = ValueType(
    "a list of {type, secret, environment, project, username} (code only)",
    '[{"type": "admin", "secret": "*:*.…", "environment": "*", "project": "*"}]',
    _reject_text,
    _check_tokens,
)


def _check_ui(value: Any) -> dict[str, str]:
    if set(of_type(dict)(value)) - {"environment", "slogan"}:
        raise InvalidValue("it has an unknown key")
    return {key: _check_line(of_type(str)(text)) for key, text in value.items() if text is not None}


UI = ValueType(
    "an object with the keys environment and slogan (code only)",
    '{"environment": "production"}',
    _reject_text,
    _check_ui,
)


def _check_admin_user(value: Any) -> dict[str, str] | None:
    if value is None:
        return None
    if not isinstance(value, dict) or set(value) != {"username", "password"}:
        raise ValueError
    login, secret = value["username"], value["password"]
    return {"username": check_login(login), "password": check_password(secret)}


def check_login(text: str) -> str:
    """A username or email address that services/access/users.py accepts."""
    if not re.fullmatch(
        r"[^\s@]{1,200}|[^@\s]{1,160}@[^@\s]{1,150}", _check_line(of_type(str)(text))
    ):
        raise ValueError
    return text


def check_password(text: str) -> str:
    """A password that a user can enter in the sign-in form."""
    if not 1 <= len(of_type(str)(text)) <= 1000:
        raise ValueError
    return check_storable(text)


ADMIN_USER = ValueType(
    "{username, password} or None (code only)",
    '{"username": "ada", "password": "…"}',
    _reject_text,
    _check_admin_user,
)
ADMIN_NAME = ValueType("a username or an email address", "ada", check_login, check_login)
PASSWORD = text_type("a password of up to 1000 characters", "a long random text", check_password)
