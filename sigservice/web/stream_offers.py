"""The offer of a stream to SDKs that poll (`SERVICE_STREAMING_UPGRADE`): the header Fetch-Mode,
which the Node SDK understands.

With this header, the SDK drops the document of the response and opens a stream. If the stream
fails, it polls again; so each running SDK gets one offer, or both would alternate without a pause.
"""

import re
from functools import lru_cache
from typing import Any

from sigservice.context import Context
from sigservice.semantic_version import SemanticVersion, parse_version

MAX_ID_LENGTH = 100
# 6.7.0 and 6.8.0 understand the header too, but never poll again if the stream fails.
FIRST_NODE_SDK = SemanticVersion(6, 8, 1)
_NODE_SDK = re.compile(r"unleash-(?:node-sdk|client-node):(.+)")


def must_offer(context: Context, environ: dict[str, Any]) -> bool:
    """Whether the response to this poll of an SDK with the current document, which loses nothing,
    makes the offer. Each connection ID gets it once from each process."""
    if not (context.config["streaming"]["upgradePollers"] and context.streams.has_room):
        return False
    id: str = environ.get("HTTP_UNLEASH_CONNECTION_ID", "")
    if not 0 < len(id) <= MAX_ID_LENGTH or id in context.offered_streams:
        return False
    if not _can_return_to_polling(environ.get("HTTP_UNLEASH_SDK", "")):
        return False
    context.offered_streams.add(id)
    return True


@lru_cache(maxsize=1000)
def _can_return_to_polling(sdk: str) -> bool:
    match = _NODE_SDK.fullmatch(sdk)
    version = parse_version(match[1]) if match else None
    return version is not None and version >= FIRST_NODE_SDK
