"""What a relay in front of the service answers to SDKs."""

from __future__ import annotations

from tests.relay.conftest import (
    CLIENT,
    DEFAULT_CLIENT,
    FRONTEND,
    OTHER_FRONTEND,
    PROJECT,
    call,
)
from tests.waiting import until


def test_a_document_has_the_flags_of_the_service(upstream, make_relay):
    upstream.create_flag("one")
    relay = make_relay(upstream.url)
    relay.wait_until_ready()
    spec = {"Unleash_Client_Spec": "5.2.0"}
    status, _, answer = relay.get("/api/client/features", CLIENT, **spec)
    _, _, expected = call(upstream.url, "GET", "/api/client/features", None, CLIENT, **spec)
    assert status == 200
    assert answer["features"] == expected["features"]
    assert answer["query"] == expected["query"]


def test_two_relays_have_the_same_etag_and_answer_304(upstream, make_relay):
    upstream.create_flag("one")
    first, second = make_relay(upstream.url), make_relay(upstream.url)
    for relay in (first, second):
        relay.wait_until_ready()
    etag = first.get("/api/client/features", CLIENT)[1]["etag"]
    status, headers, body = second.get("/api/client/features", CLIENT, If_None_Match=etag)
    assert (status, headers["etag"], body) == (304, etag, "")


def test_an_sdk_before_segments_gets_their_constraints(upstream, make_relay):
    constraint = {"contextName": "country", "operator": "IN", "values": ["de"]}
    upstream.admin("POST", "/api/admin/segments", {"name": "germany", "constraints": [constraint]})
    id = upstream.admin("GET", "/api/admin/segments")["segments"][0]["id"]
    upstream.create_flag("one", segments=[id])
    relay = make_relay(upstream.url)
    relay.wait_until_ready()
    answer = relay.get("/api/client/features", CLIENT)[2]
    assert "segments" not in answer
    constraints = answer["features"][0]["strategies"][0]["constraints"]
    assert [it["contextName"] for it in constraints] == ["country"]
    status, _, flag = relay.get("/api/client/features/one", CLIENT, Unleash_Client_Spec="5.2.0")
    assert (status, flag["strategies"][0]["segments"]) == (200, [id])


def test_the_frontend_api_evaluates(upstream, make_relay):
    constraint = {"contextName": "userId", "operator": "IN", "values": ["7"]}
    upstream.create_flag("one", constraints=[constraint])
    relay = make_relay(upstream.url)
    relay.wait_until_ready()
    status, headers, answer = relay.get("/api/frontend?userId=7", FRONTEND)
    assert (status, [it["name"] for it in answer["toggles"]]) == (200, ["one"])
    assert headers["access-control-allow-origin"] == "*"
    for path in ("/api/frontend", "/api/proxy"):
        assert relay.post(path, {"userId": "7"}, FRONTEND)[2] == answer
        assert relay.post(path, {"context": {"userId": "8"}}, FRONTEND)[2] == {"toggles": []}
    status, _, answer = relay.get("/api/frontend/features/one?userId=8", FRONTEND)
    assert (status, answer["enabled"]) == (200, False)


def test_ofrep_evaluates_with_tokens_of_both_types(upstream, make_relay):
    upstream.create_flag("one")
    relay = make_relay(upstream.url)
    relay.wait_until_ready()
    for token in (CLIENT, FRONTEND):
        status, _, answer = relay.post("/ofrep/v1/evaluate/flags/one", {"context": {}}, token)
        assert (status, answer["value"]) == (200, True)
        status, _, answer = relay.post("/ofrep/v1/evaluate/flags", {"context": {}}, token)
        assert (status, [it["key"] for it in answer["flags"]]) == (200, ["one"])
        assert "eventStreams" not in answer
    status, _, answer = relay.post("/ofrep/v1/evaluate/flags/two", {"context": {}}, CLIENT)
    assert (status, answer["errorCode"]) == (404, "FLAG_NOT_FOUND")


def test_a_change_arrives_with_the_next_poll(upstream, make_relay):
    upstream.create_flag("one")
    relay = make_relay(upstream.url)
    relay.wait_until_ready()
    assert relay.list_toggles() == {"one"}
    upstream.switch("one", on=False)
    relay.read_all_again()
    assert relay.list_toggles() == set()
    assert relay.get("/api/client/features", CLIENT)[2]["features"][0]["enabled"] is False


