"""Metadata, keys and answers of a provider that is slow, down, misconfigured or hostile."""

from __future__ import annotations

import threading

import pytest

from sigservice.services.access.oidc import id_token
from tests.conftest import Cast
from tests.oidc.conftest import find_login, read_code
from tests.oidc_provider import RSA, SMALL_RSA
from tests.waiting import until


def begin(site, status=503):
    return read_code(site.browser().get("/auth/oidc", status=status))


def count(site, part):
    return sum(part in path for path in site.provider.paths)


def test_metadata_is_fetched_at_the_first_sign_in_and_then_hourly(site, clock):
    assert site.provider.paths == []
    site.sign_in()
    site.sign_in()
    assert (count(site, "well-known"), count(site, "jwks")) == (1, 1)
    clock.advance(3601)
    site.sign_in()
    assert (count(site, "well-known"), count(site, "jwks")) == (2, 2)


def test_provider_that_was_down_at_the_start_is_asked_again_after_five_seconds(site, clock):
    site.provider.status["discovery"] = 500
    assert begin(site) == "oidc-unreachable"
    site.provider.status.clear()
    assert begin(site) == "oidc-unreachable"
    assert count(site, "well-known") == 1
    clock.advance(5)
    site.sign_in()


def test_last_metadata_is_used_for_a_day(site, clock):
    site.sign_in()
    site.provider.status |= {"discovery": 503, "jwks": 503}
    clock.advance(86_399 - 60)
    site.sign_in()
    clock.advance(120)
    assert begin(site) == "oidc-unreachable"


def test_everything_else_works_while_the_provider_is_down(site, clock):
    web = site.browser()
    site.sign_in(web)
    site.provider.status |= dict.fromkeys(("discovery", "jwks", "token"), 500)
    clock.advance(90_000)
    assert begin(site) == "oidc-unreachable"
    for path in ("/health", "/ready", "/sign-in"):
        site.web.get(path, status=200)
    assert find_login(web) == "eva@example.org"
    assert find_login(Cast(site.service).signed_in("ed")) == "ed"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"<html>",
        b'{"issuer": 5}',
        b"{" + b" " * 300_000 + b"}",
        b"\xff",
        b"[" * 200_000,
    ],
)
def test_unusable_metadata_counts_as_unreachable(site, body):
    site.provider.bodies["discovery"] = body
    assert begin(site) == "oidc-unreachable"


@pytest.mark.parametrize(
    ("change", "works"),
    [
        ({"issuer": "https://evil.example"}, False),
        ({"issuer": "https://login.example/{tenantid}/v2.0"}, False),
        ({"jwks_uri": None}, False),
        ({"token_endpoint": "http://evil.example/token"}, False),
        ({"token_endpoint": "https://user@evil.example/token"}, False),
        ({"authorization_endpoint": "javascript:alert(1)"}, False),
        ({"authorization_endpoint": "https://ok.example/a\nb"}, False),
        ({"userinfo_endpoint": ["x"]}, False),
        ({"userinfo_endpoint": None, "end_session_endpoint": None}, True),
        ({"authorization_endpoint": "https://login.example/authorize"}, True),
    ],
)
def test_metadata_is_checked(site, change, works):
    site.provider.metadata |= change
    site.browser().get("/auth/oidc", status=303 if works else 503)


def test_trailing_slash_of_the_issuer_makes_no_difference(make_site, provider):
    provider.metadata["issuer"] = f"{provider.url}/"
    site = make_site(SERVICE_OIDC_CREATE_USERS="true")
    web = site.browser()
    site.sign_in(web)
    assert find_login(web) == "eva@example.org"
    provider.change_token = lambda claims: claims | {"iss": provider.url}  # not its spelling
    assert site.refusal() == "oidc-invalid-token"


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1:1/token",  # this machine, but another origin
        "https://localhost/token",
        "https://10.0.0.1/token",
        "https://169.254.169.254/token",
        "https://[::1]/token",
        "https://[fd00:ec2::254]/token",
        "https://0x7f.1/token",
    ],
)
def test_provider_cannot_lead_into_the_private_network(site, url):
    site.provider.metadata["token_endpoint"] = url
    assert site.refusal(status=503) == "oidc-unreachable"
    assert any("not allowed" in line for line in site.log.lines)


def test_redirects_of_the_provider_are_not_followed(site):
    for name in ("discovery", "token"):
        site.provider.status[name] = 302
        code = begin(site) if name == "discovery" else site.refusal(status=503)
        assert code == "oidc-unreachable"
        assert site.provider.paths[-1] != "/"
        del site.provider.status[name]
        site.service.context.clock.advance(6)


def test_keys_are_fetched_again_after_a_rotation(site):
    site.sign_in()
    site.provider.use_key(RSA[1], "RS256")
    site.sign_in()
    assert count(site, "jwks") == 2


def test_key_that_is_still_unknown_fails_after_one_more_request(site):
    site.sign_in()
    site.provider.key = RSA[1]
    assert site.refusal() == "oidc-invalid-token"
    assert count(site, "jwks") == 2


