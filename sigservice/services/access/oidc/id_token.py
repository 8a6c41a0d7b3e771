"""Verifies ID tokens and logout tokens (OpenID Connect Core 1.0, 3.1.3.7).

joserfc checks only the signatures. The texts of its errors may contain parts of a token, so they
are never shown or logged."""

from __future__ import annotations

import base64
import hashlib
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from sigservice.crypto import secrets
from sigservice.late import jwk, jws, rsa
from sigservice.services.access.oidc.failures import OidcError

MAX_TOKEN_BYTES = 65_536
MAX_SUBJECT = 255
SKEW_SECONDS = 60
MIN_RSA_BITS = 2048
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
    "Ed25519",
)  # fmt: skip
SYMMETRIC = (
    "The ID token is signed with the client secret (HS256): choose a signing key at the provider."
)
if TYPE_CHECKING:
    Key = jwk.RSAKey | jwk.ECKey | jwk.OKPKey
PUBLIC_MEMBERS = {"kty", "crv", "x", "y", "n", "e", "kid", "use", "alg", "key_ops"}
MAX_MEMBER_LENGTH = 3000  # an RSA key of 16,384 bits
warnings.filterwarnings("ignore", message="EdDSA is deprecated")  # an old name, but not unsafe


class Token(NamedTuple):
    """A token whose signature isn't verified yet."""

    header: dict[str, Any]
    claims: dict[str, Any]
    text: str


class Expected(NamedTuple):
    """The expected values of the claims; `now` is in seconds since 1970."""

    issuer: str
    client_id: str
    now: float


def import_keys(key_set: dict[str, Any]) -> list[Key]:
    """The keys of a JWK set that can verify signatures, without the others."""
    keys = key_set.get("keys")
    return [
        key
        for content in (keys if isinstance(keys, list) else [])
        if (key := _import_key(content)) is not None
    ]


def _import_key(content: Any) -> Key | None:
    if not isinstance(content, dict) or content.get("use", "sig") != "sig":
        return None
    # With a private or a huge number, the library would compute for seconds.
    public = {name: value for name, value in content.items() if name in PUBLIC_MEMBERS}
    if any(isinstance(value, str) and len(value) > MAX_MEMBER_LENGTH for value in public.values()):
        return None
    try:
        key = jwk.JWKRegistry.import_key(public)
        if not isinstance(key, jwk.RSAKey | jwk.ECKey | jwk.OKPKey):
            return None
        public_key = key.public_key
    except Exception:  # noqa: BLE001  joserfc raises whatever it meets
        return None
    if isinstance(public_key, rsa.RSAPublicKey) and public_key.key_size < MIN_RSA_BITS:
        return None
    return key


def parse(text: Any, types: Sequence[str] = ("jwt",)) -> Token:
    """`types` are the values of `typ` that are accepted besides none. As media types (RFC 7515,
    4.1.9), tokens have them in any case and also after `application/`. Raises OidcError."""
    if not isinstance(text, str) or not text.isascii() or len(text) > MAX_TOKEN_BYTES:
        raise _make_error("The ID token is missing or too long.")
    parts = text.split(".")
    if len(parts) != 3:
        is_encrypted = len(parts) == 5
        form = "Encrypted ID tokens are not supported." if is_encrypted else "It is not a JWS."
        raise _make_error(form)
    header, claims = (_parse_part(part) for part in parts[:2])
    algorithm = header.get("alg")
    if algorithm not in ALGORITHMS:
        is_symmetric = isinstance(algorithm, str) and algorithm.startswith("HS")
        raise _make_error(SYMMETRIC if is_symmetric else "alg: the algorithm is not allowed.")
    if "crit" in header or "b64" in header:
        raise _make_error("crit: extensions are not supported.")
    if "typ" in header and str(header["typ"]).lower().removeprefix("application/") not in types:
        raise _make_error("typ: it is not an ID token.")
    return Token(header, claims, text)


