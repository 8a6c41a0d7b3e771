"""Reads bodies with a limit. bottle's own readers are not used, see docs/patterns.md."""

import io
import re
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from bottle import request

from sigservice import payload
from sigservice.errors import BadDataError, ContentTypeError
from sigservice.services.unknown_members import refuse_unknown

JSON_LIMIT = 102_400
FORM_LIMIT = 65_536
FORM_FIELDS = 200
MISSING = msgspec.UNSET
_QUERY = "sigservice.query"  # in the environ: the query string and its pairs
Struct = TypeVar("Struct")
_MISSING_FIELD = re.compile(r"missing required field `(\w+)`")


def read_bytes(environ: dict[str, Any], limit: int) -> bytes:
    """The decompressed body. Raises what `read_sent_bytes` raises, ContentTypeError for an unknown
    encoding, and BadDataError for invalid compressed data."""
    data = read_sent_bytes(environ, limit)
    encoding = environ.get("HTTP_CONTENT_ENCODING", "").strip().lower()
    return payload.inflate(data, encoding, limit) if data else data


def read_sent_bytes(environ: dict[str, Any], limit: int) -> bytes:
    """The body as it was sent, which can be read again. Raises BadDataError for an invalid length,
    and ContentTooLargeError if the body exceeds `limit`, without reading all of it, or if the
    listener did not read it (see web/body_permits.py)."""
    if environ.get("sigservice.body_refused"):
        raise payload.build_too_large_error(limit)
    length = environ.get("CONTENT_LENGTH") or ""
    stream = environ["wsgi.input"]
    if length:
        if not (length.isascii() and length.isdigit()):
            raise BadDataError("The Content-Length must be a number.")
        if len(length.lstrip("0")) > 18 or int(length) > limit:
            raise payload.build_too_large_error(limit)
        data: bytes = stream.read(int(length))
    elif environ.get("wsgi.input_terminated"):
        data = stream.read(limit + 1)
        if len(data) > limit:
            raise payload.build_too_large_error(limit)
    else:
        data = b""
    environ["wsgi.input"], environ["CONTENT_LENGTH"] = io.BytesIO(data), str(len(data))
    return data


def is_json(content_type: str) -> bool:
    """Whether each of its media types is application/json or a +json type (RFC 6839), or it is
    missing."""
    return all(
        media_type == "application/json"
        or (media_type.startswith("application/") and media_type.endswith("+json"))
        for media_type in payload.list_media_types(content_type)
    )


def read_json(
    environ: dict[str, Any], limit: int = JSON_LIMIT, *, any_content_type: bool = False
) -> tuple[Any, bytes]:
    """The value and its bytes, or MISSING for an empty body.

    Raises ContentTooLargeError, ContentTypeError, BadDataError.
    """
    data = read_bytes(environ, limit)
    if not data.strip():
        return MISSING, b""
    if not any_content_type and not is_json(environ.get("CONTENT_TYPE", "")):
        raise ContentTypeError("The body must be application/json.")
    return payload.parse(data), data


class BodyPlugin:
    """The option `takes=Struct` of a route: the handler gets the decoded and checked `body`.

    `body_limit=bytes` sets its maximum size. With `any_content_type=True` the body is read as
    JSON whatever its content type is, and with `optional_body=True` an empty one is the struct
    with its defaults. The struct is a part of the OpenAPI description.
    """

    name, api = "body", 2

    def apply(self, callback: Any, route: Any) -> Any:
        struct = route.config.get("takes")
        if struct is None:
            return callback
        limit = route.config.get("body_limit", JSON_LIMIT)
        any_type = route.config.get("any_content_type", False)
        is_optional = route.config.get("optional_body", False)

        def with_body(*args: Any, **kwargs: Any) -> Any:
            if is_optional and not read_sent_bytes(request.environ, limit):
                return callback(*args, body=struct(), **kwargs)
            body = read_struct(request.environ, struct, limit, any_content_type=any_type)
            return callback(*args, body=body, **kwargs)

        return with_body


def read_struct(
    environ: dict[str, Any],
    struct: type[Struct],
    limit: int = JSON_LIMIT,
    *,
    any_content_type: bool = False,
) -> Struct:
    """A JSON body as a msgspec struct. Raises BadDataError with the path of the field,
    ContentTypeError, and what `read_bytes` raises."""
    if not any_content_type and not environ.get("CONTENT_TYPE"):
        raise ContentTypeError("The body must be application/json.")
    data = read_bytes(environ, limit)
    if not data.strip():
        raise BadDataError("A JSON body is required.")
    if not any_content_type and not is_json(environ.get("CONTENT_TYPE", "")):
        raise ContentTypeError("The body must be application/json.")
    if not hasattr(struct, "read_only") and payload.is_harmless(data):
        with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return msgspec.json.decode(data, type=struct)
    value = payload.parse(data)  # also for the reason
    result = to_struct(value, struct)
    refuse_unknown(value, struct)
    return result


def to_struct(value: Any, struct: type[Struct]) -> Struct:
    """A decoded value as a struct; raises BadDataError with the path of the field."""
    try:
        return msgspec.convert(value, struct)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at ")
        missing = _MISSING_FIELD.search(message)
        path = f"{path.strip('`')}.{missing[1]}" if missing else path.strip("`")
        path = path.removeprefix("$").lstrip(".")
        detail = {"message": message} | ({"path": path} if path else {})
        raise BadDataError(message, details=[detail]) from error


def read_form(
    environ: dict[str, Any], limit: int = FORM_LIMIT, fields: int = FORM_FIELDS
) -> dict[str, str]:
    """A submitted form; the last value of a repeated field counts.

    Raises ContentTypeError, ContentTooLargeError, BadDataError.
    """
    media_types = payload.list_media_types(environ.get("CONTENT_TYPE", ""))
    data = read_bytes(environ, limit)
    if data and set(media_types) != {"application/x-www-form-urlencoded"}:
        raise ContentTypeError("The body must be application/x-www-form-urlencoded.")
    return dict(_parse_pairs(data.decode("latin-1"), "form", fields))


def read_query(environ: dict[str, Any]) -> dict[str, str]:
    """The query parameters; raises BadDataError for invalid UTF-8."""
    return dict(read_query_pairs(environ))


def read_query_pairs(environ: dict[str, Any]) -> list[tuple[str, str]]:
    """The query parameters with repeated names, which must not be changed; raises like
    `read_query`. A request parses its query once."""
    text, cached = environ.get("QUERY_STRING", ""), environ.get(_QUERY)
    if cached is None or cached[0] != text:
        cached = environ[_QUERY] = text, _parse_pairs(text, "query string")
    return cached[1]


def _parse_pairs(text: str, source: str, fields: int = FORM_FIELDS) -> list[tuple[str, str]]:
    try:
        pairs = parse_qsl(
            text,
            keep_blank_values=True,
            encoding="utf-8",
            errors="strict",
            max_num_fields=fields,
        )
    except ValueError:  # UnicodeDecodeError is one
        raise BadDataError(f"The {source} is invalid.") from None
    if "\x00" in text or any("\x00" in key or "\x00" in value for key, value in pairs):
        raise BadDataError(f"The {source} contains a NUL character.")
    if not text.isascii():
        raise BadDataError(f"The {source} is invalid.")
    return pairs


def read_number(
    query: dict[str, str], name: str, default: int | None, low: int, high: int
) -> int | None:
    """A number in the query, `default` without one. Raises BadDataError for a number outside of
    `low` to `high`."""
    text = query.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 19 and low <= int(text) <= high):
        raise BadDataError(f"{name} must be a whole number from {low} to {high}.", path=name)
    return int(text)
