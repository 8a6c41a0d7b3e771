"""Absolute addresses: SERVICE_URL's, or ours; never one that a client made up."""

from __future__ import annotations

import pytest
import webtest

from sigservice.web.links import make_own_url, make_signal_url
from tests.conftest import ADMIN, Make

PATH = "/api/admin/signal-endpoints"
MADE_UP = [
    "evil.example",
    "evil.example:80",
    "evil.example#localhost",
    "localhost.evil.example",
    "localhost@evil.example",
    "localhost:80@evil.example",
    "localhost:",
    "localhost:x",
    "localhost:123456",
    "localhost/evil",
    "localhost evil.example",
    "localhost\n",
    "LOCALHOST\x00",
    "127.0.0.1.evil.example",
    "127.0.0.1@evil.example",
    "1.2.3",
    "999.1.1.1",
    "1.2.3.4.5",
    "2130706433",
    "0x7f.1",
    "::1",
    "[::1",
    "[::1]evil.example",
    "[evil.example]",
    "[::1%25evil]",
    "\u0661.2.3.4",
    "",
    "<script>",
    '"',
]


@pytest.fixture(scope="module")
def context(temporary_database):
    """Of a service without SERVICE_URL."""
    import sigservice

    options = {"db": temporary_database.options(), "logLevel": "error"}
    service = sigservice.create(options, {})
    yield service.context
    service.stop()


def requests(host, port="4242", **more):
    return {"HTTP_HOST": host, "SERVER_PORT": port, "SERVER_NAME": "evil.example"} | more


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:4242", "127.0.0.1", "198.51.100.7:80", "[::1]", "[2001:db8::1]:4242"],
)
def test_an_address_that_was_asked_is_shown(context, host):
    assert make_own_url(context, requests(host)) == f"http://{host}"
    assert (
        make_signal_url(context, requests(host), "a-b") == f"http://{host}/api/signal-endpoint/a-b"
    )


@pytest.mark.parametrize("host", MADE_UP)
def test_a_made_up_host_is_never_shown(context, host):
    assert make_own_url(context, requests(host)) == "http://localhost:4242"


@pytest.mark.parametrize("port", ["", "<nil>", "80evil", "-1", None])
def test_without_a_port_it_is_localhost(context, port):
    assert make_own_url(context, requests("evil.example", port)) == "http://localhost"
    assert make_own_url(context, {}) == "http://localhost"


def test_forwarded_hosts_are_never_shown(context):
    forged = {
        "HTTP_X_FORWARDED_HOST": "evil.example",
        "HTTP_X_FORWARDED_PROTO": "javascript",
        "HTTP_FORWARDED": "host=evil.example",
        "HTTP_X_HOST": "evil.example",
    }
    assert make_own_url(context, requests("localhost", **forged)) == "http://localhost"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost:1", "flags.example.com"])
def test_the_configured_address_counts_whatever_was_asked(make_service, host):
    service = make_service(environ={"SERVICE_URL": "https://flags.example.com/base/"})
    url = "https://flags.example.com/base"
    assert make_own_url(service.context, requests(host)) == url
    assert make_signal_url(service.context, requests(host), "x") == f"{url}/api/signal-endpoint/x"


def test_the_base_path_is_shown(make_service):
    service = make_service(environ={"BASE_URI_PATH": "/flags"})
    assert make_own_url(service.context, requests("evil.example")) == "http://localhost:4242/flags"
    web = webtest.TestApp(service.app)
    created = web.post_json(f"/flags{PATH}", {"name": "x"}, headers=ADMIN).json
    assert created["url"].endswith("/flags/api/signal-endpoint/x")


def test_no_answer_repeats_a_made_up_host(service, cast):
    ada = cast.signed_in("ada")
    endpoint = Make(webtest.TestApp(service.app)).endpoint()
    forged = {"Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    id = endpoint["id"]
    for path in (
        "/", "/sign-in", "/profile", "/admin/signals", f"/admin/signals/{id}/setup",
        f"/admin/signals/{id}/log", "/admin/signals/new", f"{PATH}/{id}", "/nowhere",
        "/api/nowhere", "/api/admin/user", "/admin/signals//",
    ):  # fmt: skip
        answer = ada.get(path, headers=forged, expect_errors=True)
        assert "evil.example" not in answer.text, path
        # WebTest itself makes a Location absolute with the Host that it sent.
        location = answer.headers.get("Location", "").removeprefix("http://evil.example")
        assert "evil.example" not in location, path
    visitor = webtest.TestApp(service.app)
    there = visitor.get("/admin/signals", headers=forged, status=303)
    assert "evil.example" not in there.text
    assert Make(visitor).token(endpoint)["token"].startswith("signal_")