def _parse_part(part: str) -> dict[str, Any]:
    try:
        content = msgspec.json.decode(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise _make_error("The ID token can't be read.") from None
    if not isinstance(content, dict):
        raise _make_error("The ID token can't be read.")
    return content


def is_signed_by(token: Token, keys: Sequence[Key]) -> bool:
    """Whether one of the keys verifies the signature. Ignores keys in the header of the token."""
    registry = jws.JWSRegistry(algorithms=[token.header["alg"]], strict_check_header=False)
    registry.max_header_length = registry.max_payload_length = MAX_TOKEN_BYTES
    return any(_verifies(key, token, registry) for key in keys)


def _verifies(key: Key, token: Token, registry: jws.JWSRegistry) -> bool:
    content, header = key.as_dict(private=False), token.header
    if "kid" in header and content.get("kid") != header["kid"]:
        return False
    if content.get("alg", header["alg"]) != header["alg"]:
        return False
    try:
        jws.deserialize_compact(token.text, key, registry=registry)
    except Exception:  # noqa: BLE001  as above
        return False
    return True


def check_claims(claims: dict[str, Any], expected: Expected) -> None:
    """Checks the rules that ID tokens and logout tokens share. Raises OidcError."""
    if claims.get("iss") != expected.issuer:
        raise _make_error("iss: the token is of another issuer.")
    audience = claims.get("aud")
    audience = audience if isinstance(audience, list) else [audience]
    client_id, party = expected.client_id, claims.get("azp")
    if client_id not in audience:
        raise _make_error("aud: the token is for another client.")
    if (len(audience) > 1 or party is not None) and party != client_id:
        raise _make_error("azp: the token was issued to another client.")
    for name, is_latest in (("exp", False), ("iat", True), ("nbf", True)):
        _check_time(claims, name, expected.now, is_latest=is_latest)


def _check_time(claims: dict[str, Any], name: str, now: float, *, is_latest: bool) -> None:
    value = claims.get(name)
    if value is None and name == "nbf":
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 2**40:
        raise _make_error(f"{name}: a number is required.")
    difference = value - now if is_latest else now - value
    if difference > SKEW_SECONDS:
        raise _make_error(
            f"{name}: the clocks of service and provider differ by {difference:.0f} s."
        )


def check_id_token(
    claims: dict[str, Any], expected: Expected, *, nonce: str, access_token: str, algorithm: str
) -> None:
    """Raises OidcError."""
    check_claims(claims, expected)
    sent_nonce = claims.get("nonce")
    if not isinstance(sent_nonce, str) or not secrets.is_equal(sent_nonce, nonce):
        raise _make_error("nonce: the token is of another sign-in.")
    if not is_subject(claims.get("sub")):
        raise _make_error("sub: text of 1 to 255 printable ASCII characters is required.")
    if "at_hash" in claims and claims["at_hash"] != _hash_half(access_token, algorithm):
        raise _make_error("at_hash: the access token is another one.")


def check_logout_claims(claims: dict[str, Any]) -> None:
    """Checks the claims that only a logout token has. Raises OidcError."""
    events = claims.get("events")
    if not isinstance(events, dict) or not isinstance(events.get(LOGOUT_EVENT), dict):
        raise _make_error("events: it is not a logout token.")
    if "nonce" in claims or not isinstance(claims.get("jti"), str):
        raise _make_error("nonce, jti: it is not a logout token.")
    if "sub" not in claims and "sid" not in claims:
        raise _make_error("sub, sid: one of them is required.")
    for value in (claims.get("sub", ""), claims.get("sid", "")):
        if not (isinstance(value, str) and value.isprintable()):
            raise _make_error("sub, sid: printable text is required.")


def is_subject(value: Any) -> bool:
    return (
        isinstance(value, str)
        and value.isascii()
        and value.isprintable()
        and (1 <= len(value) <= MAX_SUBJECT)
    )


def _hash_half(access_token: str, algorithm: str) -> str:
    """The left half of the hash (OpenID Connect Core 1.0, 3.1.3.6); Ed25519 uses SHA-512."""
    bits = "512" if algorithm in ("EdDSA", "Ed25519") else algorithm[-3:]
    digest = hashlib.new(f"sha{bits}", access_token.encode("utf-8", "replace")).digest()
    return base64.urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=").decode()


def _make_error(reason: str) -> OidcError:
    return OidcError("oidc-invalid-token", reason)
