"""Hides secrets of this service in paths that are logged or stored: callers write them there by
mistake, and some paths of the admin API contain API tokens."""

import re
from urllib.parse import unquote

HIDDEN = "(hidden)"
MAX_DECODINGS = 5  # of a path that was encoded again and again
_SECRETS = re.compile(
    r"(/api/.{0,200}?/api-tokens/)(?!/*[0-9]{1,19}/*$).+"  # an ID may be shown
    r"|(:[^/\s:.]{1,100}\.)[^/\s]{8,}"  # project:environment.secret
    r"|signal_[\w-]{16,}"
    r"|[0-9a-fA-F]{56}"  # the end of generated API tokens, personal tokens
    r"|whsec_[\w+/=-]{16,}",
    re.DOTALL,
)


def hide_secrets(path: str) -> str:
    """`path` with `(hidden)` in the place of what looks like a secret; decoded if the secret is
    percent-encoded."""
    decoded = path
    for _ in range(MAX_DECODINGS):
        if "%" not in decoded or (further := unquote(decoded)) == decoded:
            break
        decoded = further
    else:
        return HIDDEN
    hidden = _SECRETS.sub(rf"\1\2{HIDDEN}", decoded)
    return path if hidden == decoded else hidden
