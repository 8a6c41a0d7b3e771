"""API tokens: creation and its rules, expiry, deletion, and that each counts at once."""

from __future__ import annotations

import re

import pytest

from sigservice.jobs import buffers
from sigservice.services.access import api_tokens
from sigservice.services.identity import SYSTEM
from tests.conftest import ADMIN, ADMIN_TOKEN
from tests.delivery.kit import open_access

PATH = "/api/admin/api-tokens"
OF_PROJECT = "/api/admin/projects/default/api-tokens"


def create(web, path=PATH, **more):
    body = {"tokenName": "sdk", "type": "client"} | more
    return web.post_json(path, body, headers=ADMIN, status=201)


def list_tokens(web, path=PATH):
    return web.get(path, headers=ADMIN).json["tokens"]


def names(web, path=PATH):
    return [token["tokenName"] for token in list_tokens(web, path)]


def opens(service, answer):
    """Whether the client API accepts the secret in `answer`."""
    access, _ = open_access(service.context.revision_cache, answer.json["secret"])
    return access is not None


def add_project(service, id):
    with service.context.database.transaction() as conn, conn.cursor() as cursor:
        cursor.execute("INSERT INTO projects (id, name) VALUES (%s, %s)", (id, id))


def events(web, type):
    rows = web.get(f"/api/admin/events?type={type}", headers=ADMIN).json["events"]
    return [e for e in rows if e["createdBy"] != "init-api-tokens"]


def test_a_token_shows_its_secret_once(service, web):
    answer = create(web, expiresAt="2999-01-01")
    token, secret = answer.json, answer.json["secret"]
    assert re.fullmatch(r"\*:development\.[0-9a-f]{56}", secret)
    assert token["expiresAt"] == "2999-01-01T00:00:00.000Z"
    assert (token["type"], token["environment"]) == ("client", "development")
    assert (token["project"], token["projects"]) == ("*", ["*"])
    assert (token["seenAt"], token["createdBy"]) == (None, "admin")
    for path in (PATH, f"{PATH}/sdk", "/api/admin/events"):
        text = web.get(path, headers=ADMIN).text
        assert secret[-52:] not in text
        assert secret[:18] in text
    mask = {"secret": f"{token['secretPrefix']}****"}
    assert list_tokens(web, f"{PATH}/sdk") == [token | mask]
    assert list_tokens(web, f"{PATH}/none") == []
    assert web.get(answer.headers["Location"], headers=ADMIN).json["tokens"][0]["id"] == token["id"]
    assert opens(service, answer)
    (event,) = events(web, "api-token-created")
    assert (event["environment"], event["project"]) == ("development", None)


def test_a_masked_secret_names_no_token(web):
    create(web)
    (token,) = list_tokens(web, f"{PATH}/sdk")
    web.delete(f"{PATH}/{token['secret']}", headers=ADMIN, status=400)
    body = {"expiresAt": "2099-01-01T00:00:00Z"}
    web.put_json(f"{PATH}/{token['secret']}", body, headers=ADMIN, status=400)
    assert list_tokens(web, f"{PATH}/sdk") == [token]


@pytest.mark.parametrize(
    ("values", "type", "scope"),
    [
        ({"type": "BACKEND"}, "client", "*:development."),
        ({"type": "Frontend", "environment": "production"}, "frontend", "*:production."),
        ({"type": "Admin"}, "admin", "*:*."),
        ({"type": "admin", "environment": "*", "projects": ["*"]}, "admin", "*:*."),
        ({"type": "CLIENT"}, "client", "*:development."),
        ({"type": "backend"}, "client", "*:development."),
        ({"environment": "production", "project": "default"}, "client", "default:production."),
        ({"project": "default"}, "client", "default:development."),
        ({"projects": ["default", "default"]}, "client", "default:development."),
        ({"tokenName": None, "username": "old"}, "client", "*:development."),
        ({"tokenName": " " * 9 + "x" * 100}, "client", "*:development."),
    ],
    ids=str,
)
def test_what_is_taken(web, values, type, scope):
    token = create(web, **values).json
    assert token["type"] == type
    assert token["secret"].startswith(scope)
    assert token["secretPrefix"].startswith(scope)
    assert token["tokenName"] in ("sdk", "old", "x" * 100)


