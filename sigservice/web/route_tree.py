"""Finds routes by the parts of their paths: for any number of routes, a request pays for its own
path. bottle compiles patterns of all routes instead, which takes a tenth of a start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Rule = tuple[str, str]  # method and path
Match = tuple[Rule, dict[str, Any]]


class RouteTree:
    """The rules of the service. A parameter is a whole part of a path: `<name>`, `<name:id>` (a
    number), or `<name:path>` (one part or more). Fixed parts win over numbers, those over text."""

    def __init__(self) -> None:
        self._fixed: dict[str, dict[str, Rule]] = {}
        self._root = _Node()

    def add(self, method: str, path: str) -> None:
        if "<" not in path:
            self._fixed.setdefault(path, {})[method] = (method, path)
            return
        node, names = self._root, list[str]()
        for part in path.split("/"):
            if part.startswith("<"):
                name, _, kind = part[1:-1].partition(":")
                names.append(name)
                node = node.parameters.setdefault(kind, _Node())
            else:
                node = node.fixed.setdefault(part, _Node())
        node.rules[method] = ((method, path), names)

    def find(self, methods: tuple[str, ...], path: str) -> Match | None:
        """The rule and the values of its parameters; the first of the methods wins."""
        fixed = self._fixed.get(path)
        parts: list[str] = []
        for method in methods:
            if fixed and method in fixed:
                return fixed[method], {}
            parts = parts or path.split("/")
            for rules, values in self._root.walk(parts, 0, []):
                if method in rules:
                    rule, names = rules[method]
                    return rule, dict(zip(names, values, strict=True))
        return None

    def list_methods(self, path: str) -> set[str]:
        """The methods that the path has."""
        nodes = self._root.walk(path.split("/"), 0, [])
        return {*self._fixed.get(path, ()), *(method for rules, _ in nodes for method in rules)}


class _Node:
    __slots__ = ("fixed", "parameters", "rules")

    def __init__(self) -> None:
        self.fixed: dict[str, _Node] = {}
        self.parameters: dict[str, _Node] = {}
        self.rules: dict[str, tuple[Rule, list[str]]] = {}

    def walk(
        self, parts: list[str], at: int, values: list[Any]
    ) -> Iterator[tuple[dict[str, tuple[Rule, list[str]]], list[Any]]]:
        """The rules of each node that the parts lead to, with the values of the parameters."""
        if at == len(parts):
            yield self.rules, values
            return
        part = parts[at]
        if part in self.fixed:
            yield from self.fixed[part].walk(parts, at + 1, values)
        for kind in ("id", "", "path"):
            node = self.parameters.get(kind)
            if node is None:
                continue
            if kind == "id":
                if part.isascii() and part.isdigit() and len(part) <= 19:
                    yield from node.walk(parts, at + 1, [*values, _parse_id(part)])
            elif kind == "":
                if part:
                    yield from node.walk(parts, at + 1, [*values, part])
            else:
                for end in range(at + 1, len(parts) + 1):
                    if text := "/".join(parts[at:end]):
                        yield from node.walk(parts, end, [*values, text])


def _parse_id(text: str) -> int:
    """The number, or 0, which matches no row, for one that no column can store."""
    number = int(text)
    return number if number < 2**63 else 0
