"""Personal tokens: they act as their owner, for as long as owner, role and time allow."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
import webtest

from sigservice.errors import PasswordMismatch
from sigservice.jobs import buffers
from sigservice.services.access import personal_tokens, users
from sigservice.services.identity import SYSTEM
from tests.conftest import ADMIN, Cast
from tests.pages.page_reader import form_to
from tests.routes.kit import OWN_PAGE

PATH = "/api/admin/user/tokens"
USERS = "/api/admin/user-admin"
NAME = "SERVICE_PERSONAL_TOKEN_MAX_LIFETIME_DAYS"
NEW = "Other-Horse-8"


@pytest.fixture
def ed(cast):
    return cast.signed_in("ed")


@pytest.fixture
def create(clock):
    def post(web, description="ci", *, days=1, status=201, **more):
        at = (clock.now() + timedelta(days)).isoformat()
        body = {"description": description, "expiresAt": at, "password": Cast.PASSWORD} | more
        return web.post_json(PATH, body, headers={"X-CSRF-Token": web.csrf}, status=status).json

    return post


def auth(token):
    return {"Authorization": f"Bearer {token['secret']}"}


def test_a_token_acts_as_its_owner_with_the_current_role(web, ed, create, service):
    token = create(ed, " ci ")
    assert re.fullmatch(r"user:[0-9a-f]{56}", token["secret"])
    assert token["description"] == "ci"
    me = web.get("/api/admin/user", headers=auth(token)).json
    assert me["user"]["username"] == "ed"
    assert me["permissions"] == [{"permission": "EDIT"}, {"permission": "VIEW"}]
    web.get(USERS, headers=auth(token), status=403)
    user = f"{USERS}/{token['userId']}"
    web.put_json(user, {"rootRole": "Admin"}, headers=ADMIN)
    web.get(USERS, headers=auth(token))
    web.post_json(USERS, {"username": "new"}, headers=auth(token), status=201)
    (event, *_) = web.get("/api/admin/events", headers=ADMIN).json["events"]
    assert (event["createdBy"], event["createdByUserId"]) == ("ed", token["userId"])
    (row,) = web.get(PATH, headers=auth(token)).json["pats"]
    assert row["seenAt"] is None
    assert token["secret"][:9] == row["secretPrefix"]
    assert token["secret"] not in web.get("/api/admin/events", headers=ADMIN).text
    buffers.store_last_uses(service.context)
    assert web.get(PATH, headers=auth(token)).json["pats"][0]["seenAt"]
    web.delete(user, headers=ADMIN)
    web.get("/api/admin/user", headers=auth(token), status=401)


def test_a_token_ends_by_expiry_and_by_deletion(web, ed, create, clock):
    short, long = create(ed, "short"), create(ed, "long", days=2)
    clock.advance(86_400)
    web.get(PATH, headers=auth(short), status=401)
    web.get(PATH, headers=auth(long))
    web.delete(f"{PATH}/{long['id']}", headers=auth(long))
    web.get(PATH, headers=auth(long), status=401)
    assert [t["description"] for t in ed.get(PATH).json["pats"]] == ["short"]
    types = [e["type"] for e in web.get("/api/admin/events", headers=ADMIN).json["events"]]
    assert types[:3] == ["pat-deleted", "pat-created", "pat-created"]


def test_only_sessions_create_tokens_for_their_own_user(web, cast, ed, create):
    token = create(ed)
    body = {"description": "x", "expiresAt": "2999-01-01"}
    for headers in (auth(token), ADMIN):
        web.post_json(PATH, body, headers=headers, status=403)
    assert web.get(PATH, headers=ADMIN).json == {"pats": []}
    vera = cast.signed_in("vera")
    assert vera.get(PATH).json == {"pats": []}
    headers = {"X-CSRF-Token": vera.csrf}
    vera.delete(f"{PATH}/{token['id']}", headers=headers, status=404)
    vera.post_json(PATH, body, headers=OWN_PAGE, status=403)
    web.get(PATH, status=401)
    web.get(PATH, headers={"Authorization": "user:" + "0" * 56}, status=401)
    assert len(ed.get(PATH).json["pats"]) == 1


@pytest.mark.parametrize(
    ("values", "paths"),
    [
        ({"description": "  ", "expiresAt": "soon"}, ["description", "expiresAt"]),
        ({"description": "x" * 256}, ["description"]),
        ({"expiresAt": "2001-01-01"}, ["expiresAt"]),
        ({"expiresAt": None}, ["expiresAt"]),
        ({"description": 1}, ["description"]),
    ],
    ids=str,
)
def test_what_is_refused(ed, create, values, paths):
    answer = create(ed, status=400, **values)
    assert [detail["path"] for detail in answer["details"]] == paths
    assert ed.get(PATH).json["pats"] == []


def test_descriptions_are_unique_for_an_owner_and_limited_to_ten(cast, ed, create):
    create(ed, "ci")
    assert create(ed, "ci", status=409)["name"] == "NameExistsError"
    create(cast.signed_in("vera"), "ci")
    for n in range(9):
        create(ed, f"t{n}")
    assert create(ed, "more", status=400)["name"] == "ExceedsLimitError"
    assert len(ed.get(PATH).json["pats"]) == 10


@pytest.mark.parametrize(("environ", "days"), [({}, 365), ({NAME: "7"}, 7)])
def test_a_lifetime_beyond_the_maximum_is_refused(make_service, clock, environ, days):
    web = webtest.TestApp(make_service(environ=environ).app)
    login = {"username": "ada", "password": Cast.PASSWORD}
    headers = {"X-CSRF-Token": web.post_json("/auth/simple", login).json["csrfToken"]}
    latest = clock.now() + timedelta(days=days)

    def create(expires_at, status):
        body = {"description": "ci", "expiresAt": expires_at, "password": Cast.PASSWORD}
        return web.post_json(PATH, body, headers=headers, status=status)

    for expires_at in ((latest + timedelta(seconds=1)).isoformat(), "9999-12-31T00:00:00Z"):
        (detail,) = create(expires_at, 400).json["details"]
        assert detail["path"] == "expiresAt"
        assert f"within {days} days" in detail["message"]
    create(latest.isoformat(), 201)


def test_creating_a_token_needs_the_users_password(ed, create):
    answer = create(ed, password="Wrong-Horse-7", status=401)
    assert (answer["name"], answer["details"][0]["path"]) == ("PasswordMismatch", "password")
    absent = create(ed, password="", status=400)
    assert [detail["path"] for detail in absent["details"]] == ["password"]
    assert ed.get(PATH).json["pats"] == []
    create(ed)


def test_wrong_passwords_for_a_token_count_and_are_recorded(web, cast, ed, create):
    for _ in range(10):
        create(ed, password="Wrong-Horse-7", status=401)
    create(ed, status=429)
    create(cast.signed_in("vera"))
    (event,) = web.get("/api/admin/events?type=pat-creation-failed&limit=1", headers=ADMIN).json[
        "events"
    ]
    assert event["createdBy"] == "ed"
    assert "Horse" not in str(event)


def revoked(web):
    """The ids of revoked tokens that the newest event names."""
    (event, *_) = web.get("/api/admin/events", headers=ADMIN).json["events"]
    assert event["type"] == "user-updated"
    return event["data"].get("revokedPersonalTokens")


def reset_by_json(web, ada, id):
    body = {"password": NEW}
    web.post_json(f"{USERS}/{id}/change-password", body, headers=ADMIN)


def reset_by_page(web, ada, id):
    form = form_to(ada.get(f"/admin/users/{id}"), f"/admin/users/{id}/password")
    form["password"] = NEW
    form.submit(status=303)


def reset_by_link(web, ada, id):
    link = web.post_json(f"{USERS}/reset-password", {"id": id}, headers=ADMIN).json
    token = link["resetPasswordUrl"].partition("?token=")[2]
    web.post_json("/auth/reset/password", {"token": token, "password": NEW})


@pytest.mark.parametrize("reset", [reset_by_json, reset_by_page, reset_by_link])
def test_a_password_reset_revokes_the_users_tokens(web, cast, create, reset):
    ada, ed, vera = (cast.signed_in(name) for name in ("ada", "ed", "vera"))
    tokens, other = [create(ed, "one"), create(ed, "two")], create(vera)
    reset(web, ada, tokens[0]["userId"])
    assert revoked(web) == [token["id"] for token in tokens]
    for token in tokens:
        web.get("/api/admin/user", headers=auth(token), status=401)
    web.get("/api/admin/user", headers=auth(other))


@pytest.mark.parametrize("revoke", [True, False, None])
def test_the_own_password_change_revokes_tokens_when_the_user_asks_for_it(web, ed, create, revoke):
    token = create(ed)
    body = {"oldPassword": Cast.PASSWORD, "password": NEW, "confirmPassword": NEW}
    body |= {} if revoke is None else {"revokeTokens": revoke}
    headers = {"X-CSRF-Token": ed.csrf}
    ed.post_json("/api/admin/user/change-password", body, headers=headers)
    web.get("/api/admin/user", headers=auth(token), status=401 if revoke else 200)
    assert revoked(web) == ([token["id"]] if revoke else None)


def test_no_token_is_created_with_a_password_that_was_reset_meanwhile(ed, service, clock):
    id = ed.get("/api/admin/user").json["user"]["id"]
    expires_at = (clock.now() + timedelta(1)).isoformat()
    fields = personal_tokens.check_fields("ci", expires_at, now=clock.now())
    with service.context.database.transaction() as conn:
        verified_hash = users.get(conn, id)["password_hash"]
        users.set_password(conn, id, "another hash", SYSTEM)
        with pytest.raises(PasswordMismatch):
            personal_tokens.create(conn, id, fields, SYSTEM, verified_hash=verified_hash)


def test_a_token_of_a_service_account_has_no_maximum_lifetime(web):
    account = web.post_json("/api/admin/service-account", {"username": "bot"}, headers=ADMIN).json
    body = {"description": "ci", "expiresAt": "2999-01-01"}
    path = f"/api/admin/service-account/{account['id']}/token"
    web.post_json(path, body, headers=ADMIN, status=201)
