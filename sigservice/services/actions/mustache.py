"""Templates of bodies: the part of Mustache that needs no code or files.

It supports values, unescaped values, sections over lists and values, inverted sections, `{{.}}`,
dotted names and comments. Unknown names and partials are empty.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

MAX_OUTPUT = 1_000_000
_MAX_DEPTH = 20
_TAG = re.compile(r"\{\{(\{[^{}]*\}|[^{}]*)\}\}")
_NAME = re.compile(r"\.|[^\s.{}]+(\.[^\s.{}]+)*")


class TemplateError(Exception):
    """The template can't be parsed, or its output is too long."""


class Node(NamedTuple):
    """`kind` is text, value, raw, # or ^."""

    kind: str
    text: str
    children: tuple["Node", ...] = ()


def parse(template: str) -> tuple[Node, ...]:
    """Raises TemplateError."""
    levels: list[tuple[str, str, list[Node]]] = [("", "", [])]
    end = 0
    for match in _TAG.finditer(template):
        _add_text(levels[-1][2], template[end : match.start()])
        end = match.end()
        _add_tag(levels, match[1])
    _add_text(levels[-1][2], template[end:])
    if len(levels) > 1:
        raise TemplateError(f"The section {levels[-1][1]} isn't closed.")
    return tuple(levels[0][2])


def render(nodes: Sequence[Node], values: Any, escape: Callable[[str], str]) -> str:
    """Raises TemplateError if the output has more than MAX_OUTPUT characters."""
    parts: list[str] = []
    budget = _Budget()
    _render(nodes, [values], escape, parts, budget)
    return "".join(parts)


class _Budget:
    """Counts nodes besides characters: nested sections over lists may print nothing many times."""

    size = 0

    def spend(self, text: str = "") -> str:
        self.size += len(text) + 1
        if self.size > MAX_OUTPUT:
            raise TemplateError("The output of the template is longer than 1 MB.")
        return text


def _add_text(nodes: list[Node], text: str) -> None:
    if "{{" in text:
        raise TemplateError("A tag isn't closed.")
    if text:
        nodes.append(Node("text", text))


def _add_tag(levels: list[tuple[str, str, list[Node]]], tag: str) -> None:
    nodes = levels[-1][2]
    sign = tag[:1] if tag[:1] in tuple("{&#^/!>=") else ""
    name = tag[len(sign) :].removesuffix("}").strip()
    if sign in ("!", ">"):
        return
    if sign == "=" or not _NAME.fullmatch(name):
        raise TemplateError(f"The tag {tag[:50]} isn't supported.")
    if sign in ("#", "^"):
        if len(levels) > _MAX_DEPTH:
            raise TemplateError("Too many sections are nested.")
        levels.append((sign, name, []))
    elif sign == "/":
        kind, opened, children = levels.pop() if len(levels) > 1 else ("", "", [])
        if opened != name:
            raise TemplateError(f"The end of the section {name[:50]} has no beginning.")
        levels[-1][2].append(Node(kind, name, tuple(children)))
    else:
        nodes.append(Node("raw" if sign else "value", name))


def _render(
    nodes: Sequence[Node],
    stack: list[Any],
    escape: Callable[[str], str],
    parts: list[str],
    budget: _Budget,
) -> None:
    for kind, text, children in nodes:
        if kind == "text":
            parts.append(budget.spend(text))
            continue
        value = _find(text, stack)
        if kind in ("value", "raw"):
            printed = _print(value)
            parts.append(budget.spend(escape(printed) if kind == "value" else printed))
        elif kind == "^":
            if not value:
                _render(children, stack, escape, parts, budget)
        elif value:
            for item in value if isinstance(value, list) else [value]:
                budget.spend()
                _render(children, [*stack, item], escape, parts, budget)


def _find(name: str, stack: list[Any]) -> Any:
    """The innermost value with the name, None if there is none."""
    if name == ".":
        return stack[-1]
    first, *rest = name.split(".")
    for level in reversed(stack):
        if isinstance(level, dict) and first in level:
            value = level[first]
            for part in rest:
                value = value.get(part) if isinstance(value, dict) else None
            return value
    return None


def _print(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
