"""The base path and the public address: in every link, form, redirect, cookie and Location."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urldefrag, urljoin, urlsplit

from bs4 import BeautifulSoup

from tests.server.process import Process
from tests.spec.kit import ADMIN_SECRET, ADMIN_USER, Answer, Asked, Row
from tests.waiting import DEADLINE_SECONDS

MOST_PAGES = 200


class Browser:
    """Walks over a site at a port; nothing it is given may lead out of `prefix`."""

    def __init__(self, port: int, prefix: str, **headers: str) -> None:
        self._port, self._prefix, self._headers = port, prefix, headers
        self._cookies: dict[str, str] = {}

    def ask(self, method: str, path: str, body: str = "", **headers: str) -> Answer:
        sent = self._headers | headers
        if self._cookies:
            sent["Cookie"] = "; ".join(f"{name}={text}" for name, text in self._cookies.items())
        if body:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        conn = http.client.HTTPConnection("127.0.0.1", self._port, 10)
        with closing(conn):
            conn.request(method, path, body or None, sent)
            got = conn.getresponse()
            answer = Answer(got.status, got.headers, got.read())
        for line in answer.headers.get_all("Set-Cookie", []):
            pair, *attributes = line.split(";")
            name, _, text = pair.partition("=")
            where = dict(item.strip().lower().partition("=")[::2] for item in attributes)
            assert where["path"] == (self._prefix or "/"), line
            self._cookies[name] = text
        if location := answer.headers["Location"]:
            self.below(location, path)
        return answer

    def below(self, address: str, page: str) -> str:
        """The path that an address on a page leads to."""
        whole = urldefrag(urljoin(f"http://here{page}", address)).url
        assert urlsplit(whole).netloc == "here", (page, address)
        path = whole.removeprefix("http://here")
        assert path.startswith(f"{self._prefix}/") or path == self._prefix, (page, address)
        return path

    def sign_in(self, *, next_path: str = "/profile") -> Answer:
        """By the form to which a stranger is sent; returns the redirect to where he wanted."""
        asked = self.ask("GET", f"{self._prefix}{next_path}")
        assert asked.status == 303
        form = BeautifulSoup(self.ask("GET", asked.headers["Location"]).body, "html.parser").form
        fields = {field["name"]: field.get("value", "") for field in form.find_all("input")}
        fields |= ADMIN_USER
        body = "&".join(f"{name}={text.replace('/', '%2F')}" for name, text in fields.items())
        return self.ask("POST", self.below(form["action"], ""), body)

    def crawl(self) -> dict[str, Answer]:
        """Every page and file that links lead to, each by its path."""
        found: dict[str, Answer] = {}
        waiting = [f"{self._prefix}/"]
        while waiting and len(found) < MOST_PAGES:
            path = waiting.pop()
            if path in found:
                continue
            found[path] = answer = self.ask("GET", path)
            assert answer.status == 200, path
            if not answer.headers["Content-Type"].startswith("text/html"):
                continue
            soup = BeautifulSoup(answer.body, "html.parser")
            for attribute in ("href", "src", "action", "formaction"):
                for tag in soup.find_all(attrs={attribute: True}):
                    there = self.below(tag[attribute], path)
                    if attribute in ("href", "src"):
                        waiting.append(there)
        return found


def fill(asked: Asked, service: Process, base: str) -> list[str]:
    """One thing of each kind; returns the Locations of what was made, and senders' address."""
    segment = {"name": "beta", "constraints": [{"contextName": "a", "operator": "IN"}]}
    segment["constraints"][0]["values"] = ["b"]
    token = {"tokenName": "t", "type": "client", "environment": "default", "projects": ["*"]}
    made, endpoint = [], 0
    for path, body in (
        ("signal-endpoints", {"name": "deploys"}),
        ("signal-endpoints/{endpoint}/tokens", {"name": "ci"}),
        ("projects/default/features", {"name": "checkout"}),
        ("segments", segment),
        ("api-tokens", token),
        ("context", {"name": "plan"}),
        ("environments", {"name": "staging", "type": "test"}),
        ("projects", {"id": "shop", "name": "Shop"}),
        ("signal-endpoints/{endpoint}/test-signal", {"payload": {"n": 1}}),
    ):
        where = f"{base}/api/admin/{path.format(endpoint=endpoint)}"
        answer = asked.ask("POST", where, body, token=ADMIN_SECRET, service=service)
        assert answer.status in (200, 201, 202), (path, answer.body)
        if answer.headers["Location"]:
            made.append(answer.headers["Location"])
        if path == "signal-endpoints":
            endpoint = answer.json["id"]
            made.append(urlsplit(answer.json["url"]).path)
    assert len(made) > 5
    return made


