"""Answers of every endpoint in forms that nobody expects: never a fault, never a session."""

from __future__ import annotations

import base64
import json

import pytest

from sigservice.services.access.oidc.id_token import import_keys
from tests.oidc.conftest import find_login
from tests.oidc_provider import CLIENT_ID, RSA
from tests.samples import sample

NASTY = [
    None,
    True,
    0,
    -1,
    1e300,
    "",
    "x\x00y",
    "\ud800",
    [],
    [[]],
    {},
    {"a": {"b": []}},
    "x" * 70_000,
]
CLAIMS = ("iss", "aud", "azp", "exp", "iat", "nbf", "nonce", "sub", "at_hash", "sid", "auth_time",
          "email", "email_verified", "name", "groups", "_claim_names", "hd")  # fmt: skip
SETTINGS = {
    "SERVICE_OIDC_CREATE_USERS": "true",
    "SERVICE_OIDC_SIGN_OUT": "true",
    "SERVICE_OIDC_ADMIN_GROUPS": "admins",
    "SERVICE_OIDC_REQUIRED_CLAIMS": "hd=x",
}
ALLOWED = (303, 400, 403, 503)


@pytest.fixture
def site(make_site, provider):
    provider.claims |= {"hd": "x", "groups": []}
    return make_site(**SETTINGS)


def attempt(site, clock):
    web = site.browser()
    answer = web.get("/auth/oidc", status="*")
    if answer.status_int == 303:
        answer = web.get(site.agree(answer.headers["Location"]), status="*")
    assert answer.status_int in ALLOWED
    if answer.status_int != 303:
        assert find_login(web) is None
        assert "Sign-in failed" in answer.text
    clock.advance(6)


@pytest.mark.parametrize("claim", sample(CLAIMS, 4))
def test_claims_of_any_form(site, clock, claim):
    for value in NASTY:
        site.provider.change_token = lambda claims, value=value: claims | {claim: value}
        attempt(site, clock)


@pytest.mark.parametrize(
    "member", sample(["sub", "email", "email_verified", "name", "groups", "hd"], 2)
)
def test_userinfo_of_any_form(site, clock, member):
    del site.provider.claims["name"]
    for value in NASTY:
        site.provider.userinfo = {"sub": "eva-1", "hd": "x", "groups": [], member: value}
        attempt(site, clock)


@pytest.mark.parametrize("member", ["id_token", "access_token", "error"])
def test_token_answers_of_any_form(site, clock, member):
    for status in (200, 400):
        site.provider.status["token"] = status
        for value in NASTY:
            site.provider.change_answer = lambda answer, value=value: answer | {member: value}
            attempt(site, clock)


@pytest.mark.parametrize("member", sample(["alg", "kid", "typ", "crit", "jwk", "x5c", "zip"], 2))
def test_headers_of_any_form(site, clock, member):
    for value in NASTY:
        header = {"alg": "RS256", "kid": "first", member: value}
        site.provider.change_text = lambda text, header=header: replace_header(text, header)
        attempt(site, clock)


def replace_header(text, header):
    encoded = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=").decode()
    return encoded + "." + text.split(".", 1)[1]


@pytest.mark.parametrize(
    "member", sample(["n", "kid", "x5c", "kty", "e", "use", "alg", "key_ops", "d"], 3)
)
def test_keys_of_any_form(site, clock, member):
    for value in NASTY:
        clock.advance(3601)
        site.provider.public_keys = [5, RSA[0].as_dict(private=False) | {member: value}]
        attempt(site, clock)


@pytest.mark.parametrize("member", ["d", "x5c", "unknown"])
def test_only_public_members_of_a_key_are_read(member):
    """The library computes with a private member of 70 kB for seconds."""
    public = RSA[0].as_dict(private=False)
    (key,) = import_keys({"keys": [public | {member: "x" * 70_000}]})
    assert key.as_dict() == public


@pytest.mark.parametrize("member", ["n", "e"])
def test_a_huge_key_is_ignored(member):
    huge = RSA[0].as_dict(private=False) | {member: "x" * 3001}
    assert import_keys({"keys": [huge]}) == []


@pytest.mark.parametrize("name", sample(["discovery", "jwks", "token", "userinfo"], 2))
def test_bodies_of_any_form(site, clock, name):
    del site.provider.claims["name"]
    bodies = [b"", b"\xff", b"nan", b"{", b"[" * 100_000, b'{"a":1}{"b":2}', b"<html></html>"]
    for body in [*bodies, *(json.dumps(value).encode() for value in NASTY)]:
        clock.advance(90_000)
        site.provider.bodies[name] = body
        attempt(site, clock)


@pytest.mark.parametrize("member", sample(
    ["issuer", "token_endpoint", "jwks_uri", "userinfo_endpoint", "authorization_endpoint",
     "end_session_endpoint", "token_endpoint_auth_methods_supported"], 2))  # fmt: skip
def test_metadata_of_any_form(site, clock, member):
    original = dict(site.provider.metadata)
    for value in [*NASTY, "https://[::1", "https://x:y/", "https://x:99999/", "https://", "//x"]:
        clock.advance(90_000)
        site.provider.metadata = original | {member: value}
        attempt(site, clock)


@pytest.mark.parametrize(
    "claim", sample(["iss", "aud", "iat", "exp", "jti", "events", "sub", "sid"], 2)
)
def test_logout_tokens_of_any_form(site, clock, claim):
    now = int(clock.now().timestamp())
    claims = {"iss": site.provider.url, "aud": CLIENT_ID, "iat": now, "exp": now + 99, "jti": "x"}
    for value in NASTY:
        token = site.provider.sign(claims | {claim: value}, {"typ": "logout+jwt"})
        form = {"logout_token": token}
        answer = site.web.post("/auth/oidc/backchannel-logout", form, status="*")
        assert answer.status_int in (400, 413, 429)
