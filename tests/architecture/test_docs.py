"""The documentation matches the service."""

from __future__ import annotations

import re
from pathlib import Path

from sigservice.config.docs import render_page
from sigservice.routes import docs as api_docs
from sigservice.routes.route_list import list_routes

ROOT = Path(__file__).resolve().parents[2]


def test_configuration_page_is_fresh():
    assert (ROOT / "docs" / "configuration.md").read_text() == render_page()


def test_routes_of_the_api_page_are_current():
    """`python -m sigservice.routes.docs docs/api.md` renews them."""
    text = (ROOT / "docs" / "api.md").read_text()
    assert api_docs.render_page(text) == text


def test_each_row_of_the_api_page_says_something():
    text = (ROOT / "docs" / "api.md").read_text()
    assert [
        line for line in text.splitlines() if line.startswith("| `") and line.endswith("|  |")
    ] == []


def test_every_route_is_in_the_api_page(service):
    text = (ROOT / "docs" / "api.md").read_text()
    handlers = ("routes.pages.", "routes.system.static")
    for route in list_routes(service.config):
        if not route.handler.startswith(handlers):
            assert f"`{route.method} {route.path}`" in text


def test_index_links_every_page():
    text = (ROOT / "docs" / "README.md").read_text()
    pages = [file.name for file in (ROOT / "docs").glob("*.md") if file.name != "README.md"]
    assert [page for page in pages if f"]({page})" not in text] == []


def test_links_between_pages_lead_somewhere():
    for file in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "sql").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", file.read_text()):
            assert (file.parent / target).exists(), f"{file.name}: {target}"
