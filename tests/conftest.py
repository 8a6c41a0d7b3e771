"""One throw-away PostgreSQL for the run, a service for each test, emptied tables between."""

from __future__ import annotations

import gc
import json
import os
import pwd
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import webtest

import sigservice
from sigservice.application.service import Service
from sigservice.db.data_directory import ACCOUNTS
from sigservice.errors import UnavailableError
from sigservice.testing import FakeClock, QuickPasswords, TemporaryDatabase
from tests.repository.kit import run
from tests.saved_rows import SavedRows
from tests.waiting import DEADLINE_SECONDS

pytest.register_assert_rewrite("tests.senders.kit")
pytest_plugins = ["tests.external", "tests.repeated", "tests.soup"]

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WAITING = ("tests/spec/", "tests/server/", "tests/browser/", "tests/sdk/")
SEEDED_BY = ("authentication", "environmentEnableOverrides")  # the options that decide first rows
ADMIN_TOKEN = "*:*.test-admin-token"
ENCRYPTION_KEY = "dGVzdC10ZXN0LXRlc3QtdGVzdC10ZXN0LXRlc3QtMTI="
ADMIN = {"Authorization": f"Bearer {ADMIN_TOKEN}"}


def pytest_configure(config: pytest.Config) -> None:
    """As root, PostgreSQL needs an account that runs it: the one that the README says to make."""
    is_first = not hasattr(config, "workerinput")
    if is_first and os.geteuid() == 0 and not any(map(_is_account, ACCOUNTS)):
        subprocess.run(["useradd", "--system", ACCOUNTS[0]], check=True)
    if not is_first or signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        # Processes that tests start would ignore it too under nohup, but they don't get a handler.
        signal.signal(signal.SIGHUP, lambda *_: None)


def _is_account(name: str) -> bool:
    try:
        return bool(pwd.getpwnam(name))
    except KeyError:
        return False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files whose tests mostly wait go first, so that two processes end at the same time."""
    items.sort(key=lambda item: not item.nodeid.startswith(WAITING))


def pytest_collection() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    """Thousands of collected tests live to the end; the collector need not go through them. Parsed
    pages make so many objects that it would run all the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    gc.enable()


def pytest_sessionfinish() -> None:
    """pytest collects five times at the end; once is enough for what tests have left."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many rows of the specification hold: those whose checks all passed."""
    reports = [
        (dict(report.user_properties).get("row"), report.outcome)
        for group in terminalreporter.stats.values()
        for report in group
        if isinstance(report, pytest.TestReport)
    ]
    claimed = {row for row, _ in reports if row}
    if claimed:
        holding = claimed - {row for row, outcome in reports if outcome != "passed"}
        terminalreporter.write_line(
            f"specification: {len(holding)} of {len(claimed)} rows hold from outside"
        )


@pytest.fixture(scope="session")
def temporary_database() -> Iterator[TemporaryDatabase]:
    with TemporaryDatabase() as database:
        supervisor = database._server._supervisor
        yield database
    if supervisor:  # it may delete files for longer than a service waits for its end
        supervisor.wait(DEADLINE_SECONDS)


@pytest.fixture
def database(temporary_database: TemporaryDatabase) -> TemporaryDatabase:
    """The run's database, with empty tables (once they exist)."""
    temporary_database.empty()
    return temporary_database


