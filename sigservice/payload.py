"""JSON bodies: decompressed, parsed, and checked for what can't be stored.

PostgreSQL rejects NUL; JSON parsers reject lone surrogates, NaN and deep nesting. All of these are
refused here with a reason.
"""

import json
import re
import zlib
from typing import Any

import msgspec

from sigservice.errors import BadDataError, ContentTooLargeError, ContentTypeError

MAX_DEPTH = 64
_EXPONENT = re.compile(rb"[:,[]\s*-?[0-9.]+[eE]")  # not in a UUID
_ESCAPE = re.compile(r"\\(?:(u[dD][89abAB]..\\u....|u....)|.)", re.DOTALL)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_decode = msgspec.json.decode


def list_media_types(content_type: str) -> list[str]:
    """The media types of a Content-Type in lower case, without parameters: several if it was sent
    several times, which servers join by commas; none if it is missing."""
    text = _QUOTED.sub("", content_type)
    return [part.partition(";")[0].strip().lower() for part in text.split(",")] if text else []


def inflate(data: bytes, encoding: str, limit: int) -> bytes:
    """Decodes the Content-Encoding; the result has at most `limit` bytes.

    Raises ContentTypeError for an encoding other than gzip, BadDataError for broken gzip,
    ContentTooLargeError above the limit.
    """
    if encoding in ("", "identity"):
        return data
    if encoding not in ("gzip", "x-gzip"):
        raise ContentTypeError("The body's Content-Encoding must be gzip or identity.")
    decompressor = zlib.decompressobj(wbits=31)
    try:
        plain = decompressor.decompress(data, limit + 1)
    except zlib.error as error:
        raise BadDataError("The body is not valid gzip.") from error
    if len(plain) > limit:
        raise build_too_large_error(limit)
    if not decompressor.eof or decompressor.unused_data:
        raise BadDataError("The body is not valid gzip.")
    return plain


def build_too_large_error(limit: int) -> ContentTooLargeError:
    return ContentTooLargeError(f"The body is larger than {limit} bytes.")


def parse_field(text: str, path: str) -> Any:
    """The JSON value in the field `path` of a form, checked like a body. Raises BadDataError."""
    try:
        return parse(text.encode(), path)
    except BadDataError as error:
        raise BadDataError(error.message, path=path) from None


def parse(data: bytes, source: str = "body") -> Any:
    """The JSON value in `data` (RFC 8259, UTF-8), checked for what can't be stored.

    Raises BadDataError with the reason and, if known, the byte. `source` is what contains the JSON.
    """
    try:
        value = _decode(data)
    except UnicodeDecodeError as error:
        raise BadDataError(f"The {source} is not UTF-8.") from error
    except RecursionError as error:
        raise _build_depth_error() from error
    except msgspec.DecodeError as error:
        raise BadDataError(f"The {source} is not valid JSON: {_describe(error)}.") from error
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _measure_depth(value) > MAX_DEPTH:
        raise _build_depth_error()
    if b"\\u0000" in data and _has_nul(value):
        raise BadDataError("The JSON contains a NUL character (\\u0000), which can't be stored.")
    return value


def is_harmless(data: bytes) -> bool:
    """Whether JSON can have neither characters that are refused, nor too large numbers, nor too
    many levels: a decoder of a struct skips what it doesn't know."""
    has_levels = data.count(b"[") + data.count(b"{") > MAX_DEPTH
    is_plain = data.isascii() and b"\\u" not in data
    return is_plain and not has_levels and not _EXPONENT.search(data)


def _build_depth_error() -> BadDataError:
    return BadDataError(f"The JSON is nested deeper than {MAX_DEPTH} levels.")


def unescape(text: str) -> str:
    """The JSON text with `\\u00e9` written as é, so that a search finds it.

    `text` is JSON that parse() has accepted; the rest of it doesn't change.
    """
    return _ESCAPE.sub(_unescape_match, text) if "\\u" in text else text


def _unescape_match(escape: re.Match[str]) -> str:
    if not escape[1]:
        return escape[0]
    character = json.loads(f'"{escape[0]}"')
    return character if character.isprintable() and character not in '"\\' else escape[0]


def _describe(error: Exception) -> str:
    if isinstance(error, msgspec.ValidationError):
        return "a number is out of range"
    return str(error).removeprefix("JSON is malformed: ").strip() or "it can't be parsed"


def _measure_depth(value: Any) -> int:
    """The number of levels of arrays and objects; iterative, because recursion is limited."""
    depth = 0
    level = [value]
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        level = [
            inner for item in level for inner in (item.values() if isinstance(item, dict) else item)
        ]
    return depth


def _has_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict):
        return any(_has_nul(key) or _has_nul(item) for key, item in value.items())
    if isinstance(value, list):
        return any(_has_nul(item) for item in value)
    return False