def test_new_key_under_an_old_name_is_found(site):
    site.sign_in()
    site.provider.header["kid"] = "first"
    site.provider.key = RSA[1]
    site.provider.public_keys = [RSA[1].as_dict(private=False) | {"kid": "first"}]
    site.sign_in()


def test_at_most_four_requests_wait_for_the_metadata(site):
    site.provider.hold = threading.Event()
    statuses = []

    def visit():
        statuses.append(site.browser().get("/auth/oidc", status="*").status_int)

    threads = [threading.Thread(target=visit) for _ in range(7)]
    for thread in threads:
        thread.start()
    until(lambda: len(statuses) == 3, "three are refused")
    site.web.get("/health", status=200)
    site.provider.hold.set()
    for thread in threads:
        thread.join()
    assert statuses == [503] * 3 + [303] * 4
    assert count(site, "well-known") == 1


def test_at_most_four_requests_wait_for_the_provider(site):
    callbacks = [(web := site.browser(), site.begin(web)) for _ in range(5)]
    site.provider.hold = threading.Event()
    threads = [
        threading.Thread(target=web.get, args=(callback,), kwargs={"status": "*"})
        for web, callback in callbacks[:4]
    ]
    for thread in threads:
        thread.start()
    until(lambda: count(site, "/token") == 4, "four requests wait")
    web, callback = callbacks[4]
    assert read_code(web.get(callback, status=503)) == "oidc-unreachable"
    site.provider.hold.set()
    for thread in threads:
        thread.join()


def test_userinfo_is_asked_only_if_the_id_token_lacks_a_claim(site):
    site.sign_in()
    assert count(site, "userinfo") == 0
    email = site.provider.claims.pop("email")
    verified = site.provider.claims.pop("email_verified")
    site.provider.userinfo |= {"email": email, "email_verified": verified}
    site.sign_in()
    assert count(site, "userinfo") == 1


@pytest.mark.parametrize("userinfo", [{"sub": "another"}, {}, {"sub": None}])
def test_userinfo_of_another_user_is_refused(site, userinfo):
    del site.provider.claims["name"]
    site.provider.userinfo = userinfo
    assert site.refusal() == "oidc-response"


# What userinfo may answer, and the code of the refusal if it is needed.
FAILURES = {
    "not allowed": ({"status": {"userinfo": 401}}, "oidc-response"),
    "down": ({"status": {"userinfo": 503}}, "oidc-unreachable"),
    "signed": ({"bodies": {"userinfo": b"eyJhbGciOiJub25lIn0.e30."}}, "oidc-response"),
    "a list": ({"bodies": {"userinfo": b"[]"}}, "oidc-response"),
    "null": ({"bodies": {"userinfo": b"null"}}, "oidc-response"),
}
each_failure = pytest.mark.parametrize(("answer", "code"), FAILURES.values(), ids=FAILURES)


@each_failure
def test_userinfo_that_fails_is_refused_if_the_address_is_missing(site, answer, code):
    del site.provider.claims["email"]
    vars(site.provider).update(answer)
    assert site.refusal(status=503 if code == "oidc-unreachable" else 403) == code


@each_failure
def test_userinfo_that_fails_is_not_needed_for_a_name(site, answer, code):
    del site.provider.claims["name"]
    vars(site.provider).update(answer)
    site.sign_in()
    assert "userinfo failed" in "\n".join(site.log.lines)


@pytest.mark.parametrize(
    ("claim", "variables"),
    [
        ("email_verified", {}),
        ("groups", {"SERVICE_OIDC_ADMIN_GROUPS": "admins"}),
        ("hd", {"SERVICE_OIDC_REQUIRED_CLAIMS": "hd=example.org"}),
    ],
)
def test_userinfo_that_fails_is_refused_if_a_claim_that_decides_is_missing(
    make_site, provider, claim, variables
):
    provider.claims.pop(claim, None)
    provider.status["userinfo"] = 401
    site = make_site(SERVICE_OIDC_CREATE_USERS="true", **variables)
    assert site.refusal() == "oidc-response"


def test_userinfo_that_fails_is_not_needed_if_addresses_are_trusted(make_site, provider):
    del provider.claims["email_verified"]
    provider.status["userinfo"] = 401
    site = make_site(SERVICE_OIDC_CREATE_USERS="true", SERVICE_OIDC_TRUST_EMAIL="true")
    site.sign_in()


def test_signed_userinfo_is_named_in_the_log(site):
    del site.provider.claims["email"]
    site.provider.bodies["userinfo"] = b"eyJhbGciOiJub25lIn0.e30.c2ln\n"
    site.refusal()
    assert "userinfo is signed (application/jwt)" in "\n".join(site.log.lines)


def test_keys_that_are_broken_or_small_are_skipped():
    public = RSA[0].as_dict(private=False)
    keys = [
        5,
        {"kty": "RSA", "n": "!", "e": "AQAB"},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
        {"kty": "oct", "k": "c2VjcmV0"},
        SMALL_RSA.as_dict(private=False),
        public | {"use": "enc"},
        public,
    ]
    assert [key.kid for key in id_token.import_keys({"keys": keys})] == ["first"]
    assert id_token.import_keys({"keys": "x"}) == id_token.import_keys({}) == []
