"""Paths into a payload: `data.key`, `alerts[0].labels.severity`, `alerts[*].status`, `[0].a`.

A key may contain dots itself, at every level, unless a nested path exists.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

MAX_PATH_LENGTH = 500
MAX_KEY_PARTS = 16
MAX_VISITED = 10_000
_PART = re.compile(r"\[(\*|[0-9]{1,9})\]|\.?([^.\[\]]+)")
_VALID_KEY = re.compile(rf"[^.\[\]]+(\.[^.\[\]]+){{0,{MAX_KEY_PARTS - 1}}}")
PathPart = str | int
WILDCARD = "*"


def parse_path(path: str) -> list[PathPart] | None:
    """The parts: members by name, items by index, WILDCARD for `[*]`; None for an invalid path."""
    if not 1 <= len(path) <= MAX_PATH_LENGTH:
        return None
    parts: list[PathPart] = []
    at = 0
    while at < len(path):
        match = _PART.match(path, at)
        if match is None or (at == 0 and path[0] == "."):
            return None
        index, key = match.groups()
        parts.append(_Key(key) if key else WILDCARD if index == WILDCARD else int(index))
        at = match.end()
    return parts


class _Key(str):
    """The name of a member, so that the name "*" is not a wildcard."""


@lru_cache(1000)
def _list_parts(path: str) -> Sequence[PathPart]:
    return parse_path(path) or ()


def find_values(payload: Any, path: str) -> list[Any]:
    """The values at the path, which must be valid: none, one, or with `[*]` any number of them."""
    parts = _list_parts(path)
    values = list(_walk(payload, parts))
    if not values and isinstance(payload, dict) and path in payload:
        return [payload[path]]
    return values if values or "." not in path else list(_walk_dotted(payload, parts))


def find_scalars(payload: Any, path: str) -> list[Any]:
    """The values that are no objects and lists."""
    return [v for v in find_values(payload, path) if not isinstance(v, dict | list)]


def _walk(value: Any, parts: Sequence[PathPart]) -> Iterator[Any]:
    level = [value]
    for part in parts:
        if isinstance(part, _Key):
            level = [v[part] for v in level if isinstance(v, dict) and part in v]
        elif part == WILDCARD:
            level = [item for v in level if isinstance(v, list) for item in v]
        else:
            index = int(part)
            level = [v[index] for v in level if isinstance(v, list) and index < len(v)]
        if not level:
            return iter(())
    return iter(level)


def _walk_dotted(payload: Any, parts: Sequence[PathPart]) -> Iterator[Any]:
    """Like _walk, but several parts may form one key, `app.kubernetes.io/name`. Ends after
    MAX_VISITED values, because a sender can make a list page search many payloads."""
    waiting = [(payload, 0)]
    for _ in range(MAX_VISITED):
        if not waiting:
            return
        value, at = waiting.pop()
        if at == len(parts):
            yield value
        elif isinstance(parts[at], _Key):
            if isinstance(value, dict):
                waiting += reversed([(value[key], to) for key, to in _join_keys(parts, at, value)])
        elif isinstance(value, list):
            waiting += reversed([(item, at + 1) for item in _walk(value, [parts[at]])])


def _join_keys(
    parts: Sequence[PathPart], at: int, value: dict[str, Any]
) -> Iterator[tuple[str, int]]:
    """The keys of `value` that the parts from `at` on form, each with the number of the next
    part."""
    key = ""
    max_parts = MAX_KEY_PARTS if any("." in name for name in value) else 1
    for to in range(at, min(at + max_parts, len(parts))):
        part = parts[to]
        if not isinstance(part, _Key):
            return
        key = f"{key}.{part}" if to > at else str(part)
        if key in value:
            yield key, to + 1


def find_text(payload: Any, path: str) -> str | None:
    """The first scalar value at the path as text, None if there is none."""
    scalars = find_scalars(payload, path)
    return to_text(scalars[0]) if scalars else None


def to_text(value: Any) -> str:
    """The text that filters compare: 500 and 500.0 are "500", true is "true"."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        value = int(value)
    return msgspec.json.encode(value).decode()


def flatten_payload(payload: Any, limit: int = 500) -> dict[str, Any]:
    """The paths of scalars with their values, in order, at most `limit`; the later of two equal
    paths wins. Omits empty objects and lists, and keys that a path can't express."""
    flat: dict[str, Any] = {}
    for path, value in walk_payload(payload):
        if not isinstance(value, dict | list) and 0 < len(path) <= MAX_PATH_LENGTH:
            flat[path] = value
            if len(flat) >= limit:
                break
    return flat


def walk_payload(payload: Any) -> Iterator[tuple[str, Any]]:
    """Each value with its path, a container before its members. Lazy, so the first values of a
    large payload cost little. Omits keys that a path can't express."""
    levels: list[Iterator[tuple[str, Any]]] = [iter([("", payload)])]
    while levels:
        item = next(levels[-1], None)
        if item is None:
            levels.pop()
            continue
        yield item
        path, value = item
        if isinstance(value, dict | list):
            levels.append(_list_members(path, value))


def _list_members(path: str, value: dict[str, Any] | list[Any]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        return ((f"{path}[{n}]", item) for n, item in enumerate(value))
    prefix = f"{path}." if path else ""
    return ((f"{prefix}{key}", member) for key, member in value.items() if is_valid_key(key))


def is_valid_key(key: str) -> bool:
    """Whether a path can express the key."""
    return bool(_VALID_KEY.fullmatch(key))
