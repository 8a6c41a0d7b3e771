"""Templates of bodies: the part of Mustache that needs no code or files.

It supports values, unescaped values, sections over lists and values, inverted sections, `{{.}}`,
dotted names and comments. Unknown names and partials are empty.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

MAX_OUTPUT = 1_000_000
MAX_STEPS = 100_000  # about 50 ms
_MAX_DEPTH = 20
_TAG = re.compile(r"\{\{(\{[^{}]*\}|[^{}]*)\}\}")
_NAME = re.compile(r"\.|[^\s.{}]+(\.[^\s.{}]+)*")


class TemplateError(Exception):
    """The template can't be parsed, or its output is too long."""


class Node(NamedTuple):
    """`kind` is text, value, raw, # or ^; all but text have the parts of a name."""

    kind: str
    text: str = ""
    name: tuple[str, ...] = ()
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
    """Raises TemplateError if the output has more than MAX_OUTPUT characters, or takes more than
    MAX_STEPS: each node and each part of a name counts, also if it prints nothing."""
    output = _Output(escape)
    output.render(nodes, [values])
    return "".join(output.parts)


class _Output:
    def __init__(self, escape: Callable[[str], str]) -> None:
        self.parts: list[str] = []
        self._escape = escape
        self._size = self._steps = 0

    def render(self, nodes: Sequence[Node], stack: list[Any]) -> None:
        for kind, text, name, children in nodes:
            self._count_steps(1 + len(name))
            if kind == "text":
                self._print(text)
                continue
            value = _find(name, stack)
            if kind == "raw":
                self._print(_to_text(value))
            elif kind == "value":
                self._print(self._escape(_to_text(value)))
            elif kind == "^":
                if not value:
                    self.render(children, stack)
            elif value:
                for item in value if isinstance(value, list) else [value]:
                    self._count_steps(1)
                    self.render(children, [*stack, item])

    def _count_steps(self, count: int) -> None:
        self._steps += count
        if self._steps > MAX_STEPS:
            raise TemplateError("The template repeats its sections too often.")

    def _print(self, text: str) -> None:
        self._size += len(text)
        if self._size > MAX_OUTPUT:
            raise TemplateError("The output of the template is longer than 1 MB.")
        self.parts.append(text)


def _add_text(nodes: list[Node], text: str) -> None:
    if "{{" in text:
        raise TemplateError("A tag isn't closed.")
    if text:
        nodes.append(Node("text", text=text))


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
        levels[-1][2].append(Node(kind, name=_split(name), children=tuple(children)))
    else:
        nodes.append(Node("raw" if sign else "value", name=_split(name)))


def _split(name: str) -> tuple[str, ...]:
    return () if name == "." else tuple(name.split("."))


def _find(name: tuple[str, ...], stack: list[Any]) -> Any:
    """The innermost value with the name, None if there is none; that of the section without one."""
    if not name:
        return stack[-1]
    first, *rest = name
    for level in reversed(stack):
        if isinstance(level, dict) and first in level:
            value = level[first]
            for part in rest:
                value = value.get(part) if isinstance(value, dict) else None
            return value
    return None


def _to_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
