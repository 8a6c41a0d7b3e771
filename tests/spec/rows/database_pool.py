"""The pool: how many sessions there are, how long idle ones stay, what waits, what outlives a
restart of the database. pg_stat_activity is asked, by the application name."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from contextlib import closing

from tests.server.process import Process, until
from tests.spec.database_fixtures import PARTS, Site, open_site
from tests.spec.kit import ADMIN_SECRET, Answer, Case, Row

NAMES = {"default": "service", "environment": PARTS["DATABASE_APPLICATION_NAME"]}
DATABASES = {"default": "service", "environment": "parts"}
SCHEMAS = {"default": "public", "environment": PARTS["DATABASE_SCHEMA"]}
MAXIMUM = int(PARTS["DATABASE_POOL_MAX"])


class Crowd:
    """Requests at the same time that a lock of the test's own makes wait in the database."""

    def __init__(self, case: Case, service: Process, requests: int) -> None:
        self._requested, self._service = case, service
        self.responses: list[Answer] = []
        self._threads = [threading.Thread(target=self._request) for _ in range(requests)]

    def run_behind_lock(self, site: Site, is_enough: Callable[[], bool]) -> float:
        """Holds the lock until it is enough; asks on until all are answered. Returns how long the
        lock was held."""
        way = self._requested.row.way
        with closing(site.server.connect(DATABASES[way])) as conn, conn.cursor() as cursor:
            conn.autocommit = False
            cursor.execute(f'LOCK TABLE "{SCHEMAS[way]}".context_fields')
            started_at = time.monotonic()
            for thread in self._threads:
                thread.start()
            until(is_enough, "requests that wait for the lock")
            conn.rollback()
            seconds = time.monotonic() - started_at
        while any(thread.is_alive() for thread in self._threads):
            is_enough()
        is_enough()
        return seconds

    def _request(self) -> None:
        path = "/api/admin/context"
        self.responses.append(
            self._requested.request("GET", path, token=ADMIN_SECRET, service=self._service)
        )


def count_sessions(site: Site, way: str) -> int:
    return len(
        site.list_sessions("pid", application_name=NAMES[way], backend_type="client backend")
    )


def read_metric(case: Case, service: Process, name: str) -> float:
    text = case.request("GET", "/internal-backstage/prometheus", service=service).text
    match = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(match[1]) if match else 0.0


def wait_for_evictions(case: Case, service: Process) -> None:
    """Returns when the job that ends idle sessions has run twice."""
    name = 'scheduler_duration_seconds_count{jobId="connections"}'
    enough = read_metric(case, service, name) + 2
    until(lambda: read_metric(case, service, name) >= enough, "two looks at idle sessions")


def check_minimum(case: Case) -> None:
    """It is there before any request and after idling."""
    site = case.services.open_once(open_site)
    service = site.service("environment")
    until(lambda: count_sessions(site, "environment") >= 1, "the minimum")
    wait_for_evictions(case, service)
    assert count_sessions(site, "environment") >= 1


def check_maximum(case: Case) -> None:
    """A crowd of twelve waits, for the database and for its connections; nobody is refused."""
    site = case.services.open_once(open_site)
    service, counts = site.service("environment"), [0]

    def all_are_there() -> bool:
        counts.append(count_sessions(site, "environment"))
        return counts[-1] == MAXIMUM

    def is_in_time() -> bool:
        crowd = Crowd(case, service, 12)
        seconds = crowd.run_behind_lock(site, all_are_there)
        return seconds < 1.9 and {answer.status for answer in crowd.responses} == {200}

    until(is_in_time, "a crowd that waits for less than 2 s, on a busy machine too")
    assert max(counts) == MAXIMUM


def check_idle_timeout(case: Case) -> None:
    """All but the minimum end within a second."""
    site = case.services.open_once(open_site)
    crowd = Crowd(case, site.service("environment"), MAXIMUM)
    crowd.run_behind_lock(site, lambda: count_sessions(site, "environment") == MAXIMUM)
    until(lambda: count_sessions(site, "environment") == 1, "the end of idle sessions")


def check_exhausted_pool(case: Case) -> None:
    """A request that waits more than 2 s for a lock or connection is answered 503."""
    site = case.services.open_once(open_site)
    service = site.service("default")
    crowd = Crowd(case, service, 16)

    def find_rejections() -> list[Answer]:
        return [answer for answer in crowd.responses if answer.status != 200]

    def has_both() -> bool:
        assert count_sessions(site, "default") <= 4
        return len({answer.json["message"] for answer in find_rejections()}) == 2

    crowd.run_behind_lock(site, has_both)
    for answer in find_rejections():
        assert answer.status == 503
        assert answer.headers["Retry-After"] == "1"
        assert answer.json.keys() == {"id", "name", "message", "details"}
        assert answer.json["name"] == "UnavailableError"
    messages = {answer.json["message"] for answer in find_rejections()}
    assert messages == {
        "The service is busy. Try again.",
        "The database is not available. Try again.",
    }
    case.admin("GET", "/api/admin/context", service=service)


def check_restart_of_database(case: Case) -> None:
    """After a restart nobody notices the dead connections; while it is away there is a 503, and a
    service that starts waits."""
    site = case.services.open_once(open_site)
    services = [site.service(way) for way in NAMES]
    site.server.stop()
    site.server.start()
    for service in services:
        case.admin("GET", "/api/admin/context", service=service)
    site.server.stop()
    away = case.request("GET", "/api/admin/context", token=ADMIN_SECRET, service=services[0])
    assert (away.status, away.headers["Retry-After"]) == (503, "1")
    assert case.request("GET", "/ready", service=services[0]).status == 503
    assert case.request("GET", "/health", service=services[0]).status == 200
    patient = site.start_service({"DATABASE_PORT": str(site.server.port)})
    until(lambda: "waiting for the database: connection" in patient.stderr, "the warning")
    site.server.start()
    for service in services:
        case.admin("GET", "/api/admin/context", service=service)
    patient.wait_for_address().close()


ROWS = (
    Row("db.pool.min", check_minimum, "DATABASE_POOL_MIN", alone=True),
    Row("db.pool.max", check_maximum, "DATABASE_POOL_MAX", alone=True),
    Row(
        "db.pool.idleTimeoutMillis", check_idle_timeout, "DATABASE_POOL_IDLE_TIMEOUT_MS", alone=True
    ),
    Row("db.pool.max", check_exhausted_pool, alone=True),
    Row("db", check_restart_of_database, alone=True),
)