@pytest.mark.parametrize(
    ("values", "paths"),
    [
        ({"tokenName": "  ", "type": "boss"}, ["tokenName", "type"]),
        ({"tokenName": "x" * 101}, ["tokenName"]),
        ({"environment": "nowhere", "projects": ["a", "b"]}, ["environment", "projects"]),
        ({"environment": "*"}, ["environment"]),
        ({"projects": []}, ["projects"]),
        ({"projects": ["default", "*"]}, ["projects"]),
        ({"projects": ["*"], "project": "default"}, ["projects"]),
        ({"project": ""}, ["projects"]),
        ({"projects": "default"}, ["projects"]),
        ({"type": "admin", "environment": "production"}, ["environment"]),
        ({"type": "admin", "projects": ["default"]}, ["projects"]),
        ({"expiresAt": "soon"}, ["expiresAt"]),
        ({"expiresAt": "9999-12-31T23:59:59-12:00"}, ["expiresAt"]),
        ({"tokenName": None}, ["tokenName"]),
        ({"type": None}, ["type"]),
    ],
    ids=str,
)
def test_what_is_refused(web, values, paths):
    body = {"tokenName": "sdk", "type": "client"} | values
    answer = web.post_json(PATH, body, headers=ADMIN, status=400)
    assert [detail["path"] for detail in answer.json["details"]] == paths
    assert names(web) == ["admin"]


@pytest.mark.parametrize("body", [b"{", b"[]", b"", b'{"type":"client"}', b'{"tokenName":"sdk"}'])
def test_body_without_a_token_is_refused(web, body):
    web.post(PATH, body, headers=ADMIN, content_type="application/json", status=400)
    assert names(web) == ["admin"]


def test_tokens_of_one_name_are_listed_together(web):
    create(web, expiresAt="2999-01-01")
    create(web, type="frontend")
    create(web, tokenName="other")
    tokens = list_tokens(web, f"{PATH}/sdk")
    assert sorted(token["type"] for token in tokens) == ["client", "frontend"]
    keys = {"tokenName", "type", "environment", "projects", "createdAt", "expiresAt"}
    assert all(keys <= token.keys() for token in tokens)


@pytest.mark.parametrize(
    ("type", "path"), [("client", "/api/client/features"), ("frontend", "/api/frontend")]
)
def test_expiry_is_checked_at_each_request(web, type, path):
    secret = create(web, type=type, expiresAt="2999-01-01").json["secret"]
    headers = {"Authorization": secret}
    for expires_at, status in (("2001-01-01", 401), ("2999-01-01", 200)):
        web.put_json(f"{PATH}/{secret}", {"expiresAt": expires_at}, headers=ADMIN, status=200)
        web.get(path, headers=headers, status=status)
    for body in ({}, {"expiresAt": "tomorrow"}, {"expiresAt": 3.5}):
        web.put_json(f"{PATH}/{secret}", body, headers=ADMIN, status=400)
    web.get(path, headers=headers, status=200)


def test_expiry_and_deletion_count_at_the_next_request(service, web, clock):
    by_secret, by_id = create(web), create(web, tokenName="b")
    for answer, handle in ((by_secret, by_secret.json["secret"]), (by_id, by_id.json["id"])):
        path = f"{PATH}/{handle}"
        assert opens(service, answer)
        web.put_json(path, {"expiresAt": "2001-02-03T04:05:06+01:00"}, headers=ADMIN)
        assert not opens(service, answer)
        later = clock.now().replace(year=2900).isoformat()
        web.put_json(path, {"expiresAt": later}, headers=ADMIN)
        assert opens(service, answer)
        web.delete(path, headers=ADMIN)
        assert not opens(service, answer)
    assert names(web) == ["admin"]
    updated = events(web, "api-token-updated")[-1]
    assert (updated["preData"]["expiresAt"], updated["data"]["expiresAt"]) == (
        None,
        "2001-02-03T03:05:06.000Z",
    )
    assert len(events(web, "api-token-deleted")) == 2


def test_a_token_expires(service, web, clock):
    soon = clock.now().timestamp() + 60
    at = type(clock.now()).fromtimestamp(soon, clock.now().tzinfo).isoformat()
    client, admin = create(web, expiresAt=at), create(web, type="admin", expiresAt=at)
    auth = {"Authorization": admin.json["secret"]}
    web.get(PATH, headers=auth)
    assert opens(service, client)
    clock.advance(61)
    web.get(PATH, headers=auth, status=401)
    assert not opens(service, client)


def test_unknown_tokens_are_ignored(web):
    for handle in ("*:development.abc", "999", "9" * 30, "a/b"):
        web.put_json(f"{PATH}/{handle}", {"expiresAt": "2030-01-01"}, headers=ADMIN, status=200)
        web.delete(f"{PATH}/{handle}", headers=ADMIN, status=200)
    for body in ({}, {"expiresAt": None}, {"expiresAt": "x"}, {"expiresAt": ""}):
        web.put_json(f"{PATH}/1", body, headers=ADMIN, status=400)
    assert names(web) == ["admin"]


