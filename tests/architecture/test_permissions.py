"""docs/permissions.md is the one table of who may read what: each route needs what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sigservice.routes import find_routers
from sigservice.services.system.events import OPEN_FAMILIES
from sigservice.web.guards import AdminGuard, PageGuard

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "permissions.md").read_text()
PART = re.compile(r"<(\w+)(?::\w+)?>")
ROW = re.compile(r"^\| [^|]+ \| (VIEW|EDIT|ADMIN) \| (.+) \|$", re.MULTILINE)


def documented():
    """{path or `METHOD path`: permission}"""
    rows = [
        (path, needs) for needs, paths in ROW.findall(PAGE) for path in re.findall("`(.+?)`", paths)
    ]
    assert len(dict(rows)) == len(rows), "a path has two rows"
    return dict(rows)


@pytest.fixture
def reading(service):
    """{path or `METHOD path`: permission} of what only reads, and of whatever needs VIEW."""
    needed = {}
    for route in (r for router in find_routers() for r in router.bind(service.context)):
        needs = route.config.get("needs")
        if isinstance(route.guard, AdminGuard | PageGuard) and (
            route.method == "GET" or needs == "VIEW"
        ):
            path = PART.sub(r"{\1}", route.rule)
            needed[path if route.method == "GET" else f"{route.method} {path}"] = needs
    return needed


def row_of(path, rows):
    """The path's own row, else the one of the longest subtree that it is in."""
    trees = [tree for tree in rows if tree.endswith("/*") and f"{path}/".startswith(tree[:-1])]
    return path if path in rows else max(trees, key=len, default=None)


def test_every_route_that_reads_needs_what_its_row_says(reading):
    rows = documented()
    decided = {path: rows.get(row_of(path, rows)) for path in reading}
    assert decided == reading


def test_every_row_is_of_some_route(reading):
    rows = documented()
    assert {row_of(path, rows) for path in reading} == set(rows)


def test_what_needs_view_has_a_row_of_its_own(reading):
    rows = documented()
    assert {path for path in reading if reading[path] == "VIEW"} <= set(rows)


def test_the_families_of_events_that_need_view_are_told():
    sentence = PAGE[PAGE.index("type begins with") : PAGE.index("Their address")]
    assert set(re.findall("`(.+?)`", sentence)) == set(OPEN_FAMILIES)
