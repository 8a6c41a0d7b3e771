"""CloudEvents in the binary mode of HTTP: the attributes are headers, the body is the data.

They are stored in the structured mode, so that both modes look the same to filters
(CloudEvents 1.0, HTTP protocol binding, 3.1 and 3.2).
"""

import base64
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

import msgspec

from sigservice import payload
from sigservice.errors import BadDataError

PREFIX = "ce-"
_REQUIRED = ("id", "source", "specversion", "type")
_JSON = ("application/json", "text/json")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


def is_binary_mode(headers: Mapping[str, str]) -> bool:
    """`headers` have lower-case names."""
    return f"{PREFIX}specversion" in headers


def make_structured(headers: Mapping[str, str], content_type: str, body: bytes) -> bytes:
    """The event as JSON. Raises BadDataError for a missing attribute or an invalid JSON body."""
    event: dict[str, Any] = {}
    for name, text in headers.items():
        if name.startswith(PREFIX):
            event[name.removeprefix(PREFIX)] = _decode_attribute(name, text)
    for name in _REQUIRED:
        if not event.get(name):
            raise BadDataError(f"The header {PREFIX}{name} is required.", path=f"{PREFIX}{name}")
    if content_type:
        event["datacontenttype"] = content_type
    if body:
        event |= _make_data(content_type, body)
    return msgspec.json.encode(event)


def _make_data(content_type: str, body: bytes) -> dict[str, Any]:
    media_types = payload.list_media_types(content_type)
    if all(media_type in _JSON or media_type.endswith("+json") for media_type in media_types):
        payload.parse(body)
        return {"data": msgspec.Raw(body)}
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = "\x00"
    if "\x00" in text:
        return {"data_base64": base64.b64encode(body).decode()}
    return {"data": text}


def _decode_attribute(name: str, text: str) -> str:
    """Header values are percent-encoded UTF-8, in double quotes from senders of older versions."""
    if quoted := _QUOTED.fullmatch(text):
        text = re.sub(r"\\(.)", r"\1", quoted[1])
    try:
        decoded = unquote_to_bytes(text.encode("latin-1")).decode()
    except UnicodeDecodeError:
        decoded = "\x00"
    if "\x00" in decoded:
        raise BadDataError(f"The header {name} is not percent-encoded UTF-8.", path=name)
    return decoded