def test_a_deleted_admin_token_is_rejected_immediately(web):
    secret = create(web, type="admin").json["secret"]
    auth = {"Authorization": f"Bearer {secret}"}
    web.delete(f"{PATH}/{secret}", headers=auth)
    web.get(PATH, headers=auth, status=401)


def test_there_is_a_limit(web, monkeypatch):
    monkeypatch.setattr(api_tokens, "MAX_TOKENS", 2)
    create(web)
    body = {"tokenName": "x", "type": "client"}
    answer = web.post_json(PATH, body, headers=ADMIN, status=400)
    assert answer.json["name"] == "ExceedsLimitError"


def test_tokens_are_for_admins(cast):
    for name in ("ed", "vera"):
        web = cast.signed_in(name)
        headers = {"X-CSRF-Token": web.csrf}
        for path in (PATH, OF_PROJECT):
            web.get(path, status=403)
            web.post_json(path, {"tokenName": "x", "type": "client"}, headers=headers, status=403)
            web.delete(f"{path}/1", headers=headers, status=403)


def test_tokens_of_a_project(service, web):
    add_project(service, "web")
    own = create(web, OF_PROJECT).json
    assert own["secret"].startswith("default:default.")
    both = create(web, tokenName="both", projects=["default", "web"]).json
    other = create(web, tokenName="other", projects=["web"]).json
    create(web, tokenName="all")
    assert both["secret"].startswith("[]:development.")
    assert names(web, OF_PROJECT) == ["sdk", "both"]
    assert (own["projects"], both["projects"]) == (["default"], ["default", "web"])
    for token, status in ((both, 400), (other, 400), ({"id": 999_999}, 404), (own, 200)):
        web.delete(f"{OF_PROJECT}/{token['id']}", headers=ADMIN, status=status)
    assert names(web) == ["admin", "both", "other", "all"]
    extra = create(web, OF_PROJECT, tokenName="extra").json
    web.delete(f"{OF_PROJECT}/{extra['secret']}", headers=ADMIN)
    assert "extra" not in names(web)
    for body in (
        {"tokenName": "x", "type": "admin"},
        {"tokenName": "x", "type": "client", "environment": "nowhere"},
        {"tokenName": "", "type": "client"},
        {"type": "client"},
    ):
        web.post_json(OF_PROJECT, body, headers=ADMIN, status=400)
    nowhere = "/api/admin/projects/nowhere/api-tokens"
    web.get(nowhere, headers=ADMIN, status=404)
    web.post_json(nowhere, {"tokenName": "x", "type": "client"}, headers=ADMIN, status=404)
    web.delete(f"{nowhere}/{both['id']}", headers=ADMIN, status=404)


def test_removing_a_project_never_widens_a_token(service, web):
    add_project(service, "web")
    only, both = create(web, projects=["web"]), create(web, projects=["web", "default"])
    everything = create(web)
    assert len({answer.json["secret"] for answer in (only, both, everything)}) == 3
    assert all(opens(service, answer) for answer in (only, both, everything))
    with service.context.database.transaction() as conn:
        api_tokens.remove_project(conn, "web", SYSTEM)
    access, _ = open_access(service.context.revision_cache, both.json["secret"])
    assert access.projects == ("default",)
    assert not opens(service, only)
    assert opens(service, everything)
    assert [t["projects"] for t in list_tokens(web)] == [["*"], ["default"], ["*"]]
    (deleted,) = events(web, "api-token-deleted")
    (updated,) = events(web, "api-token-updated")
    assert (deleted["project"], deleted["preData"]["id"]) == ("web", only.json["id"])
    assert (updated["preData"]["projects"], updated["data"]["projects"]) == (
        ["web", "default"],
        ["default"],
    )


def test_use_is_written_by_the_job_and_never_goes_back(service, web, clock):
    client = create(web)
    opens(service, client)
    assert [token["seenAt"] for token in list_tokens(web)] == [None, None]
    buffers.store_last_uses(service.context)
    first = [token["seenAt"] for token in list_tokens(web)]
    assert all(first)
    open_access(service.context.revision_cache, "*:development.unknown")
    clock.advance(90)
    buffers.store_last_uses(service.context)
    admin, sdk = (token["seenAt"] for token in list_tokens(web, PATH))
    assert admin == first[0]  # noted before the clock moved
    assert sdk == first[1]
    opens(service, client)
    buffers.store_last_uses(service.context)
    admin, sdk = (token["seenAt"] for token in list_tokens(web))
    assert sdk > first[1]
    assert ADMIN_TOKEN not in str(list_tokens(web))
