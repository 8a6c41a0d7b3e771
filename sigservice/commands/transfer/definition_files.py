"""Reads files of definitions, YAML 1.2 or JSON, as JSON values, and finds the line of a path.

An unquoted text stays as it is written: only the members in `_SWITCHES` and `_NUMBERS` are
something else. YAML is read as events, so that nothing is built of aliases before it is counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sigservice import payload
from sigservice.errors import BadDataError
from sigservice.late import ruamel_yaml, yaml_error, yaml_events

MAX_VALUES = 1_000_000
_SWITCHES = {
    "enabled", "impressionData", "stale", "disabled", "inverted", "caseInsensitive", "required",
}  # fmt: skip
_NUMBERS = {"version", "order", "rollout", "weight"}
_VALUES = {"on": True, "off": False, "true": True, "false": False}
_NULLS = ("", "~", "null", "Null", "NULL")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?", re.ASCII)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_STEP = re.compile(r'\.?([A-Za-z0-9_-]+)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]')


class FileError(Exception):
    """A problem of a file, with its line from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line, self.message = line, message


@dataclass
class Node:
    """A value at a line. `value` is a text, a list of nodes, or their dict by name; `lines` are
    those of the names. `size` counts the values."""

    line: int
    value: Any
    is_plain: bool = False
    lines: dict[str, int] | None = None
    anchor: str = ""
    size: int = 1


@dataclass
class Document:
    file: str
    node: Node
    value: Any

    def find_line(self, path: str) -> int:
        """Of a path in the document, or of its longest beginning that exists."""
        node, line = self.node, self.node.line
        for name, index, quoted in _STEP.findall(path):
            if isinstance(node.value, dict):
                key = name or (json.loads(f'"{quoted}"') if quoted else index)
                line = (node.lines or {}).get(key, line)
                if key not in node.value:
                    break
                node = node.value[key]
            elif isinstance(node.value, list) and index and int(index) < len(node.value):
                node = node.value[int(index)]
                line = node.line
            else:
                break
        return line


def read_documents(file: str, data: bytes) -> list[Document]:
    """The documents of a file. Raises FileError."""
    text = _decode(data)
    try:
        value = payload.parse(text.encode())
    except BadDataError as error:
        if "levels" in error.message:
            raise FileError(1, error.message) from None
        nodes = list(_parse(text))
        documents = [Document(file, node, _convert(node, ())) for node in nodes]
    else:
        (node,) = _parse(text.replace("\t", " "), is_json=True)
        items = zip(node.value, value, strict=True) if isinstance(value, list) else [(node, value)]
        documents = [Document(file, *item) for item in items]
    if not documents:
        raise FileError(1, "There is no document.")
    return documents


