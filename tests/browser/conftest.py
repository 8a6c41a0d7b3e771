"""A listening service and Debian's Chromium."""

from __future__ import annotations

import importlib.util
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import webtest

import sigservice
from sigservice.application.service import Service
from sigservice.testing import TemporaryDatabase
from tests.conftest import ADMIN_TOKEN, CHROMIUM, Cast
from tests.pages.flags import Flags
from tests.waiting import DEADLINE_SECONDS


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips browser tests, with a reason, if there is no browser."""
    reason = ""
    if importlib.util.find_spec("playwright") is None:
        reason = "the Python package playwright is not installed"
    elif not CHROMIUM.exists():
        reason = f"there is no {CHROMIUM} (Debian package chromium)"
    for item in items:
        if reason and item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def expect() -> Any:
    """playwright's `expect`, with the time limit of our tests."""
    from playwright.sync_api import expect

    expect.set_options(timeout=DEADLINE_SECONDS * 1000)
    return expect


@pytest.fixture
def service(database: TemporaryDatabase) -> Iterator[Service]:
    """A service on a free port with the real clock and hardly any limit on signals."""
    options = {
        "db": database.options(),
        "logLevel": "error",
        "server": {"host": "127.0.0.1", "port": 0, "gracefulShutdownEnable": False},
        "signals": {"maxPerSecond": 1000},
        "authentication": {
            "initialAdminUser": {"username": "ada", "password": Cast.PASSWORD},
            "initApiTokens": [
                {"type": "admin", "secret": ADMIN_TOKEN, "environment": "*", "project": "*"}
            ],
        },
    }
    service = sigservice.start(options, {})
    yield service
    service.stop()


@pytest.fixture
def tab(chromium: Any, service: Service) -> Iterator[Callable[..., Any]]:
    """`tab("ada", color_scheme="dark")`: a page of a fresh browser profile, signed in if named.

    `page.complaints` gathers the messages of console, policy and failing scripts.
    """
    contexts = []

    def new(name: str = "", **options: Any) -> Any:
        context = chromium.new_context(base_url=service.url, **options)
        context.set_default_timeout(DEADLINE_SECONDS * 1000)
        contexts.append(context)
        if name:
            web = webtest.TestApp(service.app)
            web.post_json("/auth/simple", {"username": name, "password": Cast.PASSWORD})
            value = web.cookies["service-session"]
            context.add_cookies([{"name": "service-session", "value": value, "url": service.url}])
        page = context.new_page()
        page.complaints = []
        page.on("console", lambda line: _note(page.complaints, line))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        return page

    yield new
    for context in contexts:
        context.close()


def _note(complaints: list[str], line: Any) -> None:
    """Ignores the statuses of error pages that a test visits."""
    if line.type in ("error", "warning") and "the server responded with a status" not in line.text:
        complaints.append(f"{line.type}: {line.text}")


@pytest.fixture
def flags(web: webtest.TestApp) -> Flags:
    return Flags(web)


@pytest.fixture
def call(service: Service) -> Callable[..., int]:
    """`call(name, secret, payload)`: the status that a sender gets over HTTP."""

    def post(name: str, secret: str, payload: Any) -> int:
        request = urllib.request.Request(
            f"{service.url}/api/signal-endpoint/{name}",
            json.dumps(payload).encode(),
            {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"},
            method="POST",
        )
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    return post
