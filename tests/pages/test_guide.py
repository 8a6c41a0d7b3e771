"""The guide: the files of docs/ as pages."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from urllib.parse import urldefrag

import pytest
import webtest
from bs4 import BeautifulSoup

from sigservice.web.guide import GUIDE_PATH, Guide, load_guide, render_guide_page
from tests.pages.accessibility import RULES
from tests.table_tests import each

# Prose repeats the text of a link, such as "above"; and code may look like anything.
PROSE = {"same_name_leads_to_the_same_place", "headings_skip_no_level"}


@functools.cache
def read_page(name: str) -> BeautifulSoup:
    return BeautifulSoup(render_guide_page(name, ""), "html.parser")


def render(folder: Path, text: str, prefix: str = "") -> BeautifulSoup:
    (folder / "page.md").write_text(text)
    guide = Guide(folder)
    return BeautifulSoup(guide.render(guide.pages["page"], prefix), "html.parser")


def test_every_page_of_the_index_opens(vera: webtest.TestApp):
    index = vera.get("/docs/guide")
    links = [link["href"] for link in index.html.select("main ul.rows a")]
    assert len(links) == len(load_guide().pages) > 50
    assert links[0] == "/docs/guide/quickstart"
    for link in links:
        page = vera.get(link, status=200)
        assert page.html.select_one("main .breadcrumbs a")["href"] == "/docs/guide"


def test_pages_keep_the_rules(vera: webtest.TestApp):
    for name in ("configuration", "run", "senders"):
        page = vera.get(f"/docs/guide/{name}").html
        faults = [f"{rule}: {f}" for rule in RULES.keys() - PROSE for f in RULES[rule](page)]
        assert faults == [], name


def test_every_page_links_the_guide(vera: webtest.TestApp):
    for path in ("/", "/admin/features", "/docs"):
        assert vera.get(path).html.select_one('footer a[href="/docs/guide"]')


@each("name", sorted(load_guide().pages))
def test_links_and_anchors_lead_somewhere(name: str):
    for link in read_page(name).find_all("a", href=True):
        path, fragment = urldefrag(link["href"])
        if path.startswith(GUIDE_PATH) or not path:
            other = path.removeprefix(f"{GUIDE_PATH}/") or name
            if other not in load_guide().examples:
                assert not fragment or read_page(other).find(id=fragment), link["href"]
        else:
            assert re.match(r"https?://|mailto:", path), link["href"]


def test_example_is_sent_as_text(vera: webtest.TestApp):
    answer = vera.get("/docs/guide/senders/files/alertmanager.yml")
    assert answer.content_type == "text/plain"
    assert "receiver: sigservice" in answer.text


@pytest.mark.parametrize(
    "name",
    [
        "nothing",
        "../setup.cfg",
        "..%2fsetup.cfg",
        "%2e%2e/%2e%2e/etc/passwd",
        "/etc/passwd",
        "senders/../signals",
        "signals.md",
        "retired-words.txt",
        "images/take.py",
    ],
)
def test_other_names_are_not_found(vera: webtest.TestApp, name: str):
    vera.get(f"/docs/guide/{name}", status=404)


def test_guide_needs_a_session(web: webtest.TestApp):
    assert "/sign-in" in web.get("/docs/guide/signals", status=303).headers["Location"]


def test_html_and_scripts_of_a_source_are_text(tmp_path: Path):
    text = "# A\n\n<script>alert(1)</script> <b onclick=x>b</b>\n\n[x](javascript:alert(1))\n"
    text += "\n```\n</code><script>1</script>\n```\n"
    soup = render(tmp_path, text)
    assert soup.find_all(["script", "b", "a"]) == []
    assert "<script>alert(1)</script>" in soup.get_text()


def test_links_between_files_lead_to_pages(tmp_path: Path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "README.md").write_text("# More\n")
    text = "# A\n\n[more](more/README.md#x) [gone](../CONTRIBUTING.md) [web](https://a.example)\n"
    soup = render(tmp_path, text, prefix="/flags")
    links = {link.get_text(): link["href"] for link in soup.find_all("a")}
    assert links == {"more": "/flags/docs/guide/more#x", "web": "https://a.example"}
    assert "gone" in soup.get_text()


def test_headings_have_different_anchors(tmp_path: Path):
    soup = render(tmp_path, "# A\n\n## TLS: `x`, y\n\n## TLS: `x`, y\n")
    assert [tag["id"] for tag in soup.find_all("h2")] == ["tls-x-y", "tls-x-y-1"]


def test_search_finds_pages_of_the_guide(vera: webtest.TestApp):
    links = vera.get("/admin/search", {"q": "several"}).html.select("#results a")
    assert "/docs/guide/cluster" in [link["href"] for link in links]


def test_a_page_of_the_guide_has_another_title_than_the_list_of_its_name(vera):
    titles = [vera.get(path).html.title.text for path in ("/admin/features", f"{GUIDE_PATH}/flags")]
    assert titles == ["Flags – sigservice", "Guide: Flags – sigservice"]
