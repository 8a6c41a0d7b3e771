"""docs/permissions.md lists what each page needs. SNAPSHOT=write pytest … renews it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sigservice.routes import find_routers
from sigservice.services.system.events import OPEN_FAMILIES
from sigservice.web.guards import PageGuard

FILE = Path(__file__).resolve().parents[2] / "docs" / "permissions.md"
PART = re.compile(r"<(\w+)(?::\w+)?>")


def list_paths(service):
    """(permission, path or `METHOD path`) of pages, and of forms that need VIEW."""
    for route in (r for router in find_routers() for r in router.bind(service.context)):
        needs = route.config.get("needs")
        if isinstance(route.guard, PageGuard) and (route.method == "GET" or needs == "VIEW"):
            path = PART.sub(r"{\1}", route.rule)
            yield needs, path if route.method == "GET" else f"{route.method} {path}"


def test_the_page_lists_what_each_page_needs(make_service):
    provider = {"ISSUER": "https://id.example", "CLIENT_ID": "flags", "CLIENT_SECRET": "secret"}
    environ = {f"SERVICE_OIDC_{name}": value for name, value in provider.items()}
    environ["SERVICE_URL"] = "https://flags.example"
    paths = set(list_paths(make_service(None, environ)))
    sections = [
        f"### {needs}\n\n```\n"
        + "\n".join(
            sorted(
                (path for permission, path in paths if permission == needs),
                key=lambda path: path.split()[::-1],
            )
        )
        + "\n```\n"
        for needs in ("VIEW", "EDIT", "ADMIN")
    ]
    assert {needs for needs, _ in paths} == {"VIEW", "EDIT", "ADMIN"}
    start = FILE.read_text().split("### VIEW\n", 1)[0]
    if os.environ.get("SNAPSHOT") == "write":
        FILE.write_text(start + "\n".join(sections))
    renewed = "SNAPSHOT=write .venv/bin/pytest -n 0 tests/architecture/test_permissions.py"
    assert FILE.read_text() == start + "\n".join(sections), renewed


def test_the_families_of_events_that_need_view_are_told():
    page = FILE.read_text()
    sentence = page[page.index("type begins with") : page.index("Their address")]
    assert set(re.findall("`(.+?)`", sentence)) == set(OPEN_FAMILIES)