def base_path(asked: Asked) -> None:
    base = asked.value
    if not base:
        return no_base_path(asked)
    service = asked.start()
    assert f"127.0.0.1:{service.port}{base}" in service.stdout.replace("localhost", "127.0.0.1")
    assert all(location.startswith(f"{base}/api/") for location in fill(asked, service, base))
    browser = Browser(service.port, base)
    assert browser.sign_in().headers["Location"] == f"{base}/profile"
    pages = list(browser.crawl() if asked.way == "environment" else [f"{base}/profile"])
    assert asked.way == "code" or len(pages) > 40
    api = [f"{base}{path}" for path in ("/health", "/ready", "/internal-backstage/prometheus")]
    for path in api:
        assert browser.ask("GET", path).status == 200
    refused = asked.ask("GET", f"{base}/api/admin/user", service=service)
    assert refused.json["path"].startswith(f"{base}/")
    for path in [*pages, *api]:
        for outside in (path.removeprefix(base) or "/", f"/x{path}", f"{base}x"):
            assert browser.ask("GET", outside).status == 404, outside
    page = BeautifulSoup(browser.ask("GET", f"{base}/profile").body, "html.parser")
    (form,) = (it for it in page.find_all("form") if it["action"] == f"{base}/logout")
    token = form.find("input", attrs={"name": "csrf"})["value"]
    left = browser.ask("POST", f"{base}/logout", f"csrf={token}")
    assert left.headers["Location"].startswith(f"{base}/")


def no_base_path(asked: Asked) -> None:
    service = asked.services.shared("default", asked.rows)
    browser = Browser(service.port, "")
    assert browser.sign_in().headers["Location"] == "/profile"
    assert browser.ask("GET", "/health").status == 200


@contextmanager
def cutting_proxy(service: Process, cut: str) -> Iterator[int]:
    """A reverse proxy that ends TLS for its clients, as it says, and cuts off a path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.path.startswith(f"{cut}/"):
                return self.send_error(502)
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            headers = dict(self.headers) | {"X-Forwarded-Proto": "https"}
            with closing(http.client.HTTPConnection("127.0.0.1", service.port, 10)) as conn:
                conn.request(self.command, self.path.removeprefix(cut), body, headers)
                answer = conn.getresponse()
                data = answer.read()
            self.send_response_only(answer.status)
            for name, text in answer.headers.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET

        def log_message(self, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join(DEADLINE_SECONDS)
    server.server_close()


PUBLIC = "https://flags.example/sub"


def public_address(asked: Asked) -> None:
    """What is shown to others; the Host header is not believed. Cookies are Secure for https."""
    own = asked.services.shared("default", asked.rows) if asked.value is None else asked.start()
    shown = asked.value or f"http://localhost:{own.port}"
    headers = {"Host": "evil.example", "service": own, "token": ADMIN_SECRET}
    name = f"public-{asked.way}"
    made = asked.ask("POST", "/api/admin/signal-endpoints", {"name": name}, **headers)
    try:
        assert made.json["url"] == f"{shown}/api/signal-endpoint/{name}"
        assert asked.ask("GET", "/api/admin/ui-config", **headers).json["unleashUrl"] == shown
        page = asked.ask("GET", "/sign-in", **headers)
        is_secure = "; secure" in page.headers["Set-Cookie"].lower()
        assert is_secure == shown.startswith("https:")
        assert "evil" not in made.text + page.text + str(made.headers) + str(page.headers)
    finally:
        path = f"/api/admin/signal-endpoints/{made.json['id']}"
        asked.admin("DELETE", path, service=own)


def behind_a_proxy_that_cuts(asked: Asked) -> None:
    """The path of SERVICE_URL is where browsers are, whatever the proxy in front cuts off."""
    service = asked.start({"BASE_URI_PATH": "/own", "SERVICE_URL": "https://flags.example/sub/own"})
    made = fill(asked, service, "/own")
    assert all(location.startswith("/sub/own/api/") for location in made)
    with cutting_proxy(service, "/sub") as port:
        browser = Browser(port, "/sub/own", Host="flags.example")
        signed_in = browser.sign_in()
        assert signed_in.headers["Location"] == "/sub/own/profile"
        assert "; secure" in signed_in.headers["Set-Cookie"].lower()
        assert len(browser.crawl()) > 40
        for origin, status in (("https://flags.example", 403), ("https://evil.example", 403)):
            answer = browser.ask("POST", "/sub/own/logout", "csrf=x", Origin=origin)
            assert answer.status == status
            is_foreign = "came from another site" in answer.text
            assert is_foreign == (origin == "https://evil.example")


def forwarded_scheme(asked: Asked) -> None:
    """X-Forwarded-Proto counts from the proxy that is named, from nobody else."""
    service = asked.start(asked.services.used | {"SERVICE_TRUSTED_PROXY": "127.0.9.1"})
    for address, is_secure in (("127.0.9.1", True), ("127.0.9.2", False)):
        more = {"service": service, "address": address, "X_Forwarded_Proto": "https"}
        cookie = asked.ask("GET", "/sign-in", **more).headers["Set-Cookie"]
        assert ("; secure" in cookie.lower()) == is_secure
        shown = asked.admin("GET", "/api/admin/ui-config", **more)["unleashUrl"]
        assert shown.startswith("https:") == is_secure


ROWS = (
    Row("server.unleashUrl", public_address, "SERVICE_URL", None, f"{PUBLIC}/", PUBLIC,
        code="http://in-code.example:8080", alone=True),
    Row("server.unleashUrl", behind_a_proxy_that_cuts, alone=True),
    Row("server.unleashUrl", forwarded_scheme, alone=True),
    Row("server.baseUriPath", base_path, "BASE_URI_PATH", "", "flags//of/", "/flags/of",
        code="/in-code", alone=True),
)  # fmt: skip
