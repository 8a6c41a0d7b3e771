"""ID tokens that are forged, of others, or too old."""

from __future__ import annotations

import base64
import hashlib
import json

import pytest
from joserfc.jwk import ECKey, OKPKey, RSAKey

from tests.oidc_provider import CLIENT_ID, RSA


@pytest.mark.parametrize(
    ("kind", "option", "algorithm"),
    [
        (RSAKey, 2048, "RS512"),
        (RSAKey, 2048, "PS256"),
        (ECKey, "P-256", "ES256"),
        (ECKey, "P-384", "ES384"),
        (ECKey, "P-521", "ES512"),
        (OKPKey, "Ed25519", "EdDSA"),
        (OKPKey, "Ed25519", "Ed25519"),
    ],
)
def test_common_algorithms_work(site, kind, option, algorithm):
    site.provider.use_key(kind.generate_key(option, {"kid": "k"}), algorithm)
    site.sign_in()


def test_token_without_a_key_name_is_verified_with_any_key(site):
    site.provider.public_keys = [key.as_dict(private=False) for key in RSA]
    site.provider.key, site.provider.header["kid"] = RSA[1], None
    site.sign_in()


def test_unsigned_token_is_refused(site):
    site.provider.header["alg"] = "none"
    assert site.refusal() == "oidc-invalid-token"


def test_token_signed_with_the_public_key_as_a_secret_is_refused(site):
    site.provider.algorithm = "HS256"
    page = site.sign_in(status=403)
    assert "choose a signing key" in page.text


def test_token_signed_with_a_key_in_its_header_is_refused(site):
    attacker = RSAKey.generate_key(2048, {"kid": "first"})
    site.provider.key = attacker
    site.provider.header["jwk"] = attacker.as_dict(private=False)
    assert site.refusal() == "oidc-invalid-token"


def test_key_for_another_algorithm_is_not_used(site):
    site.provider.public_keys = [RSA[0].as_dict(private=False) | {"alg": "PS256"}]
    assert site.refusal() == "oidc-invalid-token"


@pytest.mark.parametrize(
    "header",
    [{"crit": ["exp"]}, {"typ": "at+jwt"}, {"typ": "application/AT+JWT"}, {"typ": 5},
     {"typ": "application/application/jwt"}, {"typ": "logout+jwt"}, {"b64": False}],
)  # fmt: skip
def test_header_is_checked(site, header):
    site.provider.change_text = lambda text: change_header(text, header)
    assert site.refusal() == "oidc-invalid-token"


@pytest.mark.parametrize("typ", ["JWT", "jwt", "application/jwt", "Application/JWT"])
def test_type_is_compared_like_a_media_type(site, typ):
    site.provider.header["typ"] = typ
    site.sign_in()


def change_header(text, change):
    header, rest = text.split(".", 1)
    content = json.loads(base64.urlsafe_b64decode(header + "===")) | change
    return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode() + "." + rest


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "https://evil.example"},
        {"aud": "another"},
        {"aud": [CLIENT_ID, "another"]},
        {"aud": []},
        {"azp": "another"},
        {"exp": None},
        {"exp": "tomorrow"},
        {"exp": True},
        {"exp": 1e300},
        {"iat": None},
        {"nonce": None},
        {"nonce": "another"},
        {"nonce": 5},
        {"sub": ""},
        {"sub": None},
        {"sub": "x" * 256},
        {"sub": "é"},
        {"sub": "a\nb"},
        {"at_hash": "wrong"},
    ],
)
def test_claims_are_checked(site, change):
    site.provider.change_token = lambda claims: claims | change
    assert site.refusal() == "oidc-invalid-token"


@pytest.mark.parametrize(
    "change",
    [
        {"aud": [CLIENT_ID]},
        {"aud": [CLIENT_ID, "another"], "azp": CLIENT_ID},
        {"at_hash": base64.urlsafe_b64encode(
            hashlib.sha256(b"the-access-token").digest()[:16]
        ).rstrip(b"=").decode()},
        {"sub": "x" * 255},
    ],
)  # fmt: skip
def test_valid_variants_are_accepted(site, change):
    site.provider.change_token = lambda claims: claims | change
    site.sign_in()


@pytest.mark.parametrize(
    ("claim", "seconds", "works"),
    [
        ("iat", 59, True),
        ("iat", 62, False),
        ("exp", -59, True),
        ("exp", -62, False),
        ("nbf", 59, True),
        ("nbf", 62, False),
    ],
)
def test_clocks_may_differ_by_a_minute(site, clock, claim, seconds, works):
    moment = clock.now().timestamp() + seconds
    site.provider.change_token = lambda claims: claims | {claim: moment}
    page = site.sign_in(status=303 if works else 403)
    if not works:
        assert "clocks" in page.text
        assert "62 s" in page.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "missing"),
        ("", "not a JWS"),
        ("a.b", "not a JWS"),
        ("a.b.c.d.e", "Encrypted"),
        ("!.!.!", "be read"),
        ("x" * 70_000, "too long"),
    ],
)
def test_texts_that_are_no_token_are_refused(site, text, expected):
    site.provider.change_answer = lambda answer: answer | {"id_token": text}
    assert expected in site.sign_in(status=403).text
