"""Who did it: a user and an API token may share a name, and pages tell them apart."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from sigservice.clock import format_iso
from tests.conftest import ADMIN, Cast, sign_in_by_json
from tests.jobs.release_kit import Releases
from tests.pages.test_viewers import Incident

FLAG = "/admin/features/checkout"
TOKEN = "API token admin"


@pytest.fixture
def human(service, web):
    """The user admin, beside the API token of that name."""
    body = {"username": "admin", "rootRole": "Admin", "password": Cast.PASSWORD}
    web.post_json("/api/admin/user-admin", body, headers=ADMIN)
    return sign_in_by_json(service, "admin")


@pytest.fixture
def kit(service, clock):
    return Releases(service, clock)


def read(page, id="main"):
    return " ".join(page.html.find(id=id).get_text(" ").split())


def test_the_page_of_a_flag_names_tokens_and_users(ada, human, flags):
    flags.create_flag("checkout")
    flags.switch()
    page = ada.get(FLAG)
    assert re.search(rf"Created .* by {TOKEN} Impression data", read(page))
    assert f"Turned on by {TOKEN}" in read(page, "in-production")
    form = {"csrf": human.csrf, "confirmed": "on"}
    human.post(f"{FLAG}/environments/production/off", form, status=303)
    assert "Turned off by admin" in read(ada.get(FLAG), "in-production")


def test_the_list_of_api_tokens_says_which_token_created_one(ada, human, web):
    body = {"tokenName": "shop", "type": "client", "environment": "development"}
    web.post_json("/api/admin/api-tokens", body, headers=ADMIN)
    headers = {"X-CSRF-Token": human.csrf}
    human.post_json("/api/admin/api-tokens", body | {"tokenName": "news"}, headers=headers)
    rows = ada.get("/admin/api-tokens").html.select("tbody tr")
    assert any("shop" in row.text and f"by {TOKEN}" in row.text for row in rows)
    assert any("news" in row.text and "by admin" in row.text for row in rows)
    assert any("admin" in row.th.text and "by the configuration" in row.text for row in rows)


def test_a_planned_change_says_that_a_token_planned_it(ada, sets, service):
    at = format_iso(service.context.clock.now() + timedelta(seconds=60))
    sets.set(match={"source": "schedule", "at": at})
    for path in (FLAG, "/", "/admin/releases?state=scheduled"):
        assert "by API token" in read(ada.get(path)), path


def test_a_release_tells_the_hold_of_a_token_from_one_of_a_user(kit, human, ada):
    release = kit.create()
    path = f"{FLAG}/environments/production/releases/{release['id']}"
    kit.command(release, "hold")
    for page in (ada.get(FLAG), ada.get(path)):
        assert f"On hold at 1% for 0 s by {TOKEN}" in read(page)
    assert re.search(rf"started .* by {TOKEN} ", read(page))
    assert f"{TOKEN} held it at 1%" in read(page)
    assert TOKEN in read(ada.get("/admin/releases"), "release-list")
    for command in ("resume", "hold"):
        human.post(f"{path}/steps/1/{command}", {"csrf": human.csrf}, status=303)
    for page in (ada.get(FLAG), ada.get(path)):
        assert "On hold at 1% for 0 s by admin" in read(page)
    assert "just now admin held it at 1%" in read(page)


def test_a_release_says_that_a_token_changed_its_flag(kit, ada):
    release = kit.create()
    kit.edit_strategy(rollout="7")
    kit.progress()
    page = ada.get(f"{FLAG}/environments/production/releases/{release['id']}")
    assert f"On hold at 7% for 0 s: {TOKEN} changed the strategy to 7%" in read(page)


def test_a_run_says_that_a_token_ignores_its_alert(service, clock, human, ada):
    incident = Incident(service, clock)
    run = incident.web.get(incident.events, headers=ADMIN).json["actionSetEvents"][-1]
    path = f"/admin/projects/default/actions/{incident.set_id}/runs/{run['id']}"
    api = f"/api{path}".replace("runs", "events") + "/ignore-alert"
    ada.post(api, headers=ADMIN, status=200)
    assert f"{TOKEN} took it back. The alert is ignored until it resolves." in read(ada.get(path))
