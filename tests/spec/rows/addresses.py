"""The base path and the public URL: in every link, form, redirect, cookie and Location."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urldefrag, urljoin, urlsplit

from bs4 import BeautifulSoup

from tests.server.process import Process
from tests.spec.kit import ADMIN_SECRET, ADMIN_USER, Answer, Case, Row
from tests.waiting import DEADLINE_SECONDS

MAX_PAGES = 200


class Browser:
    """Follows the links of a site; none may lead out of `prefix`."""

    def __init__(self, port: int, prefix: str, **headers: str) -> None:
        self._port, self._prefix, self._headers = port, prefix, headers
        self._cookies: dict[str, str] = {}

    def request(self, method: str, path: str, body: str = "", **headers: str) -> Answer:
        request_headers = self._headers | headers
        if self._cookies:
            request_headers["Cookie"] = "; ".join(
                f"{name}={text}" for name, text in self._cookies.items()
            )
        if body:
            request_headers["Content-Type"] = "application/x-www-form-urlencoded"
        conn = http.client.HTTPConnection("127.0.0.1", self._port, 10)
        with closing(conn):
            conn.request(method, path, body or None, request_headers)
            reply = conn.getresponse()
            answer = Answer(reply.status, reply.headers, reply.read())
        for line in answer.headers.get_all("Set-Cookie", []):
            pair, *attributes = line.split(";")
            name, _, text = pair.partition("=")
            where = dict(item.strip().lower().partition("=")[::2] for item in attributes)
            assert where["path"] == (self._prefix or "/"), line
            self._cookies[name] = text
        if location := answer.headers["Location"]:
            self.find_path(location, path)
        return answer

    def find_path(self, address: str, page: str) -> str:
        """The path of an address on a page."""
        whole = urldefrag(urljoin(f"http://here{page}", address)).url
        assert urlsplit(whole).netloc == "here", (page, address)
        path = whole.removeprefix("http://here")
        assert path.startswith(f"{self._prefix}/") or path == self._prefix, (page, address)
        return path

    def sign_in(self, *, next_path: str = "/profile") -> Answer:
        """Signs in with the form to which `next_path` redirects; returns the redirect back."""
        redirect = self.request("GET", f"{self._prefix}{next_path}")
        assert redirect.status == 303
        form = BeautifulSoup(
            self.request("GET", redirect.headers["Location"]).body, "html.parser"
        ).form
        fields = {field["name"]: field.get("value", "") for field in form.find_all("input")}
        fields |= ADMIN_USER
        body = "&".join(f"{name}={text.replace('/', '%2F')}" for name, text in fields.items())
        return self.request("POST", self.find_path(form["action"], ""), body)

    def crawl(self, skipped: str = "nothing") -> dict[str, Answer]:
        """{path: response} of every page and file that links lead to, but for `skipped` ones."""
        pages: dict[str, Answer] = {}
        queue = [f"{self._prefix}/"]
        while queue and len(pages) < MAX_PAGES:
            path = queue.pop()
            if path in pages or skipped in path:
                continue
            pages[path] = answer = self.request("GET", path)
            if answer.status in (301, 303):
                queue.append(self.find_path(answer.headers["Location"], path))
                continue
            assert answer.status == 200, path
            if not answer.headers["Content-Type"].startswith("text/html"):
                continue
            soup = BeautifulSoup(answer.body, "html.parser")
            for attribute in ("href", "src", "action", "formaction"):
                for tag in soup.find_all(attrs={attribute: True}):
                    if "/docs/guide/" in path and tag[attribute].startswith("https://"):
                        continue  # of other sites
                    there = self.find_path(tag[attribute], path)
                    if attribute in ("href", "src"):
                        queue.append(there)
        return pages


def create_objects(case: Case, service: Process, base: str) -> list[str]:
    """Creates one object of each kind; returns their Locations and the URL for senders."""
    segment = {"name": "beta", "constraints": [{"contextName": "a", "operator": "IN"}]}
    segment["constraints"][0]["values"] = ["b"]
    token = {"tokenName": "t", "type": "client", "environment": "default", "projects": ["*"]}
    locations, endpoint = [], 0
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
        answer = case.request("POST", where, body, token=ADMIN_SECRET, service=service)
        assert answer.status in (200, 201, 202), (path, answer.body)
        if answer.headers["Location"]:
            locations.append(answer.headers["Location"])
        if path == "signal-endpoints":
            endpoint = answer.json["id"]
            locations.append(urlsplit(answer.json["url"]).path)
    assert len(locations) > 5
    return locations


def check_base_path(case: Case) -> None:
    base = case.value
    service = case.start()
    assert f"127.0.0.1:{service.port}{base}" in service.stdout.replace("localhost", "127.0.0.1")
    assert all(
        location.startswith(f"{base}/api/") for location in create_objects(case, service, base)
    )
    browser = Browser(service.port, base)
    assert browser.sign_in().headers["Location"] == f"{base}/profile"
    pages = list(browser.crawl())
    assert len(pages) > 40
    api = [f"{base}{path}" for path in ("/health", "/ready", "/internal-backstage/prometheus")]
    for path in api:
        assert browser.request("GET", path).status == 200
    rejection = case.request("GET", f"{base}/api/admin/user", service=service)
    assert rejection.json["path"].startswith(f"{base}/")
    for path in [*pages[::10], *api]:
        for outside in (path.removeprefix(base) or "/", f"/x{path}", f"{base}x"):
            assert browser.request("GET", outside).status == 404, outside
    page = BeautifulSoup(browser.request("GET", f"{base}/profile").body, "html.parser")
    (form,) = (it for it in page.find_all("form") if it["action"] == f"{base}/logout")
    token = form.find("input", attrs={"name": "csrf"})["value"]
    signed_out = browser.request("POST", f"{base}/logout", f"csrf={token}")
    assert signed_out.headers["Location"].startswith(f"{base}/")


@contextmanager
def run_path_removing_proxy(service: Process, removed: str) -> Iterator[int]:
    """A reverse proxy that reports TLS in X-Forwarded-Proto and removes a path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.path.startswith(f"{removed}/"):
                return self.send_error(502)
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            headers = dict(self.headers) | {"X-Forwarded-Proto": "https"}
            with closing(http.client.HTTPConnection("127.0.0.1", service.port, 10)) as conn:
                conn.request(self.command, self.path.removeprefix(removed), body, headers)
                answer = conn.getresponse()
                data = answer.read()
            self.send_response_only(answer.status)
            for name, text in answer.headers.items():
                if name not in ("Transfer-Encoding", "Content-Length"):
                    self.send_header(name, text)
            self.send_header("Content-Length", str(len(data)))
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