@pytest.fixture
def rows(database: TemporaryDatabase) -> Iterator[Callable[..., list[tuple[Any, ...]]]]:
    """`rows(statement, …)`: the result of a statement of the test's own, [] when it has none."""

    def ask(statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return run(conn, statement, *values)

    with closing(database.connect()) as conn:
        yield ask


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


MakeService = Callable[..., Service]


class Services:
    """The services of a test run. Creating one takes longer than most tests, so those with the same
    settings are reset (sigservice.testing.reset) for the next test that wants one."""

    MAX_REUSABLE = 4

    def __init__(self, database: TemporaryDatabase) -> None:
        self._database = database
        self._reusable: dict[str, Service] = {}
        self._seeds: dict[str, SavedRows] = {}
        self._keys_of_seeds: set[str] = set()

    def find_or_create(
        self, settings: dict[str, Any], environ: dict[str, str], clock: FakeClock
    ) -> Service:
        """A service without requests so far, on the rows that are stored now."""
        key = _make_key(settings, environ)
        service = self._reusable.pop(key, None)
        with self._seed(settings, environ) as is_seeded:
            if service is not None:
                try:
                    service.reset(clock, is_seeded=is_seeded)
                    with service.context.database.autocommit():
                        return service
                except (RuntimeError, UnavailableError):  # the test before has stopped a part of it
                    service.stop()
            return sigservice.create(settings, environ, clock=clock, passwords=QuickPasswords())

    @contextmanager
    def _seed(self, settings: dict[str, Any], environ: dict[str, str]) -> Iterator[bool]:
        """Brings back the rows that a new service makes in empty tables, which takes a fifth of
        the time; saves them when they are made for the second time, because most settings occur
        once and saving takes longer than making them."""
        use, is_here = self._database.use_connection, settings["db"] == self._database.options()
        relevant = {name: settings.get(name) for name in SEEDED_BY}
        has_other_database = any(name.startswith("DATABASE") for name in environ)
        key = _make_key(relevant, environ) if is_here and not has_other_database else ""
        rows = self._seeds.get(key)
        has_to_save = key in self._keys_of_seeds and rows is None and not use(SavedRows)
        if key:
            self._keys_of_seeds.add(key)
        yield rows is not None and use(rows.insert)
        if has_to_save:
            self._seeds[key] = use(partial(SavedRows, are_made_now=True))

    def keep(self, service: Service, settings: dict[str, Any], environ: dict[str, str]) -> None:
        key = _make_key(settings, environ)
        if not key or key in self._reusable or service.was_started:
            service.stop()
            return
        self._reusable[key] = service
        if len(self._reusable) > self.MAX_REUSABLE:
            self._reusable.pop(next(iter(self._reusable))).stop()

    def stop(self) -> None:
        for service in self._reusable.values():
            service.stop()


def _make_key(settings: dict[str, Any], environ: dict[str, str]) -> str:
    """ "" for settings with functions, which may hold a state of their own. An object that all
    tests share has a `shared_name`."""
    libpq = {name: text for name, text in os.environ.items() if name.startswith("PG")}
    try:
        return json.dumps(
            [settings, environ, libpq], sort_keys=True, default=lambda value: value.shared_name
        )
    except AttributeError:
        return ""


@pytest.fixture(scope="session")
def services(temporary_database: TemporaryDatabase) -> Iterator[Services]:
    services = Services(temporary_database)
    yield services
    services.stop()


@pytest.fixture
def make_service(
    database: TemporaryDatabase, clock: FakeClock, services: Services
) -> Iterator[MakeService]:
    """`make_service(options, environ)`: a service on the run's database and the fake clock."""
    services_of_test: list[tuple[Service, dict[str, Any], dict[str, str]]] = []

    def make(
        options: dict[str, Any] | None = None, environ: dict[str, str] | None = None
    ) -> Service:
        defaults = {
            "db": database.options(),
            "logLevel": "error",
            "authentication": {
                "initialAdminUser": {"username": "ada", "password": "Correct-Horse-7"},
                "initApiTokens": [
                    {"type": "admin", "secret": ADMIN_TOKEN, "environment": "*", "project": "*"}
                ],
            },
        }
        environ = environ or {}
        if "SERVICE_ENCRYPTION_KEY_FILE" not in environ and "dataDir" not in (options or {}):
            environ = {"SERVICE_ENCRYPTION_KEY": ENCRYPTION_KEY} | environ
        settings = defaults | (options or {})
        service = services.find_or_create(settings, environ, clock)
        services_of_test.append((service, settings, environ))
        return service

    yield make
    for service, settings, environ in services_of_test:
        services.keep(service, settings, environ)


@pytest.fixture
def service(make_service: MakeService) -> Service:
    return make_service()


@pytest.fixture
def web(service: Service) -> webtest.TestApp:
    """The service without credentials; send `headers=ADMIN` for the admin API."""
    return webtest.TestApp(service.app)


def sign_in_by_json(service: Service, name: str) -> webtest.TestApp:
    """A browser with a session of this user, in half the time of the form. `.csrf` is the token of
    its forms."""
    web = webtest.TestApp(service.app)
    body = {"username": name, "password": Cast.PASSWORD}
    web.csrf = web.post_json("/auth/simple", body).json["csrfToken"]
    return web


class Cast:
    """Ada is an admin, Ed an editor, Vera a viewer; all have the same password."""

    PASSWORD = "Correct-Horse-7"

    def __init__(self, service: Service) -> None:
        self._service = service
        web = webtest.TestApp(service.app)
        for name, role in (("ed", "Editor"), ("vera", "Viewer")):
            body = {"username": name, "rootRole": role, "password": self.PASSWORD}
            web.post_json("/api/admin/user-admin", body, headers=ADMIN)

    def signed_in(self, name: str) -> webtest.TestApp:
        return sign_in_by_json(self._service, name)


@pytest.fixture
def cast(service: Service) -> Cast:
    return Cast(service)


class Make:
    """The smallest valid things, made through the admin API."""

    def __init__(self, web: webtest.TestApp) -> None:
        self._web = web

    def endpoint(self, name: str = "deploys", **more: Any) -> dict[str, Any]:
        body = {"name": name, **more}
        return self._web.post_json("/api/admin/signal-endpoints", body, headers=ADMIN).json

    def token(self, endpoint: dict[str, Any], name: str = "ci") -> dict[str, Any]:
        path = f"/api/admin/signal-endpoints/{endpoint['id']}/tokens"
        return self._web.post_json(path, {"name": name}, headers=ADMIN).json


@pytest.fixture
def make(web: webtest.TestApp) -> Make:
    return Make(web)


@pytest.fixture
def alerts(service: Service, web: webtest.TestApp, make: Make) -> Any:
    from tests.actions_kit import Alerts

    return Alerts(service, web, make)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for the run: playwright starts once in a process."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        browser.close()
