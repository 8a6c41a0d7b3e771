"""A payload as a tree for a page: each value with the path and the text that a filter takes."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from sigservice.services.signals.payload_paths import is_valid_key, to_text

MAX_NODES, MAX_DEPTH, MAX_TEXT = 1000, 20, 500


@dataclass(frozen=True)
class Node:
    """A value has a `text`; an object or a list has `children`, or a text below MAX_DEPTH. `path`
    is "" for a key that a path can't express."""

    key: str
    path: str = ""
    text: str = ""
    is_value: bool = False
    children: list["Node"] = field(default_factory=list)


def build_tree(payload: Any) -> Node:
    """At most MAX_NODES nodes; a child without a key gives the number of omitted ones."""
    return _TreeBuilder().build("", "", payload, 0)


class _TreeBuilder:
    def __init__(self) -> None:
        self._count = 0

    def build(self, key: str, path: str, value: Any, depth: int) -> Node:
        self._count += 1
        if not isinstance(value, dict | list):
            return Node(key, path, to_text(value)[:MAX_TEXT], is_value=True)
        if depth == MAX_DEPTH:
            return Node(key, path, msgspec.json.encode(value).decode()[:MAX_TEXT])
        children: list[Node] = []
        for name, member_path, member in _list_members(path, value):
            if self._count >= MAX_NODES:
                rest = len(value) - len(children)
                children.append(Node("", text=f"{rest} more"))
                break
            children.append(self.build(name, member_path, member, depth + 1))
        return Node(key, path, children=children)


def _list_members(path: str, value: dict[str, Any] | list[Any]) -> Iterator[tuple[str, str, Any]]:
    if isinstance(value, list):
        yield from ((str(n), f"{path}[{n}]", item) for n, item in enumerate(value))
        return
    prefix = f"{path}." if path else ""
    for key, member in value.items():
        yield key, f"{prefix}{key}" if is_valid_key(key) else "", member
