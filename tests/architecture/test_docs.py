"""The documentation matches the service."""

from __future__ import annotations

import re
from pathlib import Path

from sigservice.config.docs import render_page
from sigservice.routes.route_list import list_routes

ROOT = Path(__file__).resolve().parents[2]


def test_configuration_page_is_fresh():
    assert (ROOT / "docs" / "configuration.md").read_text() == render_page()


def test_every_route_is_in_the_api_page(service):
    text = (ROOT / "docs" / "api.md").read_text()
    for route in list_routes(service.config):
        if not route.path.startswith(("/admin", "/static")):
            assert f"{route.method} {route.path}`" in text, f"{route.method} {route.path}"


def test_index_links_every_page():
    text = (ROOT / "docs" / "README.md").read_text()
    pages = [file.name for file in (ROOT / "docs").glob("*.md") if file.name != "README.md"]
    assert [page for page in pages if f"]({page})" not in text] == []


def test_links_between_pages_lead_somewhere():
    for file in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "sql").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", file.read_text()):
            assert (file.parent / target).exists(), f"{file.name}: {target}"
