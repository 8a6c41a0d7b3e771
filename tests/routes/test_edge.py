"""What relays ask: which tokens are valid."""

from __future__ import annotations

from tests.conftest import ADMIN_TOKEN
from tests.routes.sdk import CLIENT, FRONTEND, PRODUCTION

PATH = "/edge/validate"


def test_only_the_valid_ones_are_told(sdk):
    secrets = [ADMIN_TOKEN, CLIENT["Authorization"], FRONTEND["Authorization"]]
    expired = PRODUCTION["Authorization"]
    sdk.rows("UPDATE api_tokens SET expires_at = now() WHERE environment = 'production'")
    body = {"tokens": [*secrets, secrets[1], expired, "*:development.guess", "", "é\u2028"]}
    tokens = sdk.web.post_json(PATH, body, status=200).json["tokens"]
    assert sorted(tokens, key=lambda token: token["type"]) == [
        {"token": ADMIN_TOKEN, "type": "admin", "projects": ["*"], "environment": "*"},
        {"token": secrets[1], "type": "client", "projects": ["*"], "environment": "development"},
        {"token": secrets[2], "type": "frontend", "projects": ["*"], "environment": "development"},
    ]
    assert sdk.web.post_json(PATH, {"tokens": []}).json == {"tokens": []}


def test_what_is_wrong_is_refused_and_guessing_is_slow(sdk, clock):
    for body in ({}, [], {"tokens": "x"}, {"tokens": [1]}, {"tokens": ["x"] * 101}):
        sdk.web.post_json(PATH, body, status=400)
    sdk.web.post(PATH, "{", content_type="application/json", status=400)
    sdk.web.post(PATH, {"tokens": "x"}, status=415)
    for _ in range(60 - 7):
        sdk.web.post_json(PATH, {"tokens": ["x"] * 100}, status=200)
    sdk.web.post_json(PATH, {"tokens": []}, status=429)
    clock.advance(1)
    sdk.web.post_json(PATH, {"tokens": []}, status=200)
