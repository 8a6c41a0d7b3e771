"""API tokens: scope, expiry and revocation."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ADMIN

A = "/api/admin/api-tokens"
FUTURE, PAST = "2999-01-01T00:00:00.000Z", "2001-01-01T00:00:00.000Z"


def test_create(api, check):
    api.project("web")
    rows = [
        ({"type": "client", "environment": "development"}, ["*"], r"\*:development\.\w{20,}"),
        ({"type": "client", "environment": "production", "projects": ["web"]}, ["web"],
         r"web:production\.\w{20,}"),
        ({"type": "frontend", "environment": "development", "projects": ["default", "web"]},
         ["default", "web"], r"\[\]:development\.\w{20,}"),
        ({"type": "CLIENT", "environment": "development", "projects": ["*"]}, ["*"],
         r"\*:development\.\w{20,}"),
        ({"type": "Frontend", "environment": "development"}, ["*"], r"\*:development\.\w{20,}"),
        ({"type": "backend", "environment": "development"}, ["*"], r"\*:development\.\w{20,}"),
        ({"type": "client"}, ["*"], r"\*:development\.\w{20,}"),
        ({"type": "client", "project": "web"}, ["web"], r"web:development\.\w{20,}"),
    ]  # fmt: skip
    secrets = set()
    for body, projects, secret in rows:
        answer = api.post(A, {"tokenName": "t", **body})
        if not check.status(answer, 201, str(body)):
            continue
        token = answer.json
        check.equal(sorted(token["projects"]), projects, f"projects of {body}")
        check(re.fullmatch(secret, token["secret"]), f"secret of {body}: {token['secret']}")
        check.equal(token["tokenName"], "t", "tokenName")
        check.equal(token["environment"], body.get("environment", "development"), "environment")
        types = {"client", "backend"} if body["type"] in ("CLIENT", "client", "backend") else {
            "frontend"}  # fmt: skip
        check(token["type"] in types, f"type of {body}: {token['type']}")
        check("createdAt" in token, "createdAt")
        secrets.add(token["secret"])
    check.equal(len(secrets), len(rows), "every secret is another")
    answer = api.post(A, {"username": "old", "type": "client"})
    if check.status(answer, 201, "username as the name"):
        check.equal(answer.json["tokenName"], "old", "tokenName")
    answer = api.post(A, {"tokenName": "root", "type": "admin"})
    if check.status(answer, (201, 400), "admin") and answer.status_int == 201:
        headers = {"Authorization": answer.json["secret"]}
        check.status(api.get("/api/admin/projects", headers), 200, "opens the admin API")


def test_invalid_bodies_are_rejected(api, check):
    good = {"tokenName": "t", "type": "client", "environment": "development"}
    rows = [
        ({"tokenName": None}, ""),
        ({"tokenName": ""}, "tokenName"),
        ({"tokenName": 3.5}, "tokenName"),
        ({"type": None}, "type"),
        ({"type": "nonsense"}, "type"),
        ({"environment": "nowhere"}, ""),
        ({"environment": 3.5}, "environment"),
        ({"projects": ["nowhere"]}, ""),
        ({"projects": "web"}, "projects"),
        ({"projects": [1.5]}, "projects"),
        ({"expiresAt": "tomorrow"}, "expiresAt"),
        ({"expiresAt": 3.5}, "expiresAt"),
    ]
    before = len(api.get(A).json["tokens"])
    for change, where in rows:
        check.error(api.post(A, good | change), 400, where, str(change))
    for key in ("tokenName", "type"):
        less = {k: v for k, v in good.items() if k != key}
        check.error(api.post(A, less), 400, message=f"no {key}")
    for body in (b"{", b"[]", b""):
        check.error(api.post(A, body), 400)
    check.equal(len(api.get(A).json["tokens"]), before, "no token was made")


def test_list(api, check):
    secret = api.token(tokenName="shop", type="client", expiresAt=FUTURE)["secret"]
    api.token(tokenName="shop", type="frontend")
    api.token(tokenName="other", type="client")
    answer = api.get(A)
    if check.status(answer, 200):
        named = [t for t in answer.json["tokens"] if t["tokenName"] == "shop"]
        check.equal(sorted(t["type"] for t in named), ["client", "frontend"], "listed")
        keys = {"tokenName", "type", "environment", "projects", "createdAt", "expiresAt"}
        for token in named:
            check(keys <= set(token), f"keys missing: {keys - set(token)}")
        check(secret not in answer.text, "a secret is shown once")
    one = api.get(f"{A}/shop")
    if check.status(one, 200):
        check.equal(len(one.json["tokens"]), 2, "by name")


@pytest.mark.parametrize("path", ["/api/client/features", "/api/frontend"])
def test_expiry_is_checked_at_each_use(api, check, path):
    kind = "client" if "client" in path else "frontend"
    secret = api.token(type=kind, expiresAt=FUTURE)["secret"]
    headers = {"Authorization": secret}
    check.status(api.get(path, headers), 200, "not yet")
    check.status(api.put(f"{A}/{secret}", {"expiresAt": PAST}), 200, "shorten")
    check.status(api.get(path, headers), 401, "over")
    check.status(api.put(f"{A}/{secret}", {"expiresAt": FUTURE}), 200, "lengthen")
    check.status(api.get(path, headers), 200, "again")
    for bad in ({}, {"expiresAt": "tomorrow"}, {"expiresAt": 3.5}):
        check.error(api.put(f"{A}/{secret}", bad), 400)
    check.status(api.put(f"{A}/unknown", {"expiresAt": FUTURE}), 200, "unknown")
    check.status(api.delete(f"{A}/unknown"), 200, "unknown")
    check.status(api.get(path, headers), 200, "untouched")


def test_an_admin_token_ends_too(api, check):
    answer = api.post(A, {"tokenName": "root", "type": "admin"})
    if answer.status_int != 201:
        pytest.skip("admin tokens are not made through the API")
    headers = {"Authorization": answer.json["secret"]}
    check.status(api.get("/api/admin/projects", headers), 200)
    check.status(api.delete(f"{A}/{answer.json['secret']}", ADMIN), 200)
    check.status(api.get("/api/admin/projects", headers), 401, "deleted")


def test_tokens_of_a_project(api, check):
    api.project("web")
    path = "/api/admin/projects/web/api-tokens"
    body = {"tokenName": "t", "type": "client", "environment": "development", "projects": ["web"]}
    answer = api.post(path, body)
    if answer.status_int == 404:
        pytest.skip("tokens of a project are not served")
    check.status(answer, 201)
    check.equal(answer.json["projects"], ["web"], "projects")
    check.equal([t["tokenName"] for t in api.get(path).json["tokens"]], ["t"], "list")
    secret = answer.json["secret"]
    check.status(api.delete(f"{path}/{secret}"), 200)
    check.status(api.get("/api/client/features", {"Authorization": secret}), 401, "deleted")
