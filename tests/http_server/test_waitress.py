"""The attributes of waitress that http_server needs, as waitress_attributes.txt lists them. An
upgrade that renames one of them, or changes its arguments, is a difference of that file.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import textwrap
from collections.abc import Iterator
from pathlib import Path

import waitress.adjustments
import waitress.channel
import waitress.parser
import waitress.receiver
import waitress.server
import waitress.task
import waitress.wasyncore

import sigservice

PACKAGE = Path(sigservice.__file__).parent
SOURCES = [*sorted((PACKAGE / "http_server").glob("*.py")), PACKAGE / "concurrency" / "workers.py"]
SNAPSHOT = Path(__file__).with_name("waitress_attributes.txt")
BASES = (
    waitress.adjustments.Adjustments,
    waitress.channel.HTTPChannel,
    waitress.parser.HTTPRequestParser,
    waitress.receiver.FixedStreamReceiver,
    waitress.server.TcpWSGIServer,
    waitress.server.UnixWSGIServer,
    waitress.task.ErrorTask,
    waitress.task.ThreadedTaskDispatcher,
    waitress.task.WSGITask,
)


def list_imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """(module, name) of what is imported from waitress."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("waitress"):
            for alias in node.names:
                yield str(node.module), alias.name
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "wasyncore":
            yield "waitress.wasyncore", node.attr


def list_names(tree: ast.AST) -> Iterator[str]:
    """The names of attributes that a module reads, sets or defines, and of keyword arguments, which
    may be the keys of a dict."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg
        elif isinstance(node, ast.Dict):
            yield from (key.value for key in node.keys if isinstance(key, ast.Constant))
        elif isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.FunctionDef):
                    yield item.name
                for target in ast.walk(item) if not isinstance(item, ast.FunctionDef) else ():
                    if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                        yield target.id
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr"):
            yield ast.literal_eval(node.args[1])


def list_attributes(base: type) -> dict[str, str]:
    """The attributes of a class and of its instances, with the arguments of methods."""
    attributes = {}
    for owner in reversed(base.__mro__[:-1]):
        label = f"{owner.__module__}.{owner.__name__}"
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(owner)))):
            is_stored = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
            if is_stored and isinstance(node.value, ast.Name) and node.value.id == "self":
                attributes.setdefault(node.attr, f"{label}.{node.attr}")
        for name, value in vars(owner).items():
            attributes[name] = f"{label}.{name}{describe_arguments(value)}"
    return attributes


def describe_arguments(value: object) -> str:
    return str(inspect.signature(value)) if inspect.isfunction(value) else ""


def find_used_attributes() -> list[str]:
    trees = [ast.parse(path.read_text()) for path in SOURCES]
    names = {name for tree in trees for name in list_names(tree)}
    lines = set()
    for module, name in {pair for tree in trees for pair in list_imports(tree)}:
        value = getattr(importlib.import_module(module), name)
        lines.add(f"{module}.{name}{describe_arguments(value)}")
    for base in BASES:
        lines |= {text for name, text in list_attributes(base).items() if name in names}
    return sorted(lines)


def test_attributes_of_waitress_that_are_used_are_listed():
    text = "\n".join(find_used_attributes()) + "\n"
    if os.environ.get("SNAPSHOT") == "write":
        SNAPSHOT.write_text(text)
    assert text.splitlines() == SNAPSHOT.read_text().splitlines()
