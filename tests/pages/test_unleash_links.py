"""Addresses of Unleash's pages lead to the pages here."""

from __future__ import annotations

import pytest
import webtest

from tests.conftest import ADMIN

LINKS = {
    "/projects": "/admin/projects",
    "/projects/default": "/admin/projects/default/overview",
    "/projects/default/": "/admin/projects/default/overview",
    "/projects/default/archive": "/admin/projects/default/overview",
    "/projects/default/features": "/admin/projects/default/overview",
    "/projects/default/features/a": "/admin/features/a",
    "/projects/default/features/a/variants": "/admin/features/a",
    "/projects/default/features/a/strategies/edit?environmentId=x": "/admin/features/a",
    "/features": "/admin/features",
    "/features/a": "/admin/features/a",
    "/features/strategies/a": "/admin/features/a",
    "/segments": "/admin/segments",
    "/context": "/admin/context",
    "/integrations": "/admin/integrations",
    "/admin/api": "/admin/api-tokens",
}


@pytest.mark.parametrize(("link", "page"), LINKS.items())
def test_an_address_of_unleash_leads_to_the_page(ada, web, link, page):
    web.post_json("/api/admin/projects/default/features", {"name": "a"}, headers=ADMIN)
    answer = ada.get(link, status=303)
    assert answer.headers["Location"] == page
    assert answer.follow().status_int == 200


def test_a_name_stays_one_part_of_the_path(ada):
    answer = ada.get("/projects/p/features/%3Fx=1%0d%0aa:b%20%23", status=303)
    assert answer.headers["Location"] == "/admin/features/%3Fx%3D1%0D%0Aa%3Ab%20%23"


def test_the_base_path_stays(make_service):
    web = webtest.TestApp(make_service({"server": {"baseUriPath": "/flags"}}).app)
    answer = web.get("/flags/projects/default/features/a", status=303)
    assert answer.headers["Location"] == "/flags/admin/features/a"
