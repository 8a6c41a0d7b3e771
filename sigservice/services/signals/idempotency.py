"""The key that identifies a signal, so that a repeated delivery is not stored twice.

It comes from the payload at the configured paths, or from a header. It is never derived from the
body, because two equal signals are two events.
"""

import hashlib
import uuid
from collections.abc import Mapping
from typing import Any

from sigservice.errors import BadDataError
from sigservice.services.signals.endpoint_options import Idempotency
from sigservice.services.signals.payload_paths import find_values

# In the order of precedence: the IETF draft, Standard Webhooks (also as svix-id), GitHub.
HEADERS = ("idempotency-key", "webhook-id", "x-github-delivery")
MAX_KEY_LENGTH = 255
_SCALARS = (str, int, float)


def find_key(
    options: Idempotency, headers: Mapping[str, str], payload: Any, signed_header: str = ""
) -> uuid.UUID | None:
    """None for a signal without a key. `headers` have lower-case names. `signed_header` is the
    header with the ID that the sender has signed, because a repeat of its call could add any other
    one.

    Raises BadDataError for a header that is too long or not printable ASCII.
    """
    if values := _find_at_paths(options.paths, payload):
        return _hash("payload", [*options.paths, *values])
    for name in (signed_header,) if signed_header else HEADERS:
        if text := headers.get(name, "").strip():
            if len(text) > MAX_KEY_LENGTH or not (text.isascii() and text.isprintable()):
                raise BadDataError(
                    f"{name} must have at most {MAX_KEY_LENGTH} printable ASCII characters.",
                    path=name,
                )
            return _hash(name, [text])
    return None


def _find_at_paths(paths: list[str], payload: Any) -> list[Any]:
    """One scalar for each path, or none if one of them is missing."""
    values = []
    for path in paths:
        matches = find_values(payload, path)
        if len(matches) != 1 or not isinstance(matches[0], _SCALARS):
            return []
        values.append(matches[0])
    return values


def _hash(source: str, values: list[Any]) -> uuid.UUID:
    """The key; the same text from another source makes another one. Lengths separate the values."""
    texts = [source, *map(str, values)]
    digest = hashlib.sha256("".join(f"{len(text)}:{text}" for text in texts).encode()).digest()
    return uuid.UUID(bytes=digest[:16])
