"""The offer of a stream to SDKs that poll: the header Fetch-Mode, which the Node SDK understands.
It also chooses the streams of clients whose events a proxy holds back.

With this header, the SDK drops the document of the response and opens a stream. If the stream
fails, it polls again; so offers are limited for each running SDK, or both would alternate without a
pause. The stages of an SDK are in delivery/stream_trials.py.
"""

import re
from functools import lru_cache
from typing import Any

from sigservice.context import Context
from sigservice.delivery.client_subscription import is_of_short_stream
from sigservice.delivery.stream_trials import RETRY_AFTER_SECONDS, Kind, StreamEnd
from sigservice.errors import RateLimitError
from sigservice.semantic_version import SemanticVersion, parse_version

MAX_ID_LENGTH = 100
# 6.7.0 and 6.8.0 understand the header too, but never poll again if the stream fails.
FIRST_NODE_SDK = SemanticVersion(6, 8, 1)
_NODE_SDK = re.compile(r"unleash-(?:node-sdk|client-node):(.+)")
_PYTHON_SDK = "unleash-python-sdk:"


def must_offer(context: Context, environ: dict[str, Any], *, is_current: bool) -> bool:
    """Whether this response to a poll makes the offer. `is_current` says whether the SDK has the
    document already, so it loses nothing."""
    id = _read_id(environ)
    if not id or not (context.config["streaming"]["upgradePollers"] and context.streams.has_room):
        return False
    if not _can_return_to_polling(environ.get("HTTP_UNLEASH_SDK", "")):
        return False
    is_outdated = not is_current and "HTTP_IF_NONE_MATCH" in environ
    return context.stream_clients.must_ask(id, is_current=is_current, is_outdated=is_outdated)


def choose_kind(context: Context, environ: dict[str, Any]) -> Kind:
    """The kind of stream that the client gets. Raises RateLimitError, after which the client polls,
    if its events were held back before. Python never polls; other clients may drop the ID of an
    event that reached them.
    """
    if event_id := environ.get("HTTP_LAST_EVENT_ID"):
        return Kind.SHORT if is_of_short_stream(event_id) else Kind.ENDLESS
    id = _read_id(environ)
    kind = context.stream_clients.choose_kind(id) if id else Kind.ENDLESS
    if kind is not Kind.SHORT:
        return kind
    sdk = environ.get("HTTP_UNLEASH_SDK", "")
    if _can_return_to_polling(sdk):
        raise RateLimitError(
            "No event reached this client. Poll instead.",
            headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
        )
    return Kind.SHORT if sdk.startswith(_PYTHON_SDK) else Kind.ENDLESS


def begin_stream(context: Context, environ: dict[str, Any], kind: Kind) -> StreamEnd | None:
    """Begins a stream that has a place. Returns its end, None if it is endless."""
    has_event_id = bool(environ.get("HTTP_LAST_EVENT_ID"))
    return context.stream_clients.begin("" if has_event_id else _read_id(environ), kind)


def _read_id(environ: dict[str, Any]) -> str:
    """The connection ID of a running SDK; "" without a usable one."""
    id: str = environ.get("HTTP_UNLEASH_CONNECTION_ID", "")
    return id if len(id) <= MAX_ID_LENGTH else ""


@lru_cache(maxsize=1000)
def _can_return_to_polling(sdk: str) -> bool:
    match = _NODE_SDK.fullmatch(sdk)
    version = parse_version(match[1]) if match else None
    return version is not None and version >= FIRST_NODE_SDK
