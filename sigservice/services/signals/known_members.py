"""Members of the payloads of common senders. Their paths are split once, and a missing member costs
one lookup, because many of them are looked up in each signal of a list."""

from collections.abc import Iterator, Sequence
from typing import Any

MAX_ITEMS = 20
Path = tuple[str, ...]


def split_paths(*paths: str) -> tuple[Path, ...]:
    """Such as `alerts.*.labels.severity`; `*` is each of the first MAX_ITEMS items of a list."""
    return tuple(tuple(path.split(".")) for path in paths)


def find_scalars(value: Any, path: Sequence[str]) -> list[str | int | float | bool]:
    """The values at the path, without nulls, objects and lists."""
    for position, name in enumerate(path):
        if name == "*":
            items, rest = value if isinstance(value, list) else [], path[position + 1 :]
            return [scalar for item in items[:MAX_ITEMS] for scalar in find_scalars(item, rest)]
        if not isinstance(value, dict):
            return []
        value = value.get(name)
    return [] if value is None or isinstance(value, dict | list) else [value]


def find_members(
    value: dict[str, Any], paths: Sequence[Path]
) -> Iterator[list[str | int | float | bool]]:
    """The values at each path that is present, in the order of the paths."""
    return (
        scalars for path in paths if path[0] in value and (scalars := find_scalars(value, path))
    )


def list_roots(payload: Any) -> list[dict[str, Any]]:
    """The payload and its `data`, in which many senders and templates wrap their report."""
    if not isinstance(payload, dict):
        return []
    data = payload.get("data")
    return [payload, data] if isinstance(data, dict) else [payload]
