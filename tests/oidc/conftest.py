"""A service with the tests' own provider, and browsers that sign in with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import urlencode

import pytest
import webtest

from sigservice.application.service import Service
from sigservice.testing import FakeClock
from tests.conftest import ADMIN, MakeService
from tests.oidc_provider import CLIENT_ID, CLIENT_SECRET, TestProvider, run_server, serve_provider

URL = "http://localhost"


class Log:
    """The lines of the service, as a logger gets them. One for all tests, which share services."""

    shared_name = "oidc"

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, name: str) -> Log:
        return self

    def write(self, message: str, *args: Any) -> None:
        self.lines.append(message % args if args else message)

    debug = info = warn = error = write


LOG = Log()


class Site:
    """A service and its provider. `browser()` is another browser each time."""

    def __init__(self, service: Service, provider: TestProvider, log: Log) -> None:
        self.service, self.provider, self.log = service, provider, log
        self.web = self.browser()

    def browser(self) -> webtest.TestApp:
        return webtest.TestApp(self.service.app)

    def begin(self, web: webtest.TestApp, query: str = "") -> str:
        """The callback URL that the provider redirects to."""
        answer = web.get(f"/auth/oidc{query}", status=303)
        return self.agree(answer.headers["Location"])

    def agree(self, location: str) -> str:
        return "/auth/oidc/callback?" + urlencode(self.provider.authorize(location))

    def sign_in(self, web: webtest.TestApp | None = None, status: int = 303) -> Any:
        """The answer to the callback of a new sign-in."""
        web = web or self.browser()
        return web.get(self.begin(web), status=status)

    def refusal(self, web: webtest.TestApp | None = None, status: int = 403) -> str:
        """The error code of a sign-in that fails."""
        return read_code(self.sign_in(web, status))

    def users(self) -> dict[str, dict[str, Any]]:
        rows = self.web.get("/api/admin/user-admin", headers=ADMIN).json["users"]
        return {row["email"] or row["username"]: row for row in rows}

    def create_user(self, **body: Any) -> int:
        return self.web.post_json("/api/admin/user-admin", body, headers=ADMIN).json["id"]

    def events(self, *types: str) -> list[dict[str, Any]]:
        rows = self.web.get("/api/admin/events?limit=100", headers=ADMIN).json["events"]
        return [row for row in reversed(rows) if row["type"] in types]


def read_code(answer: Any) -> str:
    return (
        answer.html.find("code").text
        if answer.html.find("code")
        else answer.html.find("main").find_all("a")[-1].text
    )


def copy_cookie(web: webtest.TestApp, other: webtest.TestApp, name: str) -> None:
    """Gives another browser a cookie."""
    for cookie in web.cookiejar:
        if cookie.name == name:
            other.cookiejar.set_cookie(copy(cookie))


def find_login(web: webtest.TestApp) -> str | None:
    """The user that a browser is signed in as."""
    answer = web.get("/api/admin/user", status="*")
    return (
        answer.json["user"]["email"] or answer.json["user"]["username"]
        if answer.status_int == 200
        else None
    )


@pytest.fixture(scope="session")
def provider_server() -> Iterator[ThreadingHTTPServer]:
    with run_server() as server:
        yield server


@pytest.fixture
def provider(provider_server: ThreadingHTTPServer, clock: FakeClock) -> TestProvider:
    return serve_provider(provider_server, clock.now)


MakeSite = Callable[..., Site]


@pytest.fixture
def make_site(make_service: MakeService, provider: TestProvider) -> MakeSite:
    """`make_site(SERVICE_OIDC_NAME="Keycloak", …)`: by environment variables."""

    LOG.lines.clear()

    def make(**environ: str) -> Site:
        variables = {
            "SERVICE_URL": URL,
            "SERVICE_OIDC_ISSUER": provider.url,
            "SERVICE_OIDC_CLIENT_ID": CLIENT_ID,
            "SERVICE_OIDC_CLIENT_SECRET": CLIENT_SECRET,
            "SERVICE_OIDC_NAME": "Keycloak",
            "SERVICE_OIDC_LIMIT_PER_MINUTE": "1000000",
        }
        return Site(make_service({"getLogger": LOG}, variables | environ), provider, LOG)

    return make


@pytest.fixture
def site(make_site: MakeSite) -> Site:
    return make_site(SERVICE_OIDC_CREATE_USERS="true")
