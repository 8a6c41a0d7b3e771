"""The offer of a stream to SDKs that poll: the header Fetch-Mode, which the Node SDK understands.

On it, the SDK drops the document of this response and opens a stream. If the stream fails, it polls
again; so offers are limited for each running SDK, or both would alternate without a pause. The
stages of an SDK are in delivery/stream_trials.py.
"""

import re
from functools import lru_cache
from typing import Any

from sigservice.context import Context
from sigservice.delivery.stream_trials import Trial
from sigservice.semantic_version import SemanticVersion, parse_version

MAX_ID_LENGTH = 100
# 6.7.0 and 6.8.0 understand the header too, but never poll again if the stream fails.
FIRST_NODE_SDK = SemanticVersion(6, 8, 1)
_NODE_SDK = re.compile(r"unleash-(?:node-sdk|client-node):(.+)")


def must_offer(context: Context, environ: dict[str, Any], *, is_current: bool) -> bool:
    """Whether this response to a poll makes the offer. `is_current`: whether the SDK has the
    document already, so that it loses nothing."""
    id = _read_client_id(environ)
    if not id or not (context.config["streaming"]["upgradePollers"] and context.streams.has_room):
        return False
    is_outdated = not is_current and "HTTP_IF_NONE_MATCH" in environ
    return context.stream_clients.must_ask(id, is_current=is_current, is_outdated=is_outdated)


def needs_trial(context: Context, environ: dict[str, Any]) -> bool:
    """Whether the requested stream is a trial. Raises RateLimitError, so that the SDK polls, if
    something in between held back its events before."""
    id = _read_new_client_id(environ)
    return bool(id) and context.stream_clients.needs_trial(id)


def begin_stream(context: Context, environ: dict[str, Any], *, is_trial: bool) -> Trial | None:
    """The trial that the stream is, for a stream that has a place; None if it isn't one."""
    id = _read_new_client_id(environ)
    return context.stream_clients.begin(id, is_trial=is_trial) if id else None


def _read_new_client_id(environ: dict[str, Any]) -> str:
    """The ID of a client that streams; "" also if it sends the ID of an event that reached it."""
    return "" if environ.get("HTTP_LAST_EVENT_ID") else _read_client_id(environ)


def _read_client_id(environ: dict[str, Any]) -> str:
    """The connection ID of an SDK that polls again if its stream fails; "" for other clients."""
    id: str = environ.get("HTTP_UNLEASH_CONNECTION_ID", "")
    if not id or len(id) > MAX_ID_LENGTH:
        return ""
    return id if _can_return_to_polling(environ.get("HTTP_UNLEASH_SDK", "")) else ""


@lru_cache(maxsize=1000)
def _can_return_to_polling(sdk: str) -> bool:
    match = _NODE_SDK.fullmatch(sdk)
    version = parse_version(match[1]) if match else None
    return version is not None and version >= FIRST_NODE_SDK
