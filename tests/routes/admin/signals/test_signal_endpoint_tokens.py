"""Tokens of signal endpoints: created, limited, renamed, deleted."""

from __future__ import annotations

import re

import pytest
import webtest

from tests.conftest import ADMIN
from tests.routes.admin.signals.test_signal_endpoints import PATH, events, race


@pytest.fixture
def endpoint(make):
    return make.endpoint()


@pytest.fixture
def path(endpoint):
    return f"{PATH}/{endpoint['id']}/tokens"


def test_secret_is_only_in_the_response_to_create(web, path, database):
    answer = web.post_json(path, {"name": "ci"}, headers=ADMIN, status=201)
    token = answer.json
    assert re.fullmatch(r"signal_[A-Za-z0-9_-]{43}", token["token"])
    assert answer.headers["Location"] == f"{path}/{token['id']}"
    later = web.get(path, headers=ADMIN).text + web.get(f"{path}/{token['id']}", headers=ADMIN).text
    assert token["token"] not in later
    assert token["secretPrefix"] in later
    assert token["token"] not in str(events(web))
    with database.connect() as conn, conn.cursor() as cursor:
        cursor.execute("SELECT t::text FROM signal_endpoint_tokens t")
        assert token["token"] not in cursor.fetchone()[0]


def test_token_is_listed_and_read(web, path, endpoint):
    token = web.post_json(path, {"name": "ci"}, headers=ADMIN).json
    (row,) = web.get(path, headers=ADMIN).json["signalEndpointTokens"]
    assert row == web.get(f"{path}/{token['id']}", headers=ADMIN).json
    assert row["signalEndpointId"] == endpoint["id"]


def test_rename_keeps_the_secret_working(web, path):
    token = web.post_json(path, {"name": "ci"}, headers=ADMIN).json
    renamed = web.put_json(f"{path}/{token['id']}", {"name": "build"}, headers=ADMIN).json
    assert renamed["name"] == "build"
    assert "token" not in renamed
    web.post("/api/signal-endpoint/deploys", headers={"Authorization": token["token"]})


def test_signals_of_a_deleted_token_have_no_token_name(web, path, endpoint):
    token = web.post_json(path, {"name": "ci"}, headers=ADMIN).json
    web.post("/api/signal-endpoint/deploys", headers={"Authorization": token["token"]})
    web.delete(f"{path}/{token['id']}", headers=ADMIN)
    (signal,) = web.get(f"{PATH}/{endpoint['id']}/signals", headers=ADMIN).json[
        "signalEndpointSignals"
    ]
    assert signal["tokenName"] is None


@pytest.mark.parametrize(
    "body", [{}, {"name": ""}, {"name": "  "}, {"name": 1}, {"name": "x" * 101}]
)
def test_bad_names_are_400(web, path, body):
    web.post_json(path, body, headers=ADMIN, status=400)


def test_names_are_unique_in_an_endpoint(web, path, make):
    web.post_json(path, {"name": "ci"}, headers=ADMIN)
    other = web.post_json(path, {"name": "other"}, headers=ADMIN).json
    assert web.post_json(path, {"name": "ci"}, headers=ADMIN, status=409).json["name"] == (
        "NameExistsError"
    )
    web.put_json(f"{path}/{other['id']}", {"name": "ci"}, headers=ADMIN, status=409)
    make.token(make.endpoint("second"), "ci")


def test_sixth_token_is_rejected_also_among_20_concurrent_requests(service, web, path):
    def ask(racer, n):
        return racer.post_json(path, {"name": f"t{n}"}, headers=ADMIN, expect_errors=True)

    assert race(service, 20, ask) == [201] * 5 + [400] * 15
    answer = web.post_json(path, {"name": "more"}, headers=ADMIN, status=400)
    assert answer.json["name"] == "ExceedsLimitError"


def test_limit_is_an_option(make_service):
    service = make_service(environ={"SERVICE_SIGNAL_TOKENS_PER_ENDPOINT_LIMIT": "1"})
    web = webtest.TestApp(service.app)
    endpoint = web.post_json(PATH, {"name": "a"}, headers=ADMIN).json
    path = f"{PATH}/{endpoint['id']}/tokens"
    web.post_json(path, {"name": "a"}, headers=ADMIN)
    web.post_json(path, {"name": "b"}, headers=ADMIN, status=400)


def test_tokens_of_another_endpoint_are_not_found(web, path, make):
    other = make.token(make.endpoint("other"))
    web.get(f"{path}/{other['id']}", headers=ADMIN, status=404)
    web.put_json(f"{path}/{other['id']}", {"name": "x"}, headers=ADMIN, status=404)
    web.delete(f"{path}/{other['id']}", headers=ADMIN, status=404)


def test_tokens_of_a_missing_endpoint_are_not_found(web):
    web.get(f"{PATH}/999/tokens", headers=ADMIN, status=404)
    web.post_json(f"{PATH}/999/tokens", {"name": "x"}, headers=ADMIN, status=404)


def test_every_change_records_an_event(web, path):
    token = web.post_json(path, {"name": "ci"}, headers=ADMIN).json
    web.put_json(f"{path}/{token['id']}", {"name": "ci2"}, headers=ADMIN)
    web.put_json(f"{path}/{token['id']}", {"name": "ci2"}, headers=ADMIN)
    web.delete(f"{path}/{token['id']}", headers=ADMIN)
    types = [e["type"] for e in events(web) if "token" in e["type"] and "api" not in e["type"]]
    assert types == [
        "signal-endpoint-token-deleted",
        "signal-endpoint-token-updated",
        "signal-endpoint-token-created",
    ]


@pytest.mark.parametrize("name", ["ed", "vera"])
def test_editors_and_viewers_are_rejected(cast, path, name):
    web = cast.signed_in(name)
    web.get(path, status=403)
    web.post_json(path, {"name": "x"}, headers={"X-CSRF-Token": web.csrf}, status=403)
