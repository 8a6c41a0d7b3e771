"""The official SDK for browsers: in Node, and in Chromium on a page of another origin."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.conftest import CHROMIUM
from tests.sdk.conftest import CLIENT_TOKEN, FRONTEND_TOKEN, HERE, PROJECT
from tests.server.process import until

BUNDLE = HERE / "node_modules/unleash-proxy-client/build/main.min.js"
START = """([url, key]) => {
  window.client = new unleash.UnleashClient({
    url: `${url}/api/frontend`, clientKey: key, appName: "page", refreshInterval: 1,
    metricsInterval: 1, metricsIntervalInitial: 1, context: { userId: "7" },
  });
  return new Promise((done) => {
    client.on("ready", () => done("ready"));
    client.on("error", (error) => done(String(error.type || error)));
    client.start();
  });
}"""


def test_node_evaluates_by_context(flags, node):
    sdk = node("proxy_sdk.cjs", flags.url, FRONTEND_TOKEN)
    assert sdk.ask(do="start")["ready"] == 1
    for context, german, beta in (
        ({"userId": "7", "properties": {"country": "fr"}}, False, True),
        ({"userId": "8", "properties": {"country": "de"}}, True, False),
    ):
        assert sdk.ask(do="context", context=context)
        result = [sdk.ask(do="on", flag=name) for name in ("rollout", "nobody", "german", "beta")]
        assert result == [True, False, german, beta]
    variant = sdk.ask(do="variant", flag="color")
    assert (variant["name"], variant["payload"]["value"]) == ("red", "#f00")


def test_node_sees_a_flip_and_reports(flags, node):
    sdk = node("proxy_sdk.cjs", flags.url, FRONTEND_TOKEN)
    sdk.ask(do="start")
    assert sdk.ask(do="on", flag="rollout")
    flags.switch("rollout", on=False)
    assert sdk.ask(do="until", event="update")["update"] >= 1
    assert not sdk.ask(do="on", flag="rollout")
    until(lambda: flags.usage("rollout") == (1, 1), "metrics on the server")


def test_node_survives_a_token_of_the_wrong_kind(flags, node):
    sdk = node("proxy_sdk.cjs", flags.url, CLIENT_TOKEN)
    assert sdk.ask(do="fail")["error"] >= 1
    assert not sdk.ask(do="on", flag="rollout")


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        file = BUNDLE if self.path == "/sdk.js" else HERE / "browser_sdk.html"
        data = file.read_bytes()
        self.send_response(200)
        kind = "text/javascript" if file is BUNDLE else "text/html"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """The CORS origin of another application."""
    if not BUNDLE.exists():
        pytest.skip("the SDKs are not installed: npm install --prefix tests/sdk")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Page))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.browser
@pytest.mark.skipif(not CHROMIUM.exists(), reason=f"there is no {CHROMIUM}")
def test_chromium_sends_cross_origin_requests(flags, elsewhere, request):
    pytest.importorskip("playwright")
    context = request.getfixturevalue("chromium").new_context()
    page = context.new_page()
    page.goto(elsewhere)
    assert page.evaluate(START, [flags.url, FRONTEND_TOKEN]) == "ready"
    assert page.evaluate("client.isEnabled('beta')")
    assert not page.evaluate("client.isEnabled('german')")
    assert page.evaluate("client.getVariant('color').payload.value") == "#f00"
    flags.switch("beta", on=False)
    page.wait_for_function("!client.isEnabled('beta')")
    until(lambda: min(flags.usage("beta")) >= 1, "metrics from the page")
    assert flags.admin("GET", f"{PROJECT}/features/beta")["lastSeenAt"]
    origins = {"frontendApiOrigins": ["https://shop.example"]}
    flags.admin("POST", "/api/admin/ui-config/cors", origins)
    page.goto(elsewhere)
    assert page.evaluate(START, [flags.url, FRONTEND_TOKEN]) != "ready"
    context.close()
