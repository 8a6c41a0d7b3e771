"""An OpenID provider on 127.0.0.1 that signs one user in at once, and misbehaves on request."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from joserfc import jws
from joserfc.jwk import RSAKey

from tests.waiting import DEADLINE_SECONDS

CLIENT_ID, CLIENT_SECRET = "flags", "s3cret+of/the:client"
Change = Callable[[dict[str, Any]], Any]
RSA = [RSAKey.generate_key(2048, {"kid": name}) for name in ("first", "second")]
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    SMALL_RSA = RSAKey.generate_key(1024, {"kid": "small"})


class TestProvider:
    """`claims` are of the ID token, `userinfo` of the endpoint. Each `change_…` gets what is about
    to be sent, and may change it or return something else. `status` overrides that of an endpoint,
    `bodies` the body, by the endpoint's name."""

    __test__ = False

    def __init__(self, port: int, now: Callable[[], datetime]) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.now = now
        self.key: Any = RSA[0]
        self.algorithm = "RS256"
        self.public_keys = [RSA[0].as_dict(private=False)]
        self.claims: dict[str, Any] = {
            "sub": "eva-1",
            "email": "eva@example.org",
            "email_verified": True,
            "name": "Eva Example",
        }
        self.userinfo: dict[str, Any] = {"sub": "eva-1"}
        self.metadata: dict[str, Any] = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize?tenant=a",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "end_session_endpoint": f"{self.url}/end-session",
        }
        self.status: dict[str, int] = {}
        self.bodies: dict[str, bytes] = {}
        self.header: dict[str, Any] = {}
        self.change_token: Change = lambda claims: None
        self.change_text: Callable[[str], str] = lambda text: text
        self.change_answer: Change = lambda answer: None
        self.date = ""  # of the header; "": the clock of this machine
        self.ignores_verifier = False
        self.hold: threading.Event | None = None
        self.paths: list[str] = []  # of all requests
        self.token_requests: list[dict[str, str]] = []
        self._codes: dict[str, dict[str, str]] = {}

    def authorize(self, url: str) -> dict[str, str]:
        """What the provider adds to the redirect URI after the user has agreed to the request."""
        query = dict(parse_qsl(urlsplit(url).query))
        code = secrets.token_urlsafe(16)
        self._codes[code] = query
        return {"code": code, "state": query["state"]}

    def sign(self, claims: dict[str, Any], header: dict[str, Any] | None = None) -> str:
        fields = {"alg": self.algorithm, "kid": self.key.kid} | self.header | (header or {})
        fields = {name: value for name, value in fields.items() if value is not None}
        content = json.dumps(claims)
        if fields["alg"] in ("none", "HS256"):
            text = ".".join(_encode(part.encode()) for part in (json.dumps(fields), content))
            secret = self.key.as_pem(private=False)  # the public key as the secret
            digest = hmac.digest(secret, text.encode(), "sha256")
            return f"{text}.{_encode(digest) if fields['alg'] == 'HS256' else ''}"
        registry = jws.JWSRegistry(algorithms=[fields["alg"]], strict_check_header=False)
        registry.max_header_length = registry.max_payload_length = 10**6
        return jws.serialize_compact(fields, content, self.key, registry=registry)

    def use_key(self, key: Any, algorithm: str) -> None:
        self.key, self.algorithm = key, algorithm
        self.public_keys = [key.as_dict(private=False)]

    def answer(self, name: str, url: str, form: dict[str, str], headers: Any) -> tuple[int, Any]:
        if name == "discovery":
            return 200, self.metadata
        if name == "jwks":
            return 200, {"keys": self.public_keys}
        if name == "userinfo":
            return 200, self.userinfo
        if name == "authorize":
            target = self.authorize(url)
            query = dict(parse_qsl(urlsplit(url).query))
            return 302, f"{query['redirect_uri']}?{urlencode(target)}"
        if name == "end-session":
            return 302, parse_qs(urlsplit(url).query)["post_logout_redirect_uri"][0]
        if name == "token":
            return self._redeem(form, headers)
        return 404, {}

    def _redeem(self, form: dict[str, str], headers: Any) -> tuple[int, Any]:
        self.token_requests.append(form | {"authorization": headers.get("Authorization", "")})
        query = self._codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        is_proved = self.ignores_verifier or (query and query["code_challenge"] == challenge)
        if query is None or not is_proved:
            return 400, {"error": "invalid_grant", "error_description": "no\nsuch code"}
        if query["redirect_uri"] != form.get("redirect_uri"):
            return 400, {"error": "invalid_grant"}
        now = int(self.now().timestamp())
        claims = {"iss": self.metadata["issuer"], "aud": CLIENT_ID, "iat": now, "exp": now + 300}
        claims |= {"nonce": query["nonce"], **self.claims}
        claims = self.change_token(claims) or claims
        token = self.change_text(self.sign(claims))
        answer = {"id_token": token, "access_token": "the-access-token", "token_type": "Bearer"}
        return 200, self.change_answer(answer) or answer


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class _Handler(BaseHTTPRequestHandler):
    provider: TestProvider

    def do_POST(self) -> None:
        one = self.provider
        length = int(self.headers.get("Content-Length", "0"))
        form = dict(parse_qsl(self.rfile.read(length).decode()))
        one.paths.append(self.path)
        path = urlsplit(self.path).path
        name = "discovery" if path.endswith("/openid-configuration") else path.strip("/")
        if one.hold is not None:
            one.hold.wait(DEADLINE_SECONDS)
        status, content = one.answer(name, self.path, form, self.headers)
        status = one.status.get(name, status)
        body = one.bodies.get(name, json.dumps(content).encode())
        self.send_response(status)
        if status in (302, 303):
            self.send_header("Location", content if isinstance(content, str) else one.url)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST

    def date_time_string(self, timestamp: float | None = None) -> str:
        return self.provider.date or super().date_time_string(timestamp)

    def log_message(self, *_args: Any) -> None:
        pass


@contextmanager
def run_server(port: int = 0) -> Iterator[ThreadingHTTPServer]:
    """A server for one provider at a time: see `serve_provider`."""
    server = ThreadingHTTPServer(("127.0.0.1", port), type("Handler", (_Handler,), {}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def serve_provider(server: ThreadingHTTPServer, now: Callable[[], datetime]) -> TestProvider:
    """A new provider, which answers from now on."""
    provider = TestProvider(server.server_port, now)
    server.RequestHandlerClass.provider = provider  # type: ignore[attr-defined]
    return provider


@contextmanager
def run_provider(now: Callable[[], datetime], port: int = 0) -> Iterator[TestProvider]:
    with run_server(port) as server:
        yield serve_provider(server, now)
