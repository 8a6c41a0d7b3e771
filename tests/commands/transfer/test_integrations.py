"""Integrations in export files and imports: without secrets, disabled, once."""

from __future__ import annotations

import json

import pytest
import webtest

from tests.conftest import ADMIN, ADMIN_TOKEN
from tests.integrations_kit import ADDONS, make_body

SECRETS = ("hunter2", "Bearer hunter3")
HOOK = {"url": "https://hooks.example/hunter2", "authorization": "Bearer hunter3"}
TEMPLATE = {"bodyTemplate": "{{event.type}}"}
PROJECTS = {"projects": [{"id": "default", "name": "Default"}]}


def add(service, **more):
    body = make_body(description="Announce", parameters=HOOK | TEMPLATE, **more)
    webtest.TestApp(service.app).post_json(ADDONS, body, headers=ADMIN, status=201)


def read(service):
    return webtest.TestApp(service.app).get(ADDONS, headers=ADMIN).json["addons"]


@pytest.fixture
def peer_with(peer):
    def make(*addons):
        peer.answers = {"projects": PROJECTS, "addons": {"addons": list(addons)}}
        peer.answers["projects/default/overview"] = PROJECTS["projects"][0]
        empty_list = {"features": [], "total": 0}
        peer.answers |= {"projects/default/features": empty_list, "search/features": empty_list}
        return ("import", "--from", peer.url, "--token", "*:*.secret")

    return make


def remote(**more):
    body = {"id": 7, "provider": "webhook", "enabled": True, "description": "Announce"}
    parameters = {"url": "*****", "authorization": "*****", "contentType": "text/plain"}
    return body | {"parameters": parameters, "events": ["feature-created"]} | more


def test_an_export_has_integrations_only_if_asked_for(service, command):
    add(service)
    assert "integrations" not in json.loads(command(service, "export")[1])
    _, text, _ = command(service, "export", "--integrations")
    (item,) = json.loads(text)["integrations"]
    assert item["parameters"] == {"url": "*****", "authorization": "*****"} | TEMPLATE
    assert not any(secret in text for secret in SECRETS)


def test_an_import_of_a_file_creates_them_disabled_and_names_their_secrets(
    service, empty, command, tmp_path
):
    file = str(tmp_path / "flags.json")
    add(service, name="#oncall", projects=["default"], environments=["production"])
    command(service, "export", file, "--integrations")
    code, out, _ = command(empty, "import", file)
    assert code == 0
    assert 'integration webhook "#oncall": created, disabled' in out
    secrets = out.partition("Enter before you enable the integration:")[2]
    assert secrets.strip() == 'webhook "#oncall": url, authorization'
    (addon,) = read(empty)
    assert (addon["name"], addon["enabled"]) == ("#oncall", False)
    assert addon["parameters"] == TEMPLATE
    assert (addon["projects"], addon["environments"]) == (["default"], ["production"])
    assert command(empty, "import", file)[:2] == (0, "0 changed\n")
    assert len(read(empty)) == 1


def test_an_import_of_its_own_export_changes_nothing(service, command, tmp_path):
    file = str(tmp_path / "flags.json")
    add(service)
    command(service, "export", file, "--integrations")
    assert command(service, "import", file)[:2] == (0, "0 changed\n")


def test_an_imported_integration_is_not_enabled_without_its_secrets(
    service, empty, command, tmp_path
):
    file = str(tmp_path / "flags.json")
    add(service)
    command(service, "export", file, "--integrations")
    command(empty, "import", file)
    (addon,) = read(empty)
    web = webtest.TestApp(empty.app)
    body = addon | {"enabled": True}
    answer = web.put_json(f"{ADDONS}/{addon['id']}", body, headers=ADMIN, status=400)
    assert [one["path"] for one in answer.json["details"]] == ["parameters.url"]


def test_another_server_is_asked_for_its_integrations(empty, command, peer_with):
    start = peer_with(remote())
    code, out, _ = command(empty, *start)
    assert code == 0, out
    assert 'webhook "Announce": url, authorization' in out
    (addon,) = read(empty)
    assert (addon["description"], addon["enabled"]) == ("Announce", False)
    assert addon["parameters"] == {"contentType": "text/plain"}
    assert command(empty, *start)[1].splitlines()[0] == "0 changed"
    assert len(read(empty)) == 1


def test_a_dry_run_creates_none(empty, command, peer_with):
    _, out, _ = command(empty, *peer_with(remote()), "--dry-run")
    assert 'integration webhook "Announce": created, disabled' in out
    assert read(empty) == []


def test_filters_lose_what_does_not_exist_here(empty, command, peer_with):
    start = peer_with(remote(projects=["gone", "default"], environments=None))
    code, out, _ = command(empty, *start)
    assert (code, 'integration webhook "Announce": unknown projects: gone' in out) == (3, True)
    assert read(empty)[0]["projects"] == ["default"]


def test_an_integration_whose_filter_would_be_empty_is_listed(empty, command, peer_with):
    start = peer_with(remote(environments=["gone"]))
    code, out, _ = command(empty, *start)
    assert (code, "not created: create it here" in out) == (3, True)
    assert read(empty) == []


def test_an_unknown_kind_is_listed_and_the_others_are_created(empty, command, peer_with):
    others = [remote(id=8), remote(id=9, provider="other"), remote(id=10, parameters={"x": []})]
    code, out, _ = command(empty, *peer_with(*others))
    assert (code, out.count("not created")) == (3, 2)
    assert len(read(empty)) == 1


def test_a_token_that_may_not_list_them_is_reported(empty, command, peer, peer_with):
    start = peer_with()
    peer.answers["addons"] = [(403, {}, {})]
    code, out, _ = command(empty, *start)
    assert (code, "integrations: their list responded with status 403" in out) == (3, True)


def test_an_import_of_one_project_leaves_integrations_out(empty, command, peer, peer_with):
    command(empty, *peer_with(remote()), "--project", "default")
    assert read(empty) == []
    assert ADMIN_TOKEN not in str(peer.requests)