def check_public_url(case: Case) -> None:
    """URLs for others never use the Host header. Cookies are Secure for https."""
    headers = {"Host": "evil.example", "service": case.start(), "token": ADMIN_SECRET}
    response = case.request("POST", "/api/admin/signal-endpoints", {"name": "public"}, **headers)
    assert response.json["url"] == f"{PUBLIC}/api/signal-endpoint/public"
    assert case.request("GET", "/api/admin/ui-config", **headers).json["unleashUrl"] == PUBLIC
    page = case.request("GET", "/sign-in", **headers)
    assert "; secure" in page.headers["Set-Cookie"].lower()
    assert "evil" not in response.text + page.text + str(response.headers) + str(page.headers)


def check_proxy_that_removes_path(case: Case) -> None:
    """Links have the path of SERVICE_URL, whatever path the proxy removes."""
    service = case.start({"BASE_URI_PATH": "/own", "SERVICE_URL": "https://flags.example/sub/own"})
    locations = create_objects(case, service, "/own")
    assert all(location.startswith("/sub/own/api/") for location in locations)
    with run_path_removing_proxy(service, "/sub") as port:
        browser = Browser(port, "/sub/own", Host="flags.example")
        signed_in = browser.sign_in()
        assert signed_in.headers["Location"] == "/sub/own/profile"
        assert "; secure" in signed_in.headers["Set-Cookie"].lower()
        assert len(browser.crawl(skipped="/docs/")) > 25
        for origin, status in (("https://flags.example", 403), ("https://evil.example", 403)):
            answer = browser.request("POST", "/sub/own/logout", "csrf=x", Origin=origin)
            assert answer.status == status
            is_foreign = "came from another site" in answer.text
            assert is_foreign == (origin == "https://evil.example")


def check_forwarded_scheme(case: Case) -> None:
    """X-Forwarded-Proto is used only from the trusted proxy."""
    service = case.start(case.services.reused_environ | {"SERVICE_TRUSTED_PROXY": "127.0.9.1"})
    for address, is_secure in (("127.0.9.1", True), ("127.0.9.2", False)):
        more = {"service": service, "address": address, "X_Forwarded_Proto": "https"}
        cookie = case.request("GET", "/sign-in", **more).headers["Set-Cookie"]
        assert ("; secure" in cookie.lower()) == is_secure
        url = case.admin("GET", "/api/admin/ui-config", **more)["unleashUrl"]
        assert url.startswith("https:") == is_secure


ROWS = (
    Row("server.unleashUrl", check_public_url, "SERVICE_URL", f"{PUBLIC}/", PUBLIC, alone=True),
    Row("server.unleashUrl", check_proxy_that_removes_path, alone=True),
    Row("server.unleashUrl", check_forwarded_scheme, alone=True),
    Row(
        "server.baseUriPath",
        check_base_path,
        "BASE_URI_PATH",
        "flags//of/",
        "/flags/of",
        alone=True,
    ),
)
