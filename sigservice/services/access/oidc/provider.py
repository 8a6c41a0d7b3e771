"""The configured provider: its metadata and keys, the code flow up to the claims of a user."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote_plus, urlencode, urlsplit

from sigservice.clock import Clock
from sigservice.config.oidc import has_groups
from sigservice.config.parse import InvalidValue
from sigservice.config.tls import read_text
from sigservice.log import Logger, escape_line
from sigservice.outgoing.provider import ProviderClient, ProviderError
from sigservice.services.access.oidc import id_token, metadata
from sigservice.services.access.oidc.cached_document import CachedDocument
from sigservice.services.access.oidc.claims import (
    MISSING,
    Claims,
    needs_userinfo,
    requires_userinfo,
)
from sigservice.services.access.oidc.failures import OidcError
from sigservice.services.access.oidc.metadata import Metadata

FLOW_SECONDS = 20.0  # for all requests of one callback
LOGOUT_KEY_SECONDS = 30.0
MAX_CODE, MAX_LOGGED = 4096, 200
WARN_SECONDS = 3600.0
_CLIENT_ERRORS = ("invalid_client", "unauthorized_client")


class Flow(NamedTuple):
    """The secrets of one authorization request, and its redirect URI."""

    state: str
    nonce: str
    verifier: str
    redirect_uri: str


@contextmanager
def _as_failures() -> Iterator[None]:
    """Raises OidcError instead of ProviderError."""
    try:
        yield
    except ProviderError as error:
        raise OidcError("oidc-unreachable", str(error)) from error


class Provider:
    """`settings` is `authentication.oidc`. Methods raise OidcError."""

    def __init__(
        self, settings: dict[str, Any], client: ProviderClient, clock: Clock, logger: Logger
    ) -> None:
        self.settings, self.client, self._clock, self._logger = settings, client, clock, logger
        self._metadata = CachedDocument(self._fetch_metadata, clock.monotonic)
        self._keys = CachedDocument(self._fetch_keys, clock.monotonic)
        self._warned_at = float("-inf")

    @property
    def name(self) -> str:
        return str(self.settings["name"])

    def is_issuer(self, issuer: str) -> bool:
        """Whether `issuer`, in the provider's spelling, is the configured one."""
        return issuer.removesuffix("/") == self.settings["issuer"]

    @_as_failures()
    def make_authorization_url(self, flow: Flow, *, prompt: str = "") -> str:
        """The URL to redirect the browser to; `prompt` overrides a configured one."""
        details = self._metadata.get(time.monotonic() + FLOW_SECONDS)
        digest = hashlib.sha256(flow.verifier.encode()).digest()
        parameters = {
            "response_type": "code",
            "client_id": self.settings["clientId"],
            "redirect_uri": flow.redirect_uri,
            "scope": " ".join(self.settings["scopes"]),
            "state": flow.state,
            "nonce": flow.nonce,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        for item in self.settings["authorizationParameters"]:
            name, _, value = item.partition("=")
            parameters[name] = value
        if prompt:
            parameters["prompt"] = prompt
        return add_query(details.endpoints["authorization_endpoint"], parameters)

    @_as_failures()
    def fetch_claims(self, query: Mapping[str, str], flow: Flow) -> tuple[Claims, str]:
        """Redeems the answer to an authorization request; returns the user's claims and the ID
        token."""
        deadline = time.monotonic() + FLOW_SECONDS
        details = self._metadata.get(deadline)
        self._check_answer(details, query)
        answer = self._redeem_code(details, query["code"], flow, deadline)
        access_token = answer.get("access_token")
        access_token = access_token if isinstance(access_token, str) else ""
        token = id_token.parse(answer.get("id_token"))
        self._check_signature(token, deadline, key_age_seconds=0.0)
        id_token.check_id_token(
            token.claims,
            self._make_expected(details),
            nonce=flow.nonce,
            access_token=access_token,
            algorithm=token.header["alg"],
        )
        userinfo = {}
        url = details.endpoints["userinfo_endpoint"]
        if url and access_token and needs_userinfo(token.claims, self.settings):
            userinfo = self._find_userinfo(url, access_token, token.claims, deadline)
        claims = Claims(token.claims, userinfo)
        self._warn_without_groups(claims)
        return claims, token.text

    def _check_answer(self, details: Metadata, query: Mapping[str, str]) -> None:
        """Checks issuer (RFC 9207), error and code."""
        if query.get("iss", details.issuer) != details.issuer or (
            details.names_issuer and "iss" not in query
        ):
            raise OidcError("oidc-issuer", "iss of the answer")
        if "error" in query:
            self._log_error("authorization", "answer", query)
            is_denied = query["error"] == "access_denied"
            raise OidcError("oidc-denied" if is_denied else "oidc-error")
        if not 0 < len(query.get("code", "")) <= MAX_CODE:
            raise OidcError("oidc-request")

    @_as_failures()
    def verify_logout_token(self, text: Any) -> dict[str, Any]:
        """The claims of a logout token."""
        deadline = time.monotonic() + FLOW_SECONDS
        token = id_token.parse(text, ("logout+jwt", "jwt"))
        details = self._metadata.get(deadline)
        self._check_signature(token, deadline, key_age_seconds=LOGOUT_KEY_SECONDS)
        id_token.check_claims(token.claims, self._make_expected(details))
        id_token.check_logout_claims(token.claims)
        return token.claims

    def make_sign_out_url(self, token: str, return_url: str) -> str:
        """The URL at which the browser signs out at the provider; "" if the provider has no such
        endpoint or can't be reached."""
        try:
            details = self._metadata.get(time.monotonic() + FLOW_SECONDS)
        except ProviderError:
            return ""
        parameters = {"id_token_hint": token} if token else {}
        parameters |= {
            "client_id": self.settings["clientId"],
            "post_logout_redirect_uri": return_url,
        }
        url = details.endpoints["end_session_endpoint"]
        return add_query(url, parameters) if url else ""

    def _warn_without_groups(self, claims: Claims) -> None:
        """Warns if the claim of groups is missing: providers omit it for users without groups, but
        a forgotten setting there looks the same."""
        path, now = self.settings["groupsClaim"], self._clock.monotonic()
        is_missing = has_groups(self.settings) and claims.find(path) is MISSING
        if is_missing and now - self._warned_at >= WARN_SECONDS:
            self._warned_at = now
            text = "neither the ID token nor userinfo has the claim %s: no group decides the role"
            self._logger.warn(text, path)

    def _make_expected(self, details: Metadata) -> id_token.Expected:
        now = self._clock.now().timestamp()
        return id_token.Expected(details.issuer, self.settings["clientId"], now)

    def _redeem_code(
        self, details: Metadata, code: str, flow: Flow, deadline: float
    ) -> dict[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": flow.redirect_uri,
            "code_verifier": flow.verifier,
        }
        headers, client_id, secret = {}, self.settings["clientId"], self._read_secret()
        if secret and not details.posts_secret:
            pair = f"{quote_plus(client_id)}:{quote_plus(secret)}"  # RFC 6749, 2.3.1
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        else:
            form |= {"client_id": client_id} | ({"client_secret": secret} if secret else {})
        url = details.endpoints["token_endpoint"]
        answer = self.client.request("token", url, deadline, headers=headers, form=form)
        if 400 <= answer.status < 500:
            content = answer.content or {}
            self._log_error("token", answer.status, content)
            is_client = content.get("error") in _CLIENT_ERRORS
            raise OidcError("oidc-client" if is_client else "oidc-code")
        if answer.status != 200 or answer.content is None:
            raise ProviderError(f"token: the status is {answer.status}, or it isn't JSON.")
        return answer.content

    def _read_secret(self) -> str:
        secret, path = self.settings["clientSecret"], self.settings["clientSecretFile"]
        if secret or not path:
            return secret or ""
        try:
            return read_text(path).strip("\r\n")
        except InvalidValue as error:
            raise OidcError("oidc-client", f"SERVICE_OIDC_CLIENT_SECRET_FILE: {error}") from None

    def _find_userinfo(
        self, url: str, access_token: str, token: dict[str, Any], deadline: float
    ) -> dict[str, Any]:
        """{} if the request fails and the ID token has all claims that decide. Userinfo of another
        user ends the sign-in in any case."""
        subject = token["sub"]
        try:
            userinfo = self._fetch_userinfo(url, access_token, subject, deadline)
        except OidcError as error:
            if requires_userinfo(token, self.settings):
                raise
            text = "userinfo failed, but the ID token has what the sign-in needs: %s"
            self._logger.warn(text, error.reason)
            return {}
        if userinfo.get("sub") != subject:
            raise OidcError("oidc-response", "sub: userinfo is of another user.", subject=subject)
        return userinfo

    @_as_failures()
    def _fetch_userinfo(
        self, url: str, access_token: str, subject: str, deadline: float
    ) -> dict[str, Any]:
        if not (access_token.isascii() and access_token.isprintable()):
            raise OidcError("oidc-response", "The access token can't be sent.", subject=subject)
        headers = {"Authorization": f"Bearer {access_token}"}
        answer = self.client.request("userinfo", url, deadline, headers=headers)
        if answer.status != 200 or answer.content is None:
            reason = f"userinfo (status {answer.status}) is no JSON object."
            if answer.is_jwt:
                reason = "userinfo is signed (application/jwt): choose JSON at the provider."
            raise OidcError("oidc-response", reason, subject=subject)
        return answer.content

    def _check_signature(
        self, token: id_token.Token, deadline: float, *, key_age_seconds: float
    ) -> None:
        """Fetches the keys again if no cached key fits: the provider may have new keys, even under
        an old ID."""
        if id_token.is_signed_by(token, self._keys.get(deadline)):
            return
        if not id_token.is_signed_by(token, self._keys.fetch_newer(deadline, key_age_seconds)):
            reason = "signature: no key of the provider verifies it."
            raise OidcError("oidc-invalid-token", reason)

    def _fetch_metadata(self, deadline: float) -> Metadata:
        issuer = self.settings["issuer"]
        url = metadata.make_discovery_url(issuer)
        details = metadata.parse(self.client.fetch("discovery", url, deadline).content, issuer)
        self._logger.info("new metadata of %s", details.issuer)
        return details

    def _fetch_keys(self, deadline: float) -> list[id_token.Key]:
        url = self._metadata.get(deadline).endpoints["jwks_uri"]
        keys = id_token.import_keys(self.client.fetch("jwks", url, deadline).content)
        names = ", ".join(str(key.kid)[:50] for key in keys[:20])
        self._logger.info("%d new keys of the provider: %s", len(keys), names)
        return keys

    def _log_error(self, endpoint: str, status: object, content: Mapping[str, Any]) -> None:
        texts = [_escape(content.get(name)) for name in ("error", "error_description")]
        self._logger.warn("the provider's %s: %s %s %s", endpoint, status, *texts)


def add_query(url: str, parameters: Mapping[str, str]) -> str:
    """The URL with `parameters` added to its query; they replace parameters of the same name."""
    parts = urlsplit(url)
    own = [(k, v) for k, v in parse_qsl(parts.query, keep_blank_values=True) if k not in parameters]
    return parts._replace(query=urlencode([*own, *parameters.items()]), fragment="").geturl()


def _escape(value: object) -> str:
    return "" if value is None else escape_line(str(value)[:MAX_LOGGED])
