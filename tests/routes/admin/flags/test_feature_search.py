"""GET /api/admin/search/features."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN

SEARCH = "/api/admin/search/features"


@pytest.fixture
def flags(web):
    """alpha (stale, production, tagged), beta (in shop, an experiment), gone (archived)."""
    web.post_json("/api/admin/projects", {"id": "shop", "name": "Shop"}, headers=ADMIN)
    for project, body in (
        ("default", {"name": "alpha", "tags": [{"type": "simple", "value": "crew"}]}),
        ("shop", {"name": "beta", "type": "experiment", "description": "The Needle"}),
        ("default", {"name": "gone"}),
    ):
        web.post_json(f"/api/admin/projects/{project}/features", body, headers=ADMIN)
    default = "/api/admin/projects/default"
    web.post_json(f"{default}/stale", {"features": ["alpha"], "stale": True}, headers=ADMIN)
    web.post(f"{default}/features/alpha/environments/production/on", headers=ADMIN)
    web.delete(f"{default}/features/gone", headers=ADMIN)


QUERIES = {
    "": ["alpha", "beta"],
    "sortOrder=desc": ["beta", "alpha"],
    "sortBy=name&sortOrder=desc": ["beta", "alpha"],
    "sortBy=createdAt&sortOrder=desc": ["beta", "alpha"],
    "sortBy=createdAt": ["alpha", "beta"],
    "query=needle": ["beta"],
    "query=ALPH": ["alpha"],
    "query=simple:cr": ["alpha"],
    "query=%25": [],
    "project=IS:shop": ["beta"],
    "project=IS_ANY_OF:shop,default": ["alpha", "beta"],
    "type=IS:experiment": ["beta"],
    "state=IS:stale": ["alpha"],
    "state=IS:active": ["beta"],
    "tag=INCLUDE:simple:crew": ["alpha"],
    "tag=INCLUDE_ANY_OF:simple:crew,simple:none": ["alpha"],
    "status[]=production:enabled": ["alpha"],
    "status=production:disabled": ["beta"],
    "archived=IS:true": ["gone"],
    "limit=1": ["alpha"],
    "limit=1&offset=1": ["beta"],
}


@pytest.mark.usefixtures("flags")
def test_filters(web):
    invalid = {}
    for query, names in QUERIES.items():
        result = [f["name"] for f in web.get(f"{SEARCH}?{query}", headers=ADMIN).json["features"]]
        if result != names:
            invalid[query] = result
    assert not invalid


@pytest.mark.usefixtures("flags")
def test_page_has_the_total(web, cast):
    answer = cast.signed_in("vera").get(f"{SEARCH}?limit=1").json
    assert answer["total"] == 2
    (alpha,) = answer["features"]
    assert alpha["tags"] == [{"type": "simple", "value": "crew"}]
    assert [e["enabled"] for e in alpha["environments"]] == [True, False, False]


@pytest.mark.usefixtures("flags")
@pytest.mark.parametrize(("query", "total"), [("", 2), ("query=beta", 1), ("query=nothing", 0)])
def test_the_total_past_the_last_page_is_the_same(web, query, total):
    for offset in (0, 2, 1000):
        answer = web.get(f"{SEARCH}?{query}&offset={offset}", headers=ADMIN).json
        assert answer["total"] == total
    assert answer["features"] == []


@pytest.mark.parametrize(
    "query",
    [
        "tag=simple", "tag=INCLUDE:simple", "status=x", "state=IS:odd", "archived=true",
        "sortBy=colour", "sortOrder=up", "project=x", "limit=0", "query=" + "+".join("a" * 101),
    ],
)  # fmt: skip
def test_invalid_filter_is_rejected(web, query):
    answer = web.get(f"{SEARCH}?{query}", headers=ADMIN, status=400)
    assert answer.json["details"][0]["path"] == query.partition("=")[0]