def _decode(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(data[: error.start].count(b"\n") + 1, "The file is not UTF-8.") from None
    if match := _FORBIDDEN.search(text):
        line = text[: match.start()].count("\n") + 1
        raise FileError(line, "The file contains a control character.")
    return text


def _parse(text: str, *, is_json: bool = False) -> Iterator[Node]:
    try:
        yield from _Builder(is_json).build(text)
    except yaml_error.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise FileError(mark.line + 1 if mark else 1, error.problem or "invalid YAML") from None
    except (yaml_error.YAMLError, ValueError, RecursionError):
        raise FileError(1, "The file is neither YAML nor JSON.") from None


class _Builder:
    """Builds nodes of events. The texts of JSON were checked before."""

    def __init__(self, is_json: bool) -> None:
        self._is_json = is_json
        self._stack: list[Node] = []
        self._keys: list[tuple[str, int] | None] = []  # of the maps of the stack: their last name
        self._anchors: dict[str, Node | None] = {}  # None inside of the anchor

    def build(self, text: str) -> Iterator[Node]:
        for event in ruamel_yaml.YAML(typ="safe", pure=True).parse(text):
            line = event.start_mark.line + 1
            if isinstance(event, yaml_events.DocumentStartEvent):
                if event.version not in (None, (1, 2)):
                    raise FileError(line, "The YAML must be of version 1.2.")
                self._anchors = {}
            elif isinstance(event, yaml_events.CollectionEndEvent):
                node = self._stack.pop()
                self._keys.pop()
                if node.anchor:
                    self._anchors[node.anchor] = node
                if self._stack:
                    self._grow(node, line)
                else:
                    yield node
            elif isinstance(event, yaml_events.NodeEvent):
                root = self._add(event, line)
                if root is not None:
                    yield root

    def _add(self, event: Any, line: int) -> Node | None:
        """Adds the value of an event; returns it if it is a whole document."""
        if isinstance(event, yaml_events.AliasEvent):
            node = self._anchors.get(event.anchor)
            if node is None:
                text = f"The alias {event.anchor} has no anchor before it, or is inside of it."
                raise FileError(line, text)
            self._attach(node, line)
            self._grow(node, line)
            return None
        if event.tag is not None:
            raise FileError(line, f"Tags such as {event.tag} aren't supported.")
        if isinstance(event, yaml_events.ScalarEvent):
            if not self._is_json and _FORBIDDEN.search(event.value):
                raise FileError(line, "The text contains a control character.")
            node = Node(line, event.value, is_plain=event.style is None)
            if event.anchor:
                self._anchors[event.anchor] = node
            if not self._stack:
                return node
            self._attach(node, line)
            return None
        is_map = isinstance(event, yaml_events.MappingStartEvent)
        lines: dict[str, int] | None = {} if is_map else None
        node = Node(line, {} if is_map else [], lines=lines, anchor=event.anchor or "")
        if self._stack:
            self._attach(node, line)
        self._stack.append(node)
        self._keys.append(None)
        if len(self._stack) > payload.MAX_DEPTH:
            raise FileError(line, f"The file is nested deeper than {payload.MAX_DEPTH} levels.")
        if event.anchor:
            self._anchors[event.anchor] = None
        return None

    def _attach(self, node: Node, line: int) -> None:
        """Adds the node to the innermost list or map, where it may be a name."""
        parent, key = self._stack[-1], self._keys[-1]
        if parent.lines is None:
            parent.value.append(node)
        elif key is None:
            if not isinstance(node.value, str):
                raise FileError(line, "A name must be a text.")
            if node.is_plain and node.value == "<<":
                raise FileError(line, "<< is not part of YAML 1.2.")
            if node.value in parent.value:
                raise FileError(line, f"{node.value} appears twice.")
            self._keys[-1] = (node.value, line)
        else:
            parent.value[key[0]] = node
            parent.lines[key[0]] = key[1]
            self._keys[-1] = None

    def _grow(self, node: Node, line: int) -> None:
        """Counts the values of a node for the one that it is in."""
        parent = self._stack[-1]
        parent.size += node.size
        if parent.size > MAX_VALUES:
            raise FileError(line, f"The file has more than {MAX_VALUES} values.")


def _convert(node: Node, path: tuple[str, ...]) -> Any:
    """The JSON value of a node; the items of a list have the name "" in their path."""
    if isinstance(node.value, dict):
        return {name: _convert(item, (*path, name)) for name, item in node.value.items()}
    if isinstance(node.value, list):
        return [_convert(item, (*path, "")) for item in node.value]
    if not node.is_plain:
        return node.value
    return _resolve(node.value, path)


def _resolve(text: str, path: tuple[str, ...]) -> Any:
    """The value of an unquoted text."""
    name, parent = (path[-1], path[-2]) if len(path) > 1 else ("".join(path), "")
    if text in _NULLS:
        return None
    is_switch = name in _SWITCHES or parent == "environments"
    if path[:1] == ("contextFields",) and name == "stickiness":
        is_switch = True
    if parent == "parameters":
        return text
    if is_switch:
        return _VALUES.get(text, text)
    if name in _NUMBERS and (number := _NUMBER.fullmatch(text)):
        return float(text) if number[2] else int(text)
    return text
