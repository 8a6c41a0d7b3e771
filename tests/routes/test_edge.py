"""Token validation for relays: which tokens are valid."""

from __future__ import annotations

from tests.conftest import ADMIN_TOKEN
from tests.routes.sdk import CLIENT, FRONTEND, PRODUCTION

PATH = "/edge/validate"


def test_only_valid_client_and_frontend_tokens_are_confirmed(sdk):
    client, frontend = CLIENT["Authorization"], FRONTEND["Authorization"]
    expired = PRODUCTION["Authorization"]
    sdk.rows("UPDATE api_tokens SET expires_at = now() WHERE environment = 'production'")
    others = [ADMIN_TOKEN, expired, "*:development.guess", "", "é\u2028"]
    body = {"tokens": [client, frontend, client, *others]}
    tokens = sdk.web.post_json(PATH, body, status=200).json["tokens"]
    assert sorted(tokens, key=lambda token: token["type"]) == [
        {"token": client, "type": "client", "projects": ["*"], "environment": "development"},
        {"token": frontend, "type": "frontend", "projects": ["*"], "environment": "development"},
    ]
    assert sdk.web.post_json(PATH, {"tokens": []}).json == {"tokens": []}


def test_invalid_bodies_are_rejected_and_requests_are_limited(sdk, clock):
    for body in ({}, [], {"tokens": "x"}, {"tokens": [1]}):
        sdk.web.post_json(PATH, body, status=400)
    sdk.web.post(PATH, "{", content_type="application/json", status=400)
    sdk.web.post(PATH, {"tokens": "x"}, status=415)
    for _ in range(60 - 6):
        sdk.web.post_json(PATH, {"tokens": [CLIENT["Authorization"]] * 100}, status=200)
    sdk.web.post_json(PATH, {"tokens": []}, status=429)
    clock.advance(1)
    sdk.web.post_json(PATH, {"tokens": []}, status=200)


def test_all_tokens_of_a_relay_fit_in_one_request_with_unknown_ones(sdk):
    unknown = [f"*:development.{n:060}" for n in range(1000)]
    body = {"tokens": [*unknown[:500], CLIENT["Authorization"], *unknown[500:]]}
    for _ in range(2):
        (token,) = sdk.web.post_json(PATH, body, status=200).json["tokens"]
        assert token["token"] == CLIENT["Authorization"]
    sdk.web.post_json(PATH, {"tokens": unknown[:1]}, status=429)  # they were counted


def test_a_relay_learns_of_revoked_tokens_despite_guesses(sdk):
    client, frontend = CLIENT["Authorization"], FRONTEND["Authorization"]
    sdk.web.post_json(PATH, {"tokens": [client, frontend]}, status=200)
    sdk.web.post_json(PATH, {"tokens": [f"guess {n}" for n in range(61)]}, status=200)
    sdk.rows("UPDATE api_tokens SET expires_at = now() WHERE type = 'client'")
    sdk.web.post_json(PATH, {"tokens": [frontend, "another guess"]}, status=429)  # it is public
    sdk.rows("UPDATE api_tokens SET expires_at = NULL WHERE type = 'client'")
    sdk.rows("UPDATE api_tokens SET expires_at = now() WHERE type = 'frontend'")
    tokens = sdk.web.post_json(PATH, {"tokens": [client, frontend]}, status=200).json["tokens"]
    assert [token["token"] for token in tokens] == [client]


def test_each_wrong_token_counts_as_failed_authentication(sdk, clock):
    guesses = [f"*:development.{n}" for n in range(60)]
    sdk.web.post_json(PATH, {"tokens": guesses[:59]}, status=200)
    sdk.web.get("/api/client/features", headers={"Authorization": "guess"}, status=401)
    sdk.web.get("/api/client/features", headers={"Authorization": "guess"}, status=429)
    refused = sdk.web.post_json(PATH, {"tokens": guesses[59:]}, status=429)
    assert int(refused.headers["Retry-After"]) >= 1
    clock.advance(1)
    sdk.web.post_json(PATH, {"tokens": guesses[:2]}, status=200)
    sdk.web.post_json(PATH, {"tokens": guesses[:1]}, status=429)


def test_recently_valid_tokens_are_confirmed_despite_guesses(sdk):
    good = {"tokens": [CLIENT["Authorization"]]}
    assert len(sdk.web.post_json(PATH, good, status=200).json["tokens"]) == 1
    sdk.web.post_json(PATH, {"tokens": [f"guess {n}" for n in range(61)]}, status=200)
    assert len(sdk.web.post_json(PATH, good, status=200).json["tokens"]) == 1


def test_an_admin_token_counts_as_a_guess_even_after_recent_use(sdk):
    sdk.web.get("/api/admin/projects", headers={"Authorization": ADMIN_TOKEN}, status=200)
    sdk.web.post_json(PATH, {"tokens": [f"guess {n}" for n in range(61)]}, status=200)
    sdk.web.post_json(PATH, {"tokens": ["another guess"]}, status=429)
    sdk.web.post_json(PATH, {"tokens": [ADMIN_TOKEN]}, status=429)
    sdk.web.get("/api/admin/projects", headers={"Authorization": ADMIN_TOKEN}, status=200)
