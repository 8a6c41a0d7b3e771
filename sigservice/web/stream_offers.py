"""The offer of a stream to SDKs that poll: the header Fetch-Mode, which the Node SDK understands.

On it, the SDK drops the document of this response and opens a stream. If the stream fails, it polls
again; so an offer is made once for each running SDK, or both would alternate without a pause.
"""

import re
from typing import Any

from sigservice.context import Context
from sigservice.delivery.streams import RETRY_AFTER_SECONDS
from sigservice.errors import RateLimitError
from sigservice.semantic_version import SemanticVersion, parse_version

MAX_ID_LENGTH = 100
# 6.7.0 and 6.8.0 understand the header too, but never poll again if the stream fails.
FIRST_NODE_SDK = SemanticVersion(6, 8, 1)
_NODE_SDK = re.compile(r"unleash-(?:node-sdk|client-node):(.+)")


def must_offer(context: Context, environ: dict[str, Any], *, is_current: bool) -> bool:
    """Whether this response to a poll makes the offer: only to an SDK that has the document
    already (`is_current`). Something in between may hold back or refuse streams, and the SDK
    notices that only after up to a minute, in which it goes on with these flags.
    """
    id = _read_connection_id(environ)
    if not is_current or not id or id in context.offered_streams:
        return False
    if not (context.config["streaming"]["upgradePollers"] and context.streams.has_room):
        return False
    if not _can_return_to_polling(environ.get("HTTP_UNLEASH_SDK", "")):
        return False
    context.offered_streams.add(id)
    return True


def check_request(context: Context, environ: dict[str, Any]) -> None:
    """Raises RateLimitError, so that the SDK polls again, if it has accepted the offer before and
    comes back without an event ID: then something in between holds back the events."""
    id = _read_connection_id(environ)
    if id not in context.offered_streams or environ.get("HTTP_LAST_EVENT_ID"):
        return
    if id in context.accepted_streams:
        raise RateLimitError(
            "No event reached this client. Poll instead.",
            headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
        )
    context.accepted_streams.add(id)


def _can_return_to_polling(sdk: str) -> bool:
    match = _NODE_SDK.fullmatch(sdk)
    version = parse_version(match[1]) if match else None
    return version is not None and version >= FIRST_NODE_SDK


def _read_connection_id(environ: dict[str, Any]) -> str:
    id: str = environ.get("HTTP_UNLEASH_CONNECTION_ID", "")
    return id if len(id) <= MAX_ID_LENGTH else ""
