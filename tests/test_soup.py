"""Pages that the tests parse are those that Beautiful Soup's own parser reads."""

from __future__ import annotations

from typing import Any

from bs4 import BeautifulSoup
from bs4.builder._htmlparser import HTMLParserTreeBuilder
from bs4.element import Tag

from sigservice.web.guide import load_guide, render_guide_page
from tests.soup import LxmlTreeBuilder

ALL = """<html lang="en"><head><meta charset="utf-8"><title>&lt;A&gt; é \U0001f600</title>
<script type="module" src="/a.js"></script><style>p { color: red }</style></head>
<body><!-- <b>no</b> --><p class="a  b" id=x hidden>1 &amp; 2<br>3 <bdi>\u202egnp</bdi></p>
<form action="?a=1&amp;b=2"><input name="n" value="&quot;&gt;" required>
<textarea name="t">
 &lt;/textarea&gt; </textarea><select><option selected="">1</option></select></form>
<script>if (a < b) { "&amp;</p>" }</script><svg viewBox="0 0 1 1"><g><path d="M0"/></g></svg>
<pre>
  a
</pre><table><tr><td headers="a b">1</td></tr></table></body></html>"""


def describe(node: Any) -> list[Any]:
    """What tests can ask about a node. Doctype and white space at the ends don't count."""
    near = (node.previous_element, node.previous_sibling, node.next_sibling, node.next_element)
    names = [getattr(other, "name", None) or str(other or "").strip() for other in near]
    if isinstance(node, Tag):
        return [node.name, node.attrs, node.get_text(), node.parent.name, *names]
    return [type(node).__name__, str(node), node.parent.name, *names]


def read(markup: str, builder: Any) -> list[list[Any]]:
    html = BeautifulSoup(markup, builder=builder).html
    return [describe(node) for node in html.descendants]


def test_the_tree_is_that_of_html_parser():
    pages = [render_guide_page(name, "") for name in list(load_guide().pages)[:9]]
    for markup in (ALL, *(f"<html><body>{page}</body></html>" for page in pages)):
        assert read(markup, LxmlTreeBuilder) == read(markup, HTMLParserTreeBuilder)


def test_webtest_and_tests_get_this_parser():
    assert isinstance(BeautifulSoup("<p>", "html.parser").builder, LxmlTreeBuilder)
    assert BeautifulSoup("", "html.parser").find_all(True) == []
