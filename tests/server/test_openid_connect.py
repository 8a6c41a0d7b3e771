"""Users sign in at a real identity provider, set up by environment variables."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import urllib3

from tests.server.process import (
    ADMIN_SECRET,
    Process,
    find_free_port,
    make_database_environ,
    run_service,
)

HERE = Path(__file__).parent
CALLBACK = "/auth/oidc/callback"
# What the user enters at the provider, page by page.
ANSWERS = {"login": "eva", "password": "Correct-Horse-7", "answer": "accept"}


class Browser:
    """Cookies for each port, redirects by hand."""

    def __init__(self) -> None:
        self._http = urllib3.PoolManager(retries=False)
        self.cookies: dict[str, dict[str, str]] = {}
        self.address = ""

    def open(self, address: str, fields: dict[str, str] | None = None) -> Any:
        """The response, without following redirects."""
        self.address = address
        jar = self.cookies.setdefault(urlsplit(address).netloc, {})
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())}
        method, more = ("POST", {"fields": fields}) if fields else ("GET", {})
        if fields:
            more["encode_multipart"] = False
        answer = self._http.request(method, address, headers=headers, **more)
        for line in answer.headers.getlist("Set-Cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            jar[name] = value
            if "Max-Age=0" in line:
                del jar[name]
        return answer

    def follow(self, answer: Any) -> Any:
        """Follows redirects up to the callback with a code."""
        while answer.status in (302, 303):
            address = urllib3.util.parse_url(answer.headers["Location"]).url
            if address.startswith("/"):
                parts = urlsplit(self.address)
                address = f"{parts.scheme}://{parts.netloc}{address}"
            if urlsplit(address).path == CALLBACK:
                self.address = address
                return answer
            answer = self.open(address)
        return answer

    def sign_in_at_provider(self, answer: Any) -> str:
        """Submits each form; returns the callback URL."""
        for _ in range(5):
            if urlsplit(self.address).path == CALLBACK:
                return self.address
            page = answer.data.decode()
            names = re.findall(r'<(?:input|button)[^>]*? name="(\w+)"', page)
            fields = {name: ANSWERS[name] for name in names if name in ANSWERS}
            assert fields, page
            answer = self.follow(self.open(self.address, fields))
        raise AssertionError(f"no way back from {self.address}")


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    command = [sys.executable, str(HERE / "provider.py")]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd="/"
    )
    yield process.stdout.readline().strip()
    process.kill()
    process.communicate()


@pytest.fixture
def service(database: Any, issuer: str) -> Iterator[Process]:
    port = find_free_port()
    url = f"http://127.0.0.1:{port}"
    registration = {
        "redirect_uris": [url + CALLBACK],
        "client_name": "flags",
        "client_uri": url,
        "scope": "openid email profile",
        "grant_types": ["authorization_code"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_basic",
    }
    client = urllib3.request("POST", issuer + "/oauth/register", json=registration).json()
    environ = make_database_environ(database.options()) | {
        "HTTP_PORT": str(port),
        "HTTP_HOST": "127.0.0.1",
        "SERVICE_URL": url,
        "INIT_ADMIN_API_TOKENS": ADMIN_SECRET,
        "SERVICE_OIDC_ISSUER": issuer,
        "SERVICE_OIDC_CLIENT_ID": client["client_id"],
        "SERVICE_OIDC_CLIENT_SECRET": client["client_secret"],
        "SERVICE_OIDC_CREATE_USERS": "true",
        "SERVICE_OIDC_TRUST_EMAIL": "true",
    }
    with run_service(environ) as process:
        yield process


def test_user_signs_in_and_forged_or_replayed_requests_are_rejected(service, issuer):
    url, browser = f"http://127.0.0.1:{service.port}", Browser()
    page = browser.follow(browser.open(f"{url}/admin/segments"))
    link = re.search(r'href="(/auth/oidc\?next=[^"]+)">Sign in with', page.data.decode())
    begin = browser.open(url + link[1])
    back = browser.sign_in_at_provider(browser.follow(begin))
    cookies = dict(browser.cookies[urlsplit(url).netloc])

    for forged in (back.replace("state=", "state=x"), re.sub(r"state=[^&]*", "", back)):
        assert browser.open(forged).status == 403, forged
    assert Browser().open(back).status == 403  # another browser
    assert not session_of(browser, url)

    answer = browser.open(back)
    assert answer.status == 303, answer.data.decode().partition("<main")[2]
    assert answer.headers["Location"].endswith("/admin/segments")
    assert session_of(browser, url)
    home = browser.follow(answer)
    assert home.status == 200
    assert b"eva@example.org" in home.data

    _, users = service.request("GET", "/api/admin/user-admin")
    (eva,) = [user for user in users["users"] if user["email"] == "eva@example.org"]
    assert (eva["role"], eva["name"]) == ("Viewer", "Eva Example")

    replay = Browser()
    replay.cookies[urlsplit(url).netloc] = cookies
    # The code is used up.
    for address in (back, re.sub(r"code=[^&]*", "code=made-up", back)):
        assert replay.open(address).status == 403
    assert not session_of(replay, url)


def test_code_of_another_browser_is_rejected_by_pkce(service):
    url = f"http://127.0.0.1:{service.port}"
    first, second = Browser(), Browser()
    stolen, own = (
        browser.sign_in_at_provider(browser.follow(browser.open(f"{url}/auth/oidc")))
        for browser in (first, second)
    )
    code = re.search(r"code=([^&]*)", stolen)[1]
    answer = second.open(re.sub(r"code=[^&]*", f"code={code}", own))
    assert answer.status == 403
    assert b"oidc-code" in answer.data
    assert not session_of(second, url)
    assert second.open(own).status == 303  # its own code is still valid


def session_of(browser: Browser, url: str) -> bool:
    return "service-session" in browser.cookies.get(urlsplit(url).netloc, {})
