"""Tokens of signal endpoints: created, limited, renamed, deleted."""

from __future__ import annotations

import re

import pytest
import webtest

from tests.conftest import ADMIN
from tests.routes.admin.signals.test_signal_endpoints import PATH, events
from tests.routes.kit import race_for_statuses
from tests.table_tests import each


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


GENERIC = {"scheme": "generic", "header": "X-Sig"}
TOPIC = "arn:aws:sns:eu-west-1:123456789012:alerts"
# (members of the body, the path of the problem; None if the body has the wrong types)
INVALID = [
    ({"signature": "github"}, None),
    ({"signature": []}, None),
    ({"signature": {}}, None),
    ({"signature": {"scheme": "jwt"}}, None),
    ({"signature": {"scheme": None}}, None),
    ({"signature": GENERIC | {"algorithm": "md5"}}, None),
    ({"signature": GENERIC | {"encoding": "base32"}}, None),
    ({"signature": GENERIC | {"toleranceSeconds": "5"}}, None),
    ({"signature": {"scheme": "aws-sns", "topics": TOPIC}}, None),
    ({"secret": 1}, None),
    ({"expiresAt": 1}, None),
    ({"allowedAddresses": "10.0.0.1"}, None),
    ({"allowedAddresses": [1]}, None),
    ({"allowedAddresses": None}, None),
    ({"secret": "s" * 20}, "secret"),
    ({"signature": {"scheme": "slack"}}, "secret"),
    ({"signature": {"scheme": "sentry"}}, "secret"),
    ({"signature": {"scheme": "pagerduty"}}, "secret"),
    ({"signature": {"scheme": "github"}, "secret": "short"}, "secret"),
    ({"signature": {"scheme": "github"}, "secret": "x" * 501}, "secret"),
    ({"signature": {"scheme": "github"}, "secret": "two\nlines-of-it"}, "secret"),
    ({"signature": {"scheme": "standard-webhooks"}, "secret": "no base64!"}, "secret"),
    ({"signature": {"scheme": "standard-webhooks"}, "secret": "whsec_c2hvcnQ="}, "secret"),
    ({"signature": {"scheme": "gitlab"}, "secret": "whsec_c2hvcnQ="}, "secret"),
    ({"signature": {"scheme": "aws-sns"}}, "signature.topics"),
    ({"signature": {"scheme": "aws-sns", "topics": ["alerts"]}}, "signature.topics[0]"),
    ({"signature": {"scheme": "aws-sns", "topics": [TOPIC]}, "secret": "s" * 20}, "secret"),
    ({"signature": {"scheme": "github", "header": "X-Own"}}, "signature.header"),
    ({"signature": {"scheme": "github", "topics": [TOPIC]}}, "signature.topics"),
    ({"signature": {"scheme": "generic"}}, "signature.header"),
    ({"signature": {"scheme": "generic", "header": "X Own"}}, "signature.header"),
    ({"signature": {"scheme": "generic", "header": "Authorization"}}, "signature.header"),
    ({"signature": GENERIC | {"prefix": "\u00e4"}}, "signature.prefix"),
    ({"signature": GENERIC | {"content": "no body"}}, "signature.content"),
    ({"signature": GENERIC | {"content": "{timestamp}{body}"}}, "signature.content"),
    ({"signature": GENERIC | {"toleranceSeconds": 0}}, "signature.toleranceSeconds"),
    ({"signature": GENERIC | {"toleranceSeconds": 10**9}}, "signature.toleranceSeconds"),
    ({"allowedAddresses": ["10.0.0.1"] * 51}, "allowedAddresses"),
    ({"allowedAddresses": ["10.0.0.0/8", "10.0.0.1/8"]}, "allowedAddresses[1]"),
    ({"allowedAddresses": [""]}, "allowedAddresses[0]"),
    ({"allowedAddresses": ["example.org"]}, "allowedAddresses[0]"),
    ({"allowedAddresses": ["10.0.0.1:80"]}, "allowedAddresses[0]"),
    ({"allowedAddresses": ["fe80::1%eth0"]}, "allowedAddresses[0]"),
    ({"expiresAt": "2020-01-01"}, "expiresAt"),
    ({"expiresAt": "2020-01-01T00:00:00"}, "expiresAt"),
    ({"expiresAt": "0001-01-01T00:00:00+14:00"}, "expiresAt"),
    ({"expiresAt": "9999-12-31T23:59:59-01:00"}, "expiresAt"),
    ({"expiresAt": "tomorrow"}, "expiresAt"),
]


@each("invalid", INVALID)
def test_an_invalid_token_is_400_and_is_not_created(web, path, invalid):
    members, expected = invalid
    problem = web.post_json(path, {"name": "x", **members}, headers=ADMIN, status=400).json
    if expected is not None:
        assert expected in [detail.get("path") for detail in problem["details"]], problem
    assert web.get(path, headers=ADMIN).json["signalEndpointTokens"] == []


@each("invalid", [row for row in INVALID if "secret" not in row[0] and "signature" not in row[0]])
def test_an_invalid_change_is_400_and_changes_nothing(web, path, invalid):
    members, expected = invalid
    tokens = web.get(path, headers=ADMIN).json["signalEndpointTokens"]
    if not tokens:
        tokens = [web.post_json(path, {"name": "ci"}, headers=ADMIN).json]
        tokens[0].pop("token")
    url = f"{path}/{tokens[0]['id']}"
    problem = web.put_json(url, {"name": "x", **members}, headers=ADMIN, status=400).json
    if expected is not None:
        assert expected in [detail.get("path") for detail in problem["details"]], problem
    assert web.get(path, headers=ADMIN).json["signalEndpointTokens"] == tokens


@each("text", ["9999-12-31", "9999-12-31T23:59:59.999999Z", "2999-01-01T00:00:00"])
def test_far_times_of_expiry_and_those_without_a_zone_are_utc(web, path, text):
    token = web.post_json(path, {"name": text, "expiresAt": text}, headers=ADMIN).json
    assert token["expiresAt"].startswith(text[:19].rstrip("Z"))
    assert token["expiresAt"].endswith("Z")
    web.delete(f"{path}/{token['id']}", headers=ADMIN)


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

    assert race_for_statuses(service, 20, ask) == [201] * 5 + [400] * 15
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
