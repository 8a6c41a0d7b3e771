"""Paths into a payload: `data.key`, `alerts[0].labels.severity`, `alerts[*].status`, `[0].a`.

A key that itself holds dots is found too, when no nested path is in its way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

LONGEST_PATH = 500
_STEP = re.compile(r"\[(\*|\d{1,9})\]|\.?([^.\[\]]+)")
Step = str | int
WILDCARD = "*"


def parse(path: str) -> list[Step] | None:
    """The steps: members by name, places by number, WILDCARD for `[*]`; None for no path."""
    if not 1 <= len(path) <= LONGEST_PATH:
        return None
    steps: list[Step] = []
    at = 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None or (at == 0 and path[0] == "."):
            return None
        steps.append(_place(match[1]) if match[1] else _Key(match[2]))
        at = match.end()
    return steps


class _Key(str):
    """A member's name, so that one named "*" is no wildcard."""


def _place(text: str) -> Step:
    return WILDCARD if text == "*" else int(text)


def values(payload: Any, path: str, steps: list[Step]) -> list[Any]:
    """What stands at the path: nothing, one value, or with `[*]` any number of them."""
    found = list(_walk(payload, steps))
    if not found and isinstance(payload, dict) and path in payload:
        return [payload[path]]
    return found


def _walk(value: Any, steps: list[Step]) -> Iterator[Any]:
    level = [value]
    for step in steps:
        if isinstance(step, _Key):
            level = [v[step] for v in level if isinstance(v, dict) and step in v]
        elif step == WILDCARD:
            level = [item for v in level if isinstance(v, list) for item in v]
        else:
            place = int(step)
            level = [v[place] for v in level if isinstance(v, list) and place < len(v)]
        if not level:
            return iter(())
    return iter(level)


def flatten(payload: Any, limit: int = 500) -> dict[str, Any]:
    """Paths of the scalars with their values, in order, at most `limit`; of two equal paths the
    later one counts. Empty objects and lists are left out."""
    flat: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [("", payload)]
    while waiting and len(flat) < limit:
        path, value = waiting.pop()
        if isinstance(value, dict):
            members = [(f"{path}.{key}" if path else str(key), v) for key, v in value.items()]
            waiting += reversed(members)
        elif isinstance(value, list):
            waiting += reversed([(f"{path}[{n}]", v) for n, v in enumerate(value)])
        elif path:
            flat[path] = value
    return flat
