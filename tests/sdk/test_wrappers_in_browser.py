"""The official wrappers for web pages in Chromium, on a page of another origin."""

from __future__ import annotations

import http.server
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import CHROMIUM
from tests.sdk.conftest import FRONTEND_TOKEN, HERE
from tests.waiting import until

ESBUILD = HERE / "node_modules/.bin/esbuild"
# Next.js brings a `buffer` of its own, and isn't in the page.
OPTIONS = ("--bundle", "--external:buffer", '--define:process.env.NODE_ENV="production"')

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"there is no {CHROMIUM}"),
]


class _Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The origin of a page with the wrappers."""
    if shutil.which("node") is None or not ESBUILD.exists():
        pytest.skip("the SDKs are not installed: npm install --prefix tests/sdk")
    folder: Path = tmp_path_factory.mktemp("page")
    command = [str(ESBUILD), "wrappers_page.mjs", *OPTIONS, f"--outfile={folder}/page.js"]
    subprocess.run(command, cwd=HERE, check=True, capture_output=True)
    (folder / "index.html").write_text('<!DOCTYPE html><body><script src="/page.js"></script>')
    handler = partial(_Files, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def page(chromium, elsewhere):
    context = chromium.new_context()
    page = context.new_page()
    page.goto(elsewhere)
    yield page
    context.close()


@pytest.mark.parametrize("wrapper", ["react", "vue"])
def test_a_component_shows_flags_and_reports(flags, page, wrapper):
    assert page.evaluate("(values) => run(...values)", [wrapper, flags.url, FRONTEND_TOKEN])
    page.get_by_text("beta true, color red #f00").wait_for()
    page.evaluate("commands.context({ context: { userId: '8' } })")
    page.get_by_text("beta false").wait_for()
    flags.switch("color", on=False)
    page.get_by_text("color disabled undefined").wait_for()
    until(lambda: min(flags.usage("beta")) >= 1, "metrics on the server")


def test_the_openfeature_provider(flags, page):
    assert page.evaluate("(values) => run(...values)", ["openfeature", flags.url, FRONTEND_TOKEN])
    is_on = partial(page.evaluate, "commands.boolean({ flag: 'beta' })")
    assert is_on()
    assert page.evaluate("commands.string({ flag: 'color' })") == "#f00"
    flags.switch("beta", on=False)
    until(lambda: not is_on(), "the next poll")
    until(lambda: min(flags.usage("beta")) >= 1, "metrics on the server")
