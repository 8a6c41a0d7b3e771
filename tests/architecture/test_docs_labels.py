"""The labels that docs/ prints in bold are on the pages of the service.

Bold at the beginning of a paragraph or list item is its topic. Anywhere else it is the label of a
button, link, field or heading; emphasis is in italics. In docs/senders, sections other than "Here"
have labels of the sender.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.table_tests import each

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *(DOCS / "senders").glob("*.md")])
TAGS = re.compile(r"\{\{.*?\}\}|<[^>]*>|\n")
STRING = re.compile(r'"([^"\n]+)"')


def strip_signs(text: str) -> str:
    """A label without arrows, dots and spaces around it."""
    return re.sub(r"^[\W_]+|[^\w?)]+$", "", text)


@functools.cache
def read_labels() -> set[str]:
    """The texts of templates, and the strings in their expressions and in the code of pages."""
    labels: list[str] = []
    for template in (ROOT / "templates").rglob("*.tpl"):
        text = template.read_text()
        labels += TAGS.split(text) + STRING.findall(text)
    for folder in ("routes/pages", "web"):
        for file in (ROOT / "sigservice" / folder).rglob("*.py"):
            nodes = ast.walk(ast.parse(file.read_text()))
            labels += [str(node.value) for node in nodes if isinstance(node, ast.Constant)]
    return {strip_signs(label) for label in labels}


def list_inline(page: Path) -> Iterator[tuple[Token, bool]]:
    """Each text of a page that can name labels of the service, and whether it is in a table."""
    heading, tokens = "", MarkdownIt("commonmark").enable("table").parse(page.read_text())
    for before, token in itertools.pairwise(tokens):
        if before.type == "heading_open":
            heading = token.content
        is_of_service = page.parent == DOCS or page.stem == "README" or heading == "Here"
        if token.type == "inline" and is_of_service:
            yield token, before.type == "td_open"


def find_labels(inline: Token, is_cell: bool) -> Iterator[str]:
    children = inline.children or []
    for number, token in enumerate(children):
        is_topic = not is_cell and not any(child.content for child in children[:number])
        if token.type == "strong_open" and not is_topic:
            yield strip_signs(children[number + 1].content)


@each("page", PAGES, name=lambda page: page.stem)
def test_each_bold_label_is_on_a_page(page):
    texts = {
        label for inline, is_cell in list_inline(page) for label in find_labels(inline, is_cell)
    }
    missing = texts - read_labels()
    assert not missing, f"no template and no page has the labels {sorted(missing)}"
