"""Which tokens the relay accepts, and what of that reaches the upstream."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from sigservice.relay import tokens as relay_tokens
from tests.conftest import ADMIN_TOKEN
from tests.relay.conftest import CLIENT, DEFAULT_CLIENT, FRONTEND, call
from tests.waiting import until


@pytest.mark.parametrize(
    "token", ["", "x", "a:b", "a.b", f"a:b.{'c' * 500}", "a:b.ü".encode().decode("latin-1")]
)
def test_a_token_without_the_form_is_refused_without_asking(fake, make_relay, token):
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    before = len(fake.validated)
    assert relay.get("/api/client/features", token)[0] == 401
    assert len(fake.validated) == before


def test_an_invalid_token_is_asked_about_once(fake, make_relay, clock):
    relay = make_relay(fake.url, clock=clock)
    relay.wait_until_ready()
    for _ in range(3):
        assert relay.get("/api/client/features", "*:development.unknown")[0] == 401
    assert sum("*:development.unknown" in tokens for tokens in fake.validated) == 1


def test_an_admin_token_is_forbidden(fake, make_relay):
    fake.tokens["*:*.admin"] = "admin"
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    for path in ("/api/client/features", "/api/frontend"):
        assert relay.get(path, "*:*.admin")[0] == 403
    assert relay.post("/edge/validate", {"tokens": ["*:*.admin"]})[2] == {"tokens": []}


def test_a_flood_of_invented_tokens_asks_the_upstream_about_few(fake, make_relay):
    relay = make_relay(fake.url, FAILED_AUTH_LIMIT_PER_MINUTE="1000000")
    relay.wait_until_ready()
    assert relay.list_toggles() == {"one"}
    invented = [f"*:development.invented{n}" for n in range(200)]
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda it: relay.get("/api/client/features", it)[0], invented))
    assert set(statuses) <= {401, 503}
    names = {token for tokens in fake.validated for token in tokens if "invented" in token}
    # The budget is 15, and fills up by one in four seconds.
    assert 0 < len(names) < 100
    assert statuses.count(401) <= len(names)
    assert relay.list_toggles() == {"one"}


def test_an_address_with_many_invalid_tokens_is_limited_and_its_known_tokens_are_served(
    fake, make_relay, clock
):
    relay = make_relay(fake.url, clock=clock, FAILED_AUTH_LIMIT_PER_MINUTE="3")
    relay.wait_until_ready()
    assert relay.list_toggles() == {"one"}
    path = "/api/client/features"
    statuses = [relay.get(path, f"*:development.invented{n}")[0] for n in range(6)]
    assert (statuses[:3], statuses[-1]) == ([401] * 3, 429)
    assert relay.list_toggles() == {"one"}


def test_invalid_tokens_take_bounded_memory(fake, make_relay, monkeypatch):
    monkeypatch.setattr(relay_tokens, "MAX_INVALID", 2)
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    for n in range(4):
        assert relay.get("/api/frontend", f"*:development.invented{n}")[0] == 401
    assert len(relay.context.tokens._invalid) == 2


def test_valid_tokens_take_bounded_memory(fake, make_relay, monkeypatch):
    monkeypatch.setattr(relay_tokens, "MAX_VALID", 2)
    many = [f"*:development.many{n}" for n in range(4)]
    fake.tokens |= dict.fromkeys(many, "client")
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    assert [relay.get("/api/client/features", token)[0] for token in many] == [200] * 4
    assert len(relay.context.tokens._valid) == 2


def test_a_revoked_token_is_refused_after_the_next_check(upstream, make_relay):
    upstream.create_flag("one")
    relay = make_relay(upstream.url)
    relay.wait_until_ready()
    assert relay.list_toggles() == {"one"}
    call(upstream.url, "DELETE", f"/api/admin/api-tokens/{FRONTEND}", None, ADMIN_TOKEN)
    relay.context.tokens.run_once()
    assert relay.get("/api/frontend", FRONTEND)[0] == 401


def test_a_relay_checks_tokens_by_itself_at_its_interval(upstream, make_relay):
    relay = make_relay(upstream.url, RELAY_TOKEN_INTERVAL_SECONDS="1")
    relay.wait_until_ready()
    assert relay.list_toggles() == set()
    call(upstream.url, "DELETE", f"/api/admin/api-tokens/{FRONTEND}", None, ADMIN_TOKEN)
    until(lambda: relay.get("/api/frontend", FRONTEND)[0] == 401, "the token is refused")


def test_a_source_goes_on_with_another_token_of_its_scope(upstream, make_relay):
    relay = make_relay(upstream.url, tokens=f"{CLIENT},{DEFAULT_CLIENT}")
    relay.wait_until_ready()
    other = upstream.admin(
        "POST",
        "/api/admin/api-tokens",
        {"tokenName": "other", "type": "client", "environment": "development", "projects": ["*"]},
    )["secret"]
    assert relay.get("/api/client/features", other)[0] == 200
    (source,) = relay.context.sources.list_all()
    call(upstream.url, "DELETE", f"/api/admin/api-tokens/{CLIENT}", None, ADMIN_TOKEN)
    relay.context.tokens.run_once()
    assert source.secret == other
    upstream.create_flag("one")
    relay.read_all_again()
    assert relay.list_toggles() == {"one"}


def test_a_source_without_a_token_ends(fake, make_relay):
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    del fake.tokens[CLIENT]
    relay.context.tokens.run_once()
    assert relay.context.sources.list_all() == []
    assert relay.get("/api/frontend", FRONTEND)[0] == 403
    assert relay.get("/ready")[0] == 503


@pytest.mark.parametrize(
    "answer",
    [(200, b"<html>"), (200, b"{}"), (401, b'{"tokens":[]}'), (403, b'{"tokens":[]}'), (500, b"")],
)
def test_only_a_usable_answer_ends_a_token(fake, make_relay, answer):
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    assert relay.list_toggles() == {"one"}
    fake.validation = lambda tokens: answer
    relay.context.tokens.run_once()
    assert relay.list_toggles() == {"one"}
    assert relay.get("/api/client/features", CLIENT)[0] in (200, 503)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_poll_makes_the_relay_ask_about_tokens_and_keeps_flags(fake, make_relay, status):
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    assert relay.list_toggles() == {"one"}
    before = len(fake.validated)
    fake.flags = lambda: (status, {}, b'{"message": "no"}')
    relay.read_all_again()
    until(lambda: len(fake.validated) > before, "the tokens are checked")
    assert relay.list_toggles() == {"one"}


def test_a_configured_token_that_is_no_client_token_leaves_the_others(fake, make_relay):
    relay = make_relay(fake.url, tokens=f"{FRONTEND},*:development.unknown,{CLIENT}")
    relay.wait_until_ready()
    assert relay.list_toggles() == {"one"}


def test_a_covered_token_is_no_source(fake, make_relay):
    fake.validation = lambda tokens: (
        200,
        json.dumps(
            {
                "tokens": [
                    {
                        "token": token,
                        "type": "client",
                        "environment": "development",
                        "projects": [token.partition(":")[0]],
                    }
                    for token in tokens
                ]
            }
        ).encode(),
    )
    relay = make_relay(fake.url, tokens=f"{DEFAULT_CLIENT},{CLIENT}")
    relay.wait_until_ready()
    assert [it.scope.projects for it in relay.context.sources.list_all()] == [("*",)]


def test_idle_scopes_of_sdks_end_after_a_day(fake, make_relay):
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    (source,) = relay.context.sources.list_all()
    source.used_at -= 25 * 3600
    relay.context.sources.end_idle()
    assert relay.context.sources.list_all() == [source]
    source.is_configured = False
    relay.context.sources.end_idle()
    assert relay.context.sources.list_all() == []
