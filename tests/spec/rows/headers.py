"""Headers for browsers: security, the policy's sources, CORS; Secure cookies over plain HTTP."""

from __future__ import annotations

import re
import ssl
import urllib.error
import urllib.request
from http.client import HTTPMessage, HTTPResponse
from typing import Any

import pytest

from tests.spec.kit import ADMIN_SECRET, Answer, Case, Row

HSTS = "max-age=63072000"
EVERYWHERE = {
    "X-Content-Type-Options": "nosniff",
    "X-Download-Options": "noopen",
    "X-Permitted-Cross-Domain-Policies": "none",
    "Referrer-Policy": "no-referrer",
}
API = EVERYWHERE | {
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none';frame-ancestors 'none'",
}
PAGES = EVERYWHERE | {
    "X-Frame-Options": "SAMEORIGIN",
    "X-XSS-Protection": "0",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
POLICY = (
    "default-src 'self';base-uri 'none';font-src 'self';form-action 'self';"
    "frame-ancestors 'none';img-src 'self' data:;object-src 'none';script-src 'self';"
    "script-src-attr 'none';style-src 'self';connect-src 'self';worker-src 'self';"
    "child-src 'self';media-src 'self';frame-src 'self'"
)
ABSENT = ("X-Powered-By", "Server", "X-DNS-Prefetch-Control", "Origin-Agent-Cluster")
TOO_LARGE = {"Content_Type": "application/json", "Content_Length": "99999999"}


def check_secure_headers(case: Case) -> None:
    page = case.request("GET", "/sign-in")
    stylesheet = re.search(r'href="(/static/app\.css[^"]*)"', page.text)
    assert stylesheet
    for method, path, status, more in (
        ("GET", "/sign-in", 200, {}),
        ("GET", "/nowhere", 404, {}),
        ("DELETE", "/sign-in", 405, {}),
        ("GET", stylesheet[1], 200, {}),
        ("GET", "/", 303, {}),
        ("POST", "/sign-in", 413, TOO_LARGE),
        ("GET", "/api/nowhere", 404, {}),
        ("GET", "/api/admin/user", 401, {}),
        ("POST", "/api/admin/segments", 401, TOO_LARGE),
        ("POST", "/api/admin/segments", 413, TOO_LARGE | {"token": ADMIN_SECRET}),
    ):
        answer = case.request(method, path, **more)
        assert answer.status == status, path
        kind = API if path.startswith("/api/") else PAGES
        headers = {name: answer.headers[name] for name in kind}
        assert headers == kind, path
        assert answer.headers["Strict-Transport-Security"] == (HSTS if case.value else None), path
        assert not [name for name in ABSENT if answer.headers[name]], path
        if kind is PAGES:
            is_upgrading = "upgrade-insecure-requests" in read_directives(answer)
            assert is_upgrading == case.value, path
    if not case.value:
        assert page.headers["Content-Security-Policy"] == POLICY
        assert page.headers["Cross-Origin-Embedder-Policy"] == "credentialless"
    cookies = page.headers.get_all("Set-Cookie") + case.sign_in().headers.get_all("Set-Cookie")
    assert {"; secure" in line.lower() for line in cookies} == {case.value}


def check_sign_in_over_http(case: Case) -> None:
    """A browser at a plain address other than its own machine: it keeps no Secure cookie, and
    sends no Sec-Fetch headers but the Origin null."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    address = f"http://127.0.0.1:{case.service.port}/sign-in"
    with browser.open(address) as page:
        form = page.read().decode()
    token = re.search(r'name="csrf" value="([^"]+)"', form)
    assert token
    body = f"csrf={token[1]}&next=/&username=ada&password=Correct-Horse-7".encode()
    answer = open_url(browser, urllib.request.Request(address, body, {"Origin": "null"}))
    signed_in_page = answer.read().decode()
    assert answer.status == 403
    for text in (form, signed_in_page):
        assert "Cookies require HTTPS because SECURE_HEADERS is on" in text
        assert "http:// address your browser drops them" in text
    behind_tls = case.request("GET", "/sign-in", X_Forwarded_Proto="https")
    on_its_own_machine = case.request("GET", "/sign-in", Sec_Fetch_Site="none")
    for answer in (behind_tls, on_its_own_machine):
        assert "HTTPS only" not in answer.text


def check_tls_is_rejected(case: Case) -> None:
    """upgrade-insecure-requests makes browsers try it for the style sheet, and wait for the end."""
    with case.service.connect(30) as sock, pytest.raises(ssl.SSLError):
        ssl.create_default_context().wrap_socket(sock, server_hostname="localhost")


def open_url(browser: urllib.request.OpenerDirector, request: Any) -> HTTPResponse | Any:
    try:
        return browser.open(request)
    except urllib.error.HTTPError as answer:
        return answer


def read_directives(answer: Answer) -> dict[str, str]:
    """Of the Content-Security-Policy: directive → sources."""
    parts = answer.headers["Content-Security-Policy"].split(";")
    return dict(part.partition(" ")[::2] for part in parts)


def check_allowed_sources(case: Case) -> None:
    directive = case.row.variable.removeprefix("CSP_ALLOWED_").lower() + "-src"
    built_in = dict(part.partition(" ")[::2] for part in POLICY.split(";"))[directive]
    for path in ("/sign-in", "/nowhere"):
        sources = read_directives(case.request("GET", path))[directive]
        default_sources = [] if built_in == "'none'" else built_in.split()
        assert sources.split() == [*default_sources, *case.value]
    headers = case.request("GET", "/sign-in").headers
    if directive == "frame-src":  # such frames would not be shown
        assert headers["Cross-Origin-Embedder-Policy"] is None
    assert read_directives(case.request("GET", "/api/nowhere")) == {
        "default-src": "'none'",
        "frame-ancestors": "'none'",
    }


def check_forbidden_source(case: Case) -> None:
    """What would end the directive or the header stops the start, by name and without the value."""
    process = case.start_failing({"CSP_ALLOWED_IMG": "a.example; script-src evil.example"})
    assert process.wait() == 2
    (line,) = process.stderr.splitlines()
    assert line.startswith("sigservice: CSP_ALLOWED_IMG: expected ")
    assert "evil" not in line


ORIGIN = "https://shop.example"


def check_cors(case: Case) -> None:
    preflight = {
        "Origin": ORIGIN,
        "Access_Control_Request_Method": "POST",
        "Access_Control_Request_Headers": "authorization,content-type",
    }
    for path in ("/api/frontend", "/api/frontend/client/metrics"):
        answer = case.request("OPTIONS", path, **preflight)
        assert (answer.status, answer.body) == (204, b"")
        headers = answer.headers
        assert headers["Access-Control-Max-Age"] == str(case.value)
        assert headers["Access-Control-Allow-Origin"] == "*"
        assert headers["Access-Control-Allow-Methods"] == "GET,HEAD,PUT,PATCH,POST,DELETE"
        assert headers["Access-Control-Allow-Headers"] == "authorization,content-type"
        assert "Access-Control-Request-Headers" in headers["Vary"]
    check_readable_errors(case, "*")
    other = case.request("OPTIONS", "/api/client/features", **preflight)
    assert other.headers["Access-Control-Max-Age"] is None


def check_cors_origins(case: Case) -> None:
    """One origin instead of all: the others get no permission, on no answer."""
    path = "/api/admin/ui-config/cors"
    case.admin("POST", path, {"frontendApiOrigins": [ORIGIN]})
    try:
        check_readable_errors(case, ORIGIN)
        for method in ("OPTIONS", "GET"):
            answer = case.request(method, "/api/frontend", Origin="https://evil.example")
            assert answer.headers["Access-Control-Allow-Origin"] is None
            assert "Origin" in read_vary(answer.headers)
    finally:
        case.admin("POST", path, {"frontendApiOrigins": ["*"]})


def check_readable_errors(case: Case, allowed: str) -> None:
    with case.create_api_token("frontend") as token:
        _check_errors(case, allowed, token)


def _check_errors(case: Case, allowed: str, token: str) -> None:
    for method, path, status, more in (
        ("GET", "/api/frontend", 401, {}),
        ("GET", "/api/frontend/nowhere", 404, {}),
        ("POST", "/api/frontend/client/metrics", 401, {}),
        ("POST", "/api/frontend/client/metrics", 401, TOO_LARGE),
        ("POST", "/api/frontend/client/metrics", 413, TOO_LARGE | {"token": token}),
    ):
        answer = case.request(method, path, Origin=ORIGIN, **more)
        assert answer.status == status, path
        assert answer.headers["Access-Control-Allow-Origin"] == allowed, path
        assert answer.headers["Access-Control-Expose-Headers"] == "ETag"


def read_vary(headers: HTTPMessage) -> list[str]:
    return [name.strip() for line in headers.get_all("Vary", []) for name in line.split(",")]


SOURCES = ("default", "font", "style", "script", "img", "connect", "frame", "media", "object")
ROWS = (
    Row("secureHeaders", check_secure_headers, value=False),
    Row("secureHeaders", check_secure_headers, "SECURE_HEADERS", "true", value=True),
    Row("secureHeaders", check_sign_in_over_http, "SECURE_HEADERS", "true"),
    Row("secureHeaders", check_tls_is_rejected),
    *(
        Row(
            "additionalCspAllowedDomains",
            check_allowed_sources,
            f"CSP_ALLOWED_{name.upper()}",
            f"{name}.example, https://{name}.example:8443",
            [f"{name}.example", f"https://{name}.example:8443"],
        )
        for name in SOURCES
    ),
    Row("additionalCspAllowedDomains", check_forbidden_source, alone=True),
    Row("accessControlMaxAge", check_cors, "ACCESS_CONTROL_MAX_AGE", "600"),
    Row("accessControlMaxAge", check_cors_origins),
)
