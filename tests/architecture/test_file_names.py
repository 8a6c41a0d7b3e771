"""Files that comments, docstrings and pages of the documentation name exist."""

from __future__ import annotations

import ast
import io
import os
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = re.compile(r"(?<![\w/.<>*…~-])((?:[\w.-]+/)+[\w-]+\.(?:py|sql|tpl|md))\b")
SOURCES = [*(ROOT / "sigservice").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
# docs/decisions keep the names of their time.
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "sql").glob("*.md")]


def read_prose(path: Path) -> str:
    """The comments and docstrings of a module that names files; otherwise the whole text."""
    text = path.read_text()
    if path.suffix != ".py" or not NAME.search(text):
        return text
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, documented)]
    return "\n".join([*comments, *(ast.get_docstring(node) or "" for node in nodes)])


FOREIGN = ("node_modules", "__pycache__")


def find_suffixes() -> set[str]:
    """Every tail of every path of the repository: `db/pool.py` for `sigservice/db/pool.py`."""
    folders = [
        ".ci",
        "sigservice",
        "sql",
        "templates",
        "tests",
        "docs",
        "bench",
        "static",
        "requirements",
    ]
    files = []
    for folder in folders:
        for parent, children, names in os.walk(ROOT / folder):
            children[:] = [child for child in children if child not in FOREIGN]
            files += [Path(parent, name) for name in names]
    suffixes = set()
    for file in [*files, *ROOT.glob("*.*")]:
        parts = file.relative_to(ROOT).parts
        suffixes |= {"/".join(parts[n:]) for n in range(len(parts))}
    return suffixes


def test_files_named_in_comments_and_pages_exist():
    suffixes = find_suffixes()
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in [*SOURCES, *PAGES, *(ROOT / "sql" / "queries").rglob("*.sql")]
        for name in NAME.findall(read_prose(path))
        if "NNNN" not in name and name.removeprefix("../") not in suffixes
    ]
    assert missing == []
