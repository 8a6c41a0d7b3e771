"""Sign-out here and at the provider, and logout tokens of the provider."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from sigservice.services.access.oidc.id_token import LOGOUT_EVENT
from tests.conftest import Cast
from tests.oidc.conftest import find_login
from tests.oidc_provider import CLIENT_ID, RSA

PATH = "/auth/oidc/backchannel-logout"
SIGN_OUT = {"SERVICE_OIDC_SIGN_OUT": "true", "SERVICE_OIDC_CREATE_USERS": "true"}


def sign_out(web, status):
    csrf = web.get("/api/admin/user").json["csrfToken"]
    return web.post("/logout", {"csrf": csrf}, status=status)


def test_sign_out_continues_at_the_provider_with_the_id_token(make_site):
    site = make_site(**SIGN_OUT)
    web = site.browser()
    site.sign_in(web)
    page = sign_out(web, 200)
    url = page.headers["Refresh"].removeprefix("0;url=")
    assert url.startswith(f"{site.provider.url}/end-session?")
    assert page.html.find("a", string="Continue")["href"] == url
    query = {name: text for name, (text,) in parse_qs(urlsplit(url).query).items()}
    assert query["client_id"] == CLIENT_ID
    assert query["post_logout_redirect_uri"] == "http://localhost/auth/oidc/signed-out"
    assert query["id_token_hint"].count(".") == 2
    assert find_login(web) is None
    page = web.get("/auth/oidc/signed-out", status=303).follow()
    assert "You have signed out." in page.text


def test_large_id_token_is_not_stored(make_site):
    site = make_site(**SIGN_OUT)
    site.provider.claims["x"] = "x" * 4096
    web = site.browser()
    site.sign_in(web)
    assert "id_token_hint" not in sign_out(web, 200).headers["Refresh"]


def test_sign_out_stays_here_by_default_and_keeps_no_token(site, rows):
    web = site.browser()
    site.sign_in(web)
    assert rows("SELECT id_token FROM sessions") == [(None,)]
    assert "Refresh" not in sign_out(web, 303).headers


def test_session_by_password_ends_here_alone(make_site):
    site = make_site(**SIGN_OUT)
    sign_out(Cast(site.service).signed_in("ed"), 303)


def test_sign_out_works_without_the_provider(make_site, clock):
    site = make_site(**SIGN_OUT)
    web = site.browser()
    site.sign_in(web)
    clock.advance(90_000)
    site.provider.status["discovery"] = 500
    sign_out(web, 303)
    assert find_login(web) is None


def test_provider_without_the_endpoint_is_left_alone(make_site):
    site = make_site(**SIGN_OUT)
    del site.provider.metadata["end_session_endpoint"]
    web = site.browser()
    site.sign_in(web)
    sign_out(web, 303)


@pytest.fixture
def logout(site, clock):
    """`logout(claim=…, status=400, header=…)` sends a logout token of the provider."""

    def send(status=200, header=None, **change):
        now = int(clock.now().timestamp())
        claims = {
            "iss": site.provider.url,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 120,
            "jti": "one",
            "events": {LOGOUT_EVENT: {}},
            "sub": "eva-1",
        } | change
        claims = {name: value for name, value in claims.items() if value is not None}
        token = site.provider.sign(claims, {"typ": "logout+jwt"} | (header or {}))
        return site.web.post(PATH, {"logout_token": token}, status=status)

    return send


@pytest.mark.parametrize("typ", ["Logout+JWT", "application/logout+jwt", "jwt", "application/JWT"])
def test_type_of_a_logout_token_is_compared_like_a_media_type(site, logout, typ):
    web = site.browser()
    site.sign_in(web)
    logout(header={"typ": typ})
    assert find_login(web) is None


def test_logout_token_ends_the_sessions_of_the_subject(site, logout, clock):
    browsers = [site.browser(), site.browser()]
    for web in browsers:
        site.sign_in(web)
    clock.advance(1)
    answer = logout()
    assert "no-store" in answer.headers["Cache-Control"]
    assert [find_login(web) for web in browsers] == [None, None]
    (event,) = site.events("user-signed-out")
    assert event["data"]["reason"] == "back-channel"
    assert event["data"]["username"] == "eva@example.org"


def test_logout_token_of_one_session_ends_that_alone(site, logout):
    first, second = site.browser(), site.browser()
    for web, sid in ((first, "s1"), (second, "s2")):
        site.provider.claims["sid"] = sid
        site.sign_in(web)
    logout(sub=None, sid="s1")
    assert (find_login(first), find_login(second)) == (None, "eva@example.org")
    logout(sub="another", sid="s2")
    assert find_login(second) == "eva@example.org"
    logout(sid="s2")
    assert find_login(second) is None


def test_replayed_logout_token_does_not_end_later_sessions(site, logout, clock):
    site.sign_in()
    at = int(clock.now().timestamp())
    logout(iat=at)
    clock.advance(10)
    web = site.browser()
    site.sign_in(web)
    logout(iat=at)
    assert find_login(web) == "eva@example.org"


def test_unknown_subject_is_200(logout):
    logout(sub="nobody")


def test_sessions_by_password_stay(site, logout):
    ed = Cast(site.service).signed_in("ed")
    logout(sub=None, sid="")
    assert find_login(ed) == "ed"


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "https://evil.example"},
        {"aud": "another"},
        {"exp": 1000},
        {"iat": None},
        {"jti": None},
        {"jti": 5},
        {"events": None},
        {"events": {}},
        {"events": {LOGOUT_EVENT: 5}},
        {"events": [LOGOUT_EVENT]},
        {"nonce": "x"},
        {"sub": None},
        {"sub": 5},
        {"sid": ["x"]},
        {"sid": "a\x00b"},
        {"header": {"typ": "at+jwt"}},
        {"header": {"alg": "none"}},
        {"header": {"alg": "HS256"}},
    ],
)
def test_invalid_logout_token_ends_nothing(site, logout, change):
    web = site.browser()
    site.sign_in(web)
    body = logout(status=400, **change).json
    assert body["error"] == "invalid_request"
    assert {"id", "name", "message", "details"} <= set(body)
    assert find_login(web) == "eva@example.org"


@pytest.mark.parametrize("form", [{}, {"logout_token": ""}, {"logout_token": "x.y.z"}])
def test_form_without_a_token_is_400(site, form):
    assert site.web.post(PATH, form, status=400).json["error"] == "invalid_request"


def test_id_token_is_no_logout_token(site):
    tokens = []
    site.provider.change_text = lambda text: tokens.append(text) or text
    web = site.browser()
    site.sign_in(web)
    site.web.post(PATH, {"logout_token": tokens[0]}, status=400)
    assert find_login(web)


def test_keys_are_fetched_for_logout_tokens_once_in_30_seconds(site, logout, clock):
    site.sign_in()
    clock.advance(30)
    site.provider.key = RSA[1]
    for _ in range(5):
        logout(status=400)
    assert site.provider.paths.count("/jwks") == 2
    clock.advance(30)
    site.provider.public_keys = [RSA[1].as_dict(private=False)]
    logout()


def test_invalid_tokens_count_as_failed_authentication(make_site):
    site = make_site(FAILED_AUTH_LIMIT_PER_MINUTE="2")
    for status in (400, 400, 429):
        site.web.post(PATH, {"logout_token": "x.y.z"}, status=status)


def test_provider_that_is_down_is_503(site, logout):
    site.provider.status["jwks"] = 500
    logout(status=503)


def test_other_methods_are_not_allowed(site):
    assert site.web.get(PATH, status=405).headers["Allow"] == "POST"
    assert site.web.get(PATH, status=405).json["name"] == "MethodNotAllowedError"


def test_without_an_issuer_there_is_no_route(web):
    web.post(PATH, {"logout_token": "x"}, status=404)
