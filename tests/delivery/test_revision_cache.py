"""Tokens and revisions: no process uses a stale one."""

from __future__ import annotations

from datetime import timedelta

import pytest
import webtest

from sigservice.crypto import secrets
from sigservice.repository.access import api_tokens
from sigservice.services import revisions
from tests.conftest import ADMIN, ADMIN_TOKEN
from tests.delivery.kit import open_access

CLIENT = "default:development.client"
ALL = "*:production.all"
TOKENS = {
    "authentication": {
        "initialAdminUser": None,
        "initApiTokens": [
            {"type": "admin", "secret": ADMIN_TOKEN, "environment": "*", "project": "*"},
            {
                "type": "client",
                "secret": CLIENT,
                "environment": "development",
                "project": "default",
            },
            {"type": "client", "secret": ALL, "environment": "production", "project": "*"},
            {"type": "frontend", "secret": "*:development.f", "environment": "development"}
            | {"project": "*"},
        ],
    }
}
FEATURES = "/api/admin/projects/default/features"
POLL = "/api/client/features"
AS_CLIENT = {"Authorization": CLIENT}


@pytest.fixture
def state(make_service):
    return make_service(TOKENS).context.revision_cache


def change_tokens(database, statement, *values):
    """Changes a token and bumps the revision of tokens."""
    with database.transaction() as conn:
        revisions.lock(conn)
        with conn.cursor() as cursor:
            cursor.execute(statement, values)
        revisions.bump_tokens(conn)


def poll(web, status=200, **headers):
    return web.get(POLL, headers=AS_CLIENT | headers, status=status)


def enabled(answer):
    return {feature["name"]: feature["enabled"] for feature in answer.json["features"]}


def test_token_gives_access_to_its_environment_and_projects(state):
    access, existing = open_access(state, CLIENT)
    assert (access.type, access.environment, access.projects) == (
        "client",
        "development",
        ("default",),
    )
    assert access.has_all_projects is False
    assert open_access(state, ALL)[0].has_all_projects is True
    assert open_access(state, "unknown")[0] is None
    assert open_access(state, "")[0] is None
    assert existing.generation == state.read_revisions().generation


def test_a_token_is_looked_up_once_while_nothing_changes(make_service, monkeypatch):
    state = make_service(TOKENS).context.revision_cache
    query = []
    find = api_tokens.find
    monkeypatch.setattr(api_tokens, "find", lambda *args: query.append(args) or find(*args))
    first, _ = open_access(state, CLIENT)
    assert open_access(state, CLIENT)[0] is first
    assert len(query) == 1
    open_access(state, "unknown")
    open_access(state, "unknown")
    assert len(query) == 3  # an unknown token may be created in a moment


def test_revoked_token_is_rejected_at_once(make_service):
    service = make_service(TOKENS)
    web = webtest.TestApp(service.app)
    poll(web)
    change_tokens(
        service.context.database,
        "DELETE FROM api_tokens WHERE secret_hash = %s",
        secrets.sha256(CLIENT),
    )
    poll(web, 401)
    web.get(POLL, headers={"Authorization": ALL})


def test_a_token_that_is_narrowed_is_narrowed_at_once(make_service):
    service = make_service(TOKENS)
    assert open_access(service.context.revision_cache, ALL)[0].environment == "production"
    change_tokens(
        service.context.database,
        "UPDATE api_tokens SET environment = 'development', projects = '{default}' "
        "WHERE secret_hash = %s",
        secrets.sha256(ALL),
    )
    access, _ = open_access(service.context.revision_cache, ALL)
    assert (access.environment, access.projects) == ("development", ("default",))


def test_cached_token_expires(make_service, clock):
    service = make_service(TOKENS)
    web = webtest.TestApp(service.app)
    change_tokens(
        service.context.database,
        "UPDATE api_tokens SET expires_at = %s WHERE secret_hash = %s",
        clock.now() + timedelta(seconds=60),
        secrets.sha256(CLIENT),
    )
    poll(web)
    clock.advance(59)
    poll(web)
    clock.advance(1)
    poll(web, 401)


def test_new_token_works_at_once(make_service):
    service = make_service(TOKENS)
    state = service.context.revision_cache
    assert open_access(state, "late")[0] is None
    change_tokens(
        service.context.database,
        "INSERT INTO api_tokens (secret_hash, secret_prefix, token_name, type, environment, "
        "projects) VALUES (%s, '', 'late', 'client', '*', '{*}')",
        secrets.sha256("late"),
    )
    assert open_access(state, "late")[0].environment == "default"


def test_a_second_process_sees_each_change_at_the_next_request(make_service):
    here, there = (webtest.TestApp(make_service(TOKENS).app) for _ in range(2))
    here.post_json(FEATURES, {"name": "a"}, headers=ADMIN)
    etag = poll(there).headers["ETag"]
    for on in (True, False) * 5:
        path = f"{FEATURES}/a/environments/development/{'on' if on else 'off'}"
        here.post(path, headers=ADMIN)
        answer = poll(there, **{"If-None-Match": etag})
        assert enabled(answer) == {"a": on}
        assert answer.headers["ETag"] != etag
        etag = answer.headers["ETag"]
        poll(there, 304, **{"If-None-Match": etag})
        assert poll(here).headers["ETag"] == etag


def test_second_process_rejects_a_revoked_token_at_the_next_request(make_service):
    here, there = (make_service(TOKENS) for _ in range(2))
    web = webtest.TestApp(there.app)
    poll(web)
    change_tokens(here.context.database, "DELETE FROM api_tokens WHERE type = 'client'")
    poll(web, 401)


def test_change_of_one_environment_bumps_no_other(make_service):
    service = make_service(TOKENS)
    web = webtest.TestApp(service.app)
    web.post_json(FEATURES, {"name": "a"}, headers=ADMIN)

    def results():
        existing = service.context.revision_cache.read_revisions()
        return (
            existing.generation,
            existing.of_environment("development"),
            existing.of_environment("production"),
        )

    before = results()
    web.post(f"{FEATURES}/a/environments/production/on", headers=ADMIN)
    after = results()
    assert after[0] > before[0]
    assert after[1] == before[1]
    assert after[2] > before[2]
    web.put_json(f"{FEATURES}/a", {"description": "for all"}, headers=ADMIN)
    assert results()[1] > after[1]
    assert results()[2] > after[2]