def test_a_relay_asks_by_itself_at_its_interval(upstream, make_relay):
    upstream.create_flag("one")
    relay = make_relay(upstream.url, RELAY_REFRESH_INTERVAL_SECONDS="1")
    relay.wait_until_ready()
    upstream.switch("one", on=False)
    until(lambda: relay.list_toggles() == set(), "the change has arrived")


def test_a_client_token_of_another_scope_becomes_a_source(upstream, make_relay):
    upstream.create_flag("one")
    relay = make_relay(upstream.url, tokens=DEFAULT_CLIENT)
    relay.wait_until_ready()
    answer = relay.get("/api/client/features", CLIENT)[2]
    assert [flag["name"] for flag in answer["features"]] == ["one"]
    assert len(relay.context.sources.list_all()) == 2
    query = relay.get("/api/client/features", DEFAULT_CLIENT)[2]["query"]
    assert query["project"] == ["default"]


def test_more_scopes_than_the_limit_are_503(upstream, make_relay):
    relay = make_relay(upstream.url, tokens=DEFAULT_CLIENT, RELAY_SCOPES_LIMIT="0")
    relay.wait_until_ready()
    status, headers, _ = relay.get("/api/client/features", CLIENT)
    assert (status, headers["retry-after"]) == (503, "5")
    assert relay.get("/api/client/features", DEFAULT_CLIENT)[0] == 200


def test_a_frontend_token_that_no_client_token_covers_is_refused_with_the_reason(
    upstream, make_relay
):
    relay = make_relay(upstream.url)
    relay.wait_until_ready()
    status, _, answer = relay.get("/api/frontend", OTHER_FRONTEND)
    assert (status, "RELAY_TOKENS" in answer["message"]) == (403, True)


def test_tokens_of_other_types_and_environments_are_refused(upstream, make_relay):
    relay = make_relay(upstream.url, RELAY_ENVIRONMENTS="development")
    relay.wait_until_ready()
    assert relay.get("/api/frontend", CLIENT)[0] == 403
    assert relay.get("/api/client/features", FRONTEND)[0] == 403
    assert relay.get("/api/client/features", "*:*.admin-token-of-tests")[0] in (401, 403)
    status, _, answer = relay.get("/api/frontend", OTHER_FRONTEND)
    assert (status, "environment" in answer["message"]) == (403, True)


def test_a_relay_below_a_relay_gets_tokens_and_flags(upstream, make_relay):
    upstream.create_flag("one")
    first = make_relay(upstream.url)
    first.wait_until_ready()
    second = make_relay(first.url)
    second.wait_until_ready()
    assert second.list_toggles() == {"one"}
    answers = [relay.get("/api/client/features", CLIENT)[2] for relay in (first, second)]
    assert answers[0]["features"] == answers[1]["features"]
    assert answers[0]["meta"] == answers[1]["meta"]


def test_edge_validate_returns_served_tokens_only(upstream, make_relay):
    relay = make_relay(upstream.url, RELAY_ENVIRONMENTS="development")
    relay.wait_until_ready()
    tokens = [CLIENT, FRONTEND, OTHER_FRONTEND, "*:development.unknown", "no token"]
    status, _, answer = relay.post("/edge/validate", {"tokens": tokens})
    assert status == 200
    assert {it["token"]: it["type"] for it in answer["tokens"]} == {
        CLIENT: "client",
        FRONTEND: "frontend",
    }
    assert relay.post("/edge/validate", {"tokens": [CLIENT] * 101})[0] == 400
    assert relay.post("/edge/validate", {"tokens": [1]})[0] == 400
    assert relay.post("/edge/validate", {})[0] == 400


def test_the_rest_of_the_service_is_404(upstream, make_relay):
    relay = make_relay(upstream.url)
    for path in (
        "/",
        "/sign-in",
        "/api/admin/projects",
        "/api/signal-endpoint/x",
        "/internal-backstage/tokens",
        "/api/client/streaming",
        "/api/client/delta",
        f"{PROJECT}/features",
    ):
        status, headers, answer = relay.get(path, CLIENT)
        assert (status, answer["name"]) == (404, "NotFoundError"), path
        assert headers["content-type"].startswith("application/json")
    status, headers, _ = call(relay.url, "PUT", "/api/client/features", {}, CLIENT)
    assert (status, headers["allow"]) == (405, "GET, HEAD")
    assert call(relay.url, "OPTIONS", "/api/frontend")[0] == 204
