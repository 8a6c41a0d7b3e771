"""Personal tokens: they act as their owner, for as long as owner, role and time allow."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from sigservice.jobs import seen_tokens
from tests.conftest import ADMIN
from tests.routes.kit import OWN_PAGE

PATH = "/api/admin/user/tokens"
USERS = "/api/admin/user-admin"


@pytest.fixture
def ed(cast):
    return cast.signed_in("ed")


@pytest.fixture
def create(clock):
    def post(web, description="ci", *, days=1, status=201, **more):
        at = (clock.now() + timedelta(days)).isoformat()
        body = {"description": description, "expiresAt": at} | more
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
    (listed,) = web.get(PATH, headers=auth(token)).json["pats"]
    assert listed["seenAt"] is None
    assert token["secret"][:9] == listed["secretPrefix"]
    assert token["secret"] not in web.get("/api/admin/events", headers=ADMIN).text
    seen_tokens.run_once(service.context)
    assert web.get(PATH, headers=auth(token)).json["pats"][0]["seenAt"]
    web.delete(user, headers=ADMIN)
    web.get("/api/admin/user", headers=auth(token), status=401)


def test_a_token_ends_by_time_and_by_hand(web, ed, create, clock):
    short, long = create(ed, "short"), create(ed, "long", days=2)
    clock.advance(86_400)
    web.get(PATH, headers=auth(short), status=401)
    web.get(PATH, headers=auth(long))
    web.delete(f"{PATH}/{long['id']}", headers=auth(long))
    web.get(PATH, headers=auth(long), status=401)
    assert [t["description"] for t in ed.get(PATH).json["pats"]] == ["short"]
    types = [e["type"] for e in web.get("/api/admin/events", headers=ADMIN).json["events"]]
    assert types[:3] == ["pat-deleted", "pat-created", "pat-created"]


def test_only_sessions_make_tokens_and_for_themselves_alone(web, cast, ed, create):
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
    ("given", "paths"),
    [
        ({"description": "  ", "expiresAt": "soon"}, ["description", "expiresAt"]),
        ({"description": "x" * 256}, ["description"]),
        ({"expiresAt": "2001-01-01"}, ["expiresAt"]),
        ({"expiresAt": None}, ["expiresAt"]),
        ({"description": 1}, ["description"]),
    ],
    ids=str,
)
def test_what_is_refused(ed, create, given, paths):
    answer = create(ed, status=400, **given)
    assert [detail["path"] for detail in answer["details"]] == paths
    assert ed.get(PATH).json["pats"] == []


def test_descriptions_are_unique_for_an_owner_and_ten_are_the_most(cast, ed, create):
    create(ed, "ci")
    assert create(ed, "ci", status=409)["name"] == "NameExistsError"
    create(cast.signed_in("vera"), "ci")
    for n in range(9):
        create(ed, f"t{n}")
    assert create(ed, "more", status=400)["name"] == "ExceedsLimitError"
    assert len(ed.get(PATH).json["pats"]) == 10
