"""Refused calls of signal endpoints: who called, why it was refused, how often."""

from __future__ import annotations

import pytest
import webtest

from sigservice.jobs import buffers
from sigservice.services.signals.refused_calls import MAX_BUFFERED, MAX_ROWS
from tests.conftest import ADMIN

URL = "/api/signal-endpoint/deploys"
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def endpoint(make):
    return make.endpoint()


@pytest.fixture
def token(make, endpoint):
    return make.token(endpoint)["token"]


@pytest.fixture
def refused(web, service, endpoint):
    """Lists the stored refused calls of the endpoint, or of unknown names."""

    def list_calls(*, of_unknown_names=False):
        buffers.store_counts(service.context)
        path = f"/api/admin/signal-endpoints/{endpoint['id']}/refused-calls"
        if of_unknown_names:
            path = "/api/admin/refused-calls"
        return web.get(path, headers=ADMIN).json["refusedCalls"]

    return list_calls


def test_an_unknown_token_is_recorded_with_its_beginning(web, refused):
    secret = "signal_abcdefghijklmnopqrstuvwxyz"
    web.post(URL, headers={"Authorization": secret, "User-Agent": "curl/8"}, status=401)
    (call,) = refused()
    assert call["reason"] == "The token is unknown or belongs to another endpoint."
    assert (call["status"], call["calls"], call["userAgent"]) == (401, 1, "curl/8")
    assert call["secretPrefix"] == "signal_abcd"
    assert call["firstAt"] == call["lastAt"]


SECRETS = {  # with what is recorded of them
    "signal_abcdefghijklmnop": "signal_abcd",
    "*:*.a-long-admin-token": "*:*.",
    "short": "",
    "123456789012345": "",
}


def test_of_a_secret_only_a_few_characters_are_recorded(web, refused):
    for secret in SECRETS:
        web.post(URL, headers={"Authorization": secret}, status=401)
    calls = refused()
    assert {call["secretPrefix"] for call in calls} == set(SECRETS.values())
    assert not [secret for secret in SECRETS if secret in str(calls)]


def test_a_token_in_the_place_of_the_name_is_not_recorded(web, refused):
    web.post("/api/signal-endpoint/signal_abcdefghijklmnop", status=401)
    (call,) = refused(of_unknown_names=True)
    assert call["endpointName"] == "signal_abcd"


def test_equal_calls_are_one_row(web, refused):
    for _ in range(3):
        web.post(URL, status=401)
    refused()
    web.post(URL, status=401)
    (call,) = refused()
    assert (call["calls"], call["reason"]) == (4, "The credentials are missing.")


def test_the_reasons_of_a_known_sender_are_recorded(web, token, refused, clock):
    auth = {"Authorization": token}
    web.post(URL, b"{", headers=auth | JSON, status=400)
    web.post(URL, headers=auth, status=429)
    clock.advance(1)
    web.post(URL, b"x" * 200_000, headers=auth | JSON, status=413)
    reasons = {call["status"]: call["reason"] for call in refused()}
    assert set(reasons) == {400, 429, 413}
    assert reasons[429] == "More signals than the limit of the endpoint allows."
    assert "not valid JSON" in reasons[400]
    metrics = web.get("/internal-backstage/prometheus").text
    assert 'endpoint="deploys",result="BadDataError"' in metrics
    assert 'endpoint="",' not in metrics


def test_accepted_signals_are_not_recorded(web, token, refused):
    web.post(URL, headers={"Authorization": token})
    assert refused() == []


def test_calls_of_unknown_endpoints_have_a_list_of_their_own(web, refused):
    web.post("/api/signal-endpoint/nowhere", headers={"Authorization": "x"}, status=401)
    assert refused() == []
    (call,) = refused(of_unknown_names=True)
    assert (call["endpointName"], call["reason"]) == ("nowhere", "No endpoint has this name.")


def test_a_flood_of_callers_is_counted_in_a_bounded_number_of_rows(make_service, database, clock):
    service = make_service({"rateLimiting": {"failedAuthMaxPerMinute": 1_000_000}})
    web = webtest.TestApp(service.app)
    for n in range(2 * MAX_BUFFERED):
        web.post(f"/api/signal-endpoint/e{n}", status=401)
    buffers.store_counts(service.context)
    calls = web.get("/api/admin/refused-calls", headers=ADMIN).json["refusedCalls"]
    assert len(calls) == MAX_ROWS
    (others,) = [call for call in calls if call["reason"].startswith("Further callers")]
    assert others["calls"] == MAX_BUFFERED


def test_hostile_text_is_recorded_without_control_characters(web, refused):
    headers = {"Authorization": "signal_\x01\x02\x7f4567890", "User-Agent": "a\x1b[31m" + "x" * 999}
    web.post(URL, headers=headers, status=401)
    (call,) = refused()
    assert call["secretPrefix"].isprintable()
    assert call["userAgent"].isprintable()
    assert len(call["userAgent"]) == 200


def test_the_use_of_a_token_is_stored_with_its_address(web, service, token, endpoint, clock):
    for _ in range(2):
        web.post(URL, headers={"Authorization": token}, extra_environ={"REMOTE_ADDR": "192.0.2.7"})
        clock.advance(2)
    buffers.store_last_uses(service.context)
    web.post(URL, headers={"Authorization": token}, extra_environ={"REMOTE_ADDR": "192.0.2.8"})
    buffers.store_last_uses(service.context)
    path = f"/api/admin/signal-endpoints/{endpoint['id']}/tokens"
    (row,) = web.get(path, headers=ADMIN).json["signalEndpointTokens"]
    assert (row["uses"], row["lastUsedFrom"]) == (3, "192.0.2.8")
    assert row["lastUsedAt"] is not None


def test_one_address_displaces_no_other(web, refused):
    def call(secret, host):
        address = {"REMOTE_ADDR": f"203.0.113.{host}"}
        web.post(URL, headers={"Authorization": secret}, status="*", extra_environ=address)

    call("signal_wrong-token", 1)
    for number in range(60):
        for host in (2, 3):
            call(f"{number:04d}-of-many-tokens", host)
    calls = refused()
    assert len(calls) == MAX_ROWS
    assert "203.0.113.1" in [call["address"] for call in calls]


def test_above_the_limit_of_failures_an_address_has_one_row(web, refused):
    def call(number):
        for name in ("deploys", f"unknown-{number}"):
            headers = {"Authorization": f"{number:04d}-of-many-tokens"}
            web.post(f"/api/signal-endpoint/{name}", headers=headers, status="*")

    for number in range(50):
        call(number)
    for calls in (refused(), refused(of_unknown_names=True)):
        (limited,) = [call for call in calls if call["status"] == 429]
        assert (limited["calls"], limited["secretPrefix"]) == (20, "")
    assert limited["endpointName"] == ""
