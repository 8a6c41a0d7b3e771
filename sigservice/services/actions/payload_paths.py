"""Paths into a payload: `data.key`, `alerts[0].labels.severity`, `alerts[*].status`, `[0].a`.

A key that itself holds dots is found too, at every level, when no nested path is in its way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

LONGEST_PATH = 500
MOST_DOTS = 16
_STEP = re.compile(r"\[(\*|[0-9]{1,9})\]|\.?([^.\[\]]+)")
_NAMEABLE = re.compile(rf"[^.\[\]]+(\.[^.\[\]]+){{0,{MOST_DOTS - 1}}}")
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
    return found if found or "." not in path else list(_walk_dotted(payload, steps))


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


def _walk_dotted(payload: Any, steps: list[Step]) -> Iterator[Any]:
    """As _walk, but a key may be several steps, `app.kubernetes.io/name`. Each value is reached at
    most once, so this takes no longer than the payload is large."""
    waiting = [(payload, 0)]
    while waiting:
        value, at = waiting.pop()
        if at == len(steps):
            yield value
        elif isinstance(steps[at], _Key):
            if isinstance(value, dict):
                waiting += reversed([(value[key], to) for key, to in _keys(steps, at, value)])
        elif isinstance(value, list):
            waiting += reversed([(item, at + 1) for item in _walk(value, [steps[at]])])


def _keys(steps: list[Step], at: int, value: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """The members of `value` that the steps from `at` on spell, and the step after each."""
    key = ""
    for to in range(at, min(at + MOST_DOTS, len(steps))):
        step = steps[to]
        if not isinstance(step, _Key):
            return
        key = f"{key}.{step}" if to > at else str(step)
        if key in value:
            yield key, to + 1


def flatten(payload: Any, limit: int = 500) -> dict[str, Any]:
    """Paths of the scalars with their values, in order, at most `limit`; of two equal paths the
    later one counts. Empty objects and lists are left out, and keys that no path can name."""
    flat: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [("", payload)]
    while waiting and len(flat) < limit:
        path, value = waiting.pop()
        if isinstance(value, dict):
            members = [
                (f"{path}.{key}" if path else str(key), v)
                for key, v in value.items()
                if _NAMEABLE.fullmatch(key)
            ]
            waiting += reversed(members)
        elif isinstance(value, list):
            waiting += reversed([(f"{path}[{n}]", v) for n, v in enumerate(value)])
        elif 0 < len(path) <= LONGEST_PATH:
            flat[path] = value
    return flat
