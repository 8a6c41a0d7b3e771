"""Variables that look meant for this service and are none of its names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from sigservice.config.options import OPTIONS
from sigservice.config.risks import Risk

_OURS = ("SERVICE_", "DATABASE_")
_THEIRS = "UNLEASH_"
# Where the name differs in more than its beginning.
_MOVED = {
    "INIT_BACKEND_API_TOKENS": "INIT_CLIENT_API_TOKENS",
    "SERVICE_PORT": "HTTP_PORT",
    "SERVICE_HOST": "HTTP_HOST",
}


def unknown(environ: Mapping[str, str]) -> list[Risk]:
    """A warning for each; values are not looked at."""
    known = sorted({option.env for option in OPTIONS if option.env})
    found = []
    for name in sorted(set(environ) - set(known)):
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
            continue
        meant = nearest(name, known)
        if name in _MOVED or name.startswith(_THEIRS):
            meant = meant or "none here: see docs/configuration.md"
            found.append(Risk("warning", name, f"{name} is not read; the name is {meant}."))
        elif meant or name.startswith(_OURS):
            hint = f"; did you mean {meant}?" if meant else "."
            found.append(Risk("warning", name, f"{name} is not a variable of this service{hint}"))
    return found


def nearest(name: str, known: list[str]) -> str:
    """The known name that is plainly meant, or "".

    A name of another program may be alike, so outside of our own prefixes the first words must be
    the same and the rest close, or the name must be the beginning of one alone.
    """
    if name in _MOVED:
        return _MOVED[name]
    ours = name.startswith((*_OURS, _THEIRS))
    text = re.sub(f"^{_THEIRS}", "SERVICE_", name)
    if text in known:
        return text
    if ours:
        near = difflib.get_close_matches(text, known, 1)
        return near[0] if near else ""
    longer = [other for other in known if other.startswith(f"{name}_") and "_" in name]
    if len(longer) == 1:
        return longer[0]
    alike = [other for other in known if other.partition("_")[0] == name.partition("_")[0]]
    near = difflib.get_close_matches(name, alike, 1, cutoff=0.8)
    return near[0] if near else ""
