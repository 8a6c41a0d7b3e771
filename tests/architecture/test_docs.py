"""The documentation says what the service does."""

from __future__ import annotations

import re
from pathlib import Path

from sigservice.config.docs import page
from sigservice.routes import find_routers

ROOT = Path(__file__).resolve().parents[2]


def test_configuration_page_is_fresh():
    assert (ROOT / "docs" / "configuration.md").read_text() == page()


def test_every_route_is_in_the_api_page(service):
    text = (ROOT / "docs" / "api.md").read_text()
    for router in find_routers():
        for route in router.bind(service.context).routes:
            rule = re.sub(r"<(\w+)(:\w+)?>", r"{\1}", route.rule)
            if not rule.startswith(("/admin", "/static")):
                assert f"{route.method} {rule}`" in text, f"{route.method} {rule}"


def test_links_between_pages_lead_somewhere():
    for file in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "sql").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", file.read_text()):
            assert (file.parent / target).exists(), f"{file.name}: {target}"
