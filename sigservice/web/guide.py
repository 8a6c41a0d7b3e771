"""The pages of docs/ as HTML: the guide that the service shows at /docs/guide."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sigservice.late import markdown_it, markdown_utils
from sigservice.paths import resource_dir

if TYPE_CHECKING:
    from markdown_it.token import Token

GUIDE_PATH = "/docs/guide"


@dataclass(frozen=True)
class GuidePage:
    """`name` is the path of the file in docs/ without `.md`, or of the folder of a README.md.
    `title` is the first line of the file."""

    name: str
    file: Path
    title: str

    @cached_property
    def summary(self) -> str:
        """The first paragraph or item of a list, as text."""
        paragraph = "".join(self.file.read_text(encoding="utf-8").split("\n\n", 2)[1:2])
        tokens = _build_parser().parse(paragraph)
        return next((_get_text(token) for token in tokens if token.type == "inline"), "")

    @property
    def path(self) -> str:
        return f"{GUIDE_PATH}/{self.name}"


class Guide:
    """Only files that exist in the folder at the start have a name, so no name leads elsewhere."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        index = folder / "README.md"  # lists the pages, as the guide does
        files = sorted(path for path in folder.rglob("*") if path.is_file() and path != index)
        pages = [self._read_page(file) for file in files if file.suffix == ".md"]
        self.pages = {page.name: page for page in pages}
        # Examples that the pages link.
        self.examples = {
            path.relative_to(folder).as_posix(): path
            for path in files
            if path.suffix in (".yml", ".yaml")
        }

    def render(self, page: GuidePage, prefix: str) -> str:
        """The content of a page as HTML. `prefix` is the public base path of links."""
        markdown = _build_parser()
        tokens = markdown.parse(page.file.read_text(encoding="utf-8"))
        _add_anchors(tokens)
        folder = page.file.relative_to(self._folder).parent.as_posix()
        for token in tokens:
            self._change_links(token.children or [], folder, prefix)
        return str(markdown.renderer.render(tokens, markdown.options, {}))

    def _read_page(self, file: Path) -> GuidePage:
        path = file.relative_to(self._folder).with_suffix("")
        name = (path.parent if path.name == "README" else path).as_posix()
        with file.open(encoding="utf-8") as text:
            return GuidePage(name, file, text.readline().removeprefix("# ").rstrip())

    def _change_links(self, tokens: Sequence[Token], folder: str, prefix: str) -> None:
        """Points links between files to the pages of the guide. Removes links to files outside of
        docs/, but keeps their text."""
        is_removed = False
        for token in tokens:
            if token.type == "link_open":
                target = self._find_target(str(token.attrGet("href")), folder, prefix)
                is_removed = token.hidden = not target
                token.attrSet("href", target)
            elif token.type == "link_close":
                token.hidden = is_removed

    def _find_target(self, href: str, folder: str, prefix: str) -> str:
        """The URL of a link, or "" if it leads to a file that the guide doesn't have."""
        parts = urlsplit(href)
        if parts.scheme or not parts.path:
            return href
        path = posixpath.normpath(posixpath.join(folder, parts.path))
        name = re.sub(r"(/README)?\.md$", "", path)
        if path in self.examples or (name != path and name in self.pages):
            fragment = f"#{parts.fragment}" if parts.fragment else ""
            return f"{prefix}{GUIDE_PATH}/{name}{fragment}"
        return ""


@cache
def load_guide() -> Guide:
    """The guide of the installation; raises FileNotFoundError if it lacks the docs folder."""
    return Guide(resource_dir("docs"))


@cache
def render_guide_page(name: str, prefix: str) -> str:
    """The HTML of a page; raises KeyError for an unknown name."""
    guide = load_guide()
    return guide.render(guide.pages[name], prefix)


def make_anchor(heading: str) -> str:
    """The fragment of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@cache
def _build_parser() -> markdown_it.MarkdownIt:
    """CommonMark with tables, without HTML in the source: it appears as text."""
    parser = markdown_it.MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("fence", _render_code)
    parser.add_render_rule("code_block", _render_code)
    parser.add_render_rule("table_open", lambda *_: '<div class="wide" tabindex="0"><table>\n')
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return parser


def _render_code(_renderer: Any, tokens: Sequence[Token], index: int, *_: Any) -> str:
    """The HTML of a code block. It can have the focus, so that the keyboard scrolls wide code."""
    return (
        f'<pre tabindex="0"><code>{markdown_utils.escapeHtml(tokens[index].content)}</code></pre>\n'
    )


def _add_anchors(tokens: Sequence[Token]) -> None:
    anchors: set[str] = set()
    for token, content in pairwise(tokens):
        if token.type == "heading_open":
            own = anchor = make_anchor(_get_text(content))
            number = 0
            while anchor in anchors:
                number += 1
                anchor = f"{own}-{number}"
            anchors.add(anchor)
            token.attrSet("id", anchor)


def _get_text(token: Token) -> str:
    children = token.children or []
    return "".join(" " if child.type == "softbreak" else child.content for child in children)
