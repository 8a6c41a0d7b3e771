"""The project says each thing with the words of docs/glossary.md."""

from __future__ import annotations

import ast
import functools
import os
import re
from pathlib import Path

import pytest
import re2

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("sigservice", "sql", "templates", "docs", "tests", "bench")
LIST = ROOT / "docs" / "retired-words.txt"
EXEMPT = {LIST, Path(__file__)}
RETIRED = [
    line.split("\t") for line in LIST.read_text().splitlines() if line and not line.startswith("#")
]
# A participle says what happened to a thing, not what it is.
PARTICIPLES = frozenset(
    word
    for line in LIST.read_text().splitlines()
    if line.startswith("# names: ")
    for word in line.split()[2:]
)


@functools.cache
def list_files(*suffixes: str) -> list[Path]:
    files = [
        Path(parent, name)
        for folder in FOLDERS
        for parent, _, names in os.walk(ROOT / folder)
        for name in names
    ]
    top = [*ROOT.glob("*.md"), *ROOT.glob("*.py")]
    return [
        file
        for file in [*files, *top]
        if file.suffix in suffixes and file not in EXEMPT and "node_modules" not in file.parts
    ]


@functools.cache
def list_suspects() -> list[tuple[str, str]]:
    """Place and text of the lines that may have a retired word. re2 reads everything once, in a
    hundredth of the time of `re`, but knows no lookaround: other lines are suspects too."""
    lookaround = re.compile(r"\(\?<?[!=](?:\\.|\[(?:\\.|[^\]])*\]|\([^()]*\)|[^()\\\[])*\)")
    any_word = re2.compile("|".join(lookaround.sub("", pattern) for pattern, _ in RETIRED))
    return [
        (f"{file.relative_to(ROOT)}:{number}", line)
        for file in list_files(".py", ".sql", ".tpl", ".md", ".css", ".js")
        if any_word.search(text := file.read_text())
        for number, line in enumerate(text.splitlines(), 1)
        if any_word.search(line)
    ]


@pytest.mark.parametrize(("pattern", "replacement"), RETIRED)
def test_retired_word_is_gone(pattern: str, replacement: str):
    word = re.compile(pattern)
    uses = [f"{place}: {line.strip()}" for place, line in list_suspects() if word.search(line)]
    assert not uses, f"say {replacement}"


def names_of(tree: ast.Module) -> list[tuple[int, str]]:
    """Line and name of each variable, parameter, attribute and function that the code defines."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.append((node.lineno, node.id if isinstance(node, ast.Name) else node.attr))
        elif isinstance(node, ast.arg):
            names.append((node.lineno, node.arg))
        elif isinstance(node, ast.FunctionDef):
            names.append((node.lineno, node.name))
    return names


def test_no_name_is_a_participle():
    binding = re2.compile(
        rf"\b_*(?:{'|'.join(PARTICIPLES)})_*(?:\s*(?:[(),:=\]]|[-+*/|&]=)|\s+in\b|$)"
    )
    bad = [
        f"{file.relative_to(ROOT)}:{line}: {name}"
        for file in list_files(".py")
        if binding.search(text := file.read_text())
        for line, name in names_of(ast.parse(text))
        if name.strip("_") in PARTICIPLES
    ]
    assert bad == []
