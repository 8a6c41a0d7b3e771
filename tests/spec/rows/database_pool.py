"""The pool: how many sessions there are, how long idle ones stay, what waits, what outlives a
restart of the database. pg_stat_activity is asked, by the application name."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from contextlib import closing

from tests.server.process import Process, until
from tests.spec.database_site import CODE, PARTS, Site, site
from tests.spec.kit import ADMIN_SECRET, Answer, Asked, Row

NAMES = {
    "default": "service",
    "environment": PARTS["DATABASE_APPLICATION_NAME"],
    "code": CODE["applicationName"],
}
DATABASES = {"default": "service", "environment": "parts", "code": "code"}
SCHEMAS = {"default": "public", "environment": PARTS["DATABASE_SCHEMA"], "code": CODE["schema"]}
MAXIMUM = {"default": 4, "environment": 3, "code": 2}


class Crowd:
    """Requests at the same time that a lock of the test's own makes wait in the database."""

    def __init__(self, asked: Asked, service: Process, requests: int) -> None:
        self._asked, self._service = asked, service
        self.answers: list[Answer] = []
        self._threads = [threading.Thread(target=self._ask) for _ in range(requests)]

    def behind_lock(self, place: Site, is_enough: Callable[[], bool]) -> float:
        """Holds the lock until it is enough; asks on until all are answered. Returns how long the
        lock was held."""
        way = self._asked.way or "default"
        with closing(place.server.connect(DATABASES[way])) as conn, conn.cursor() as cursor:
            conn.autocommit = False
            schema = SCHEMAS[way].replace('"', '""')
            cursor.execute(f'LOCK TABLE "{schema}".context_fields')
            began = time.monotonic()
            for thread in self._threads:
                thread.start()
            until(is_enough, "requests that wait for the lock")
            conn.rollback()
            took = time.monotonic() - began
        while any(thread.is_alive() for thread in self._threads):
            is_enough()
        is_enough()
        return took

    def _ask(self) -> None:
        path = "/api/admin/context"
        self.answers.append(self._asked.ask("GET", path, token=ADMIN_SECRET, service=self._service))


def sessions(place: Site, way: str) -> int:
    return len(place.sessions("pid", application_name=NAMES[way], backend_type="client backend"))


def metric(asked: Asked, service: Process, name: str) -> float:
    text = asked.ask("GET", "/internal-backstage/prometheus", service=service).text
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


def await_evictions(asked: Asked, service: Process) -> None:
    """Returns when the job that ends idle sessions has run twice."""
    name = 'scheduler_duration_seconds_count{jobId="connections"}'
    enough = metric(asked, service, name) + 2
    until(lambda: metric(asked, service, name) >= enough, "two looks at idle sessions")


def fewest(asked: Asked) -> None:
    """Of the default nothing is kept; a minimum is there before any request and after idling."""
    place = asked.services.once(site)
    if asked.way == "default":
        environ = {"DATABASE_PORT": str(place.server.port), "DATABASE_APPLICATION_NAME": "none"}
        service = place.starting(environ | {"DATABASE_POOL_IDLE_TIMEOUT_MS": "1"}).await_address()
        until(lambda: not place.sessions("pid", application_name="none"), "the end of all sessions")
        return service.close()
    service = place.service(asked.way)
    until(lambda: sessions(place, asked.way) >= asked.value, "the minimum")
    await_evictions(asked, service)
    assert sessions(place, asked.way) >= asked.value


def most(asked: Asked) -> None:
    """A crowd of twelve waits, for the database and for its connections; nobody is refused."""
    place = asked.services.once(site)
    service, seen = place.service(asked.way), [0]

    def all_are_there() -> bool:
        seen.append(sessions(place, asked.way))
        return seen[-1] == asked.value

    def is_in_time() -> bool:
        crowd = Crowd(asked, service, 12)
        took = crowd.behind_lock(place, all_are_there)
        return took < 1.9 and {answer.status for answer in crowd.answers} == {200}

    until(is_in_time, "a crowd that waits for less than 2 s, on a busy machine too")
    assert max(seen) == asked.value


def idle(asked: Asked) -> None:
    """The others' go within a second; those of the default stay."""
    place = asked.services.once(site)
    service, maximum = place.service(asked.way), MAXIMUM[asked.way]
    Crowd(asked, service, maximum).behind_lock(place, lambda: sessions(place, asked.way) == maximum)
    if asked.way == "default":
        await_evictions(asked, service)
        assert sessions(place, asked.way) == MAXIMUM[asked.way]
    else:
        kept = {"environment": int(PARTS["DATABASE_POOL_MIN"]), "code": CODE["pool"]["min"]}
        until(lambda: sessions(place, asked.way) == kept[asked.way], "the end of idle sessions")


def exhausted(asked: Asked) -> None:
    """Who waits longer than 2 s, for a lock or for a connection, is told to come again."""
    place = asked.services.once(site)
    service = place.service("default")
    crowd = Crowd(asked, service, 16)

    def refused() -> list[Answer]:
        return [answer for answer in crowd.answers if answer.status != 200]

    def both() -> bool:
        assert sessions(place, "default") <= 4
        return len({answer.json["message"] for answer in refused()}) == 2

    crowd.behind_lock(place, both)
    for answer in refused():
        assert answer.status == 503
        assert answer.headers["Retry-After"] == "1"
        assert answer.json.keys() == {"id", "name", "message", "details"}
        assert answer.json["name"] == "UnavailableError"
    said = {answer.json["message"] for answer in refused()}
    assert said == {
        "The service is busy. Try again.",
        "The database is not available just now. Try again.",
    }
    asked.admin("GET", "/api/admin/context", service=service)


def restarted(asked: Asked) -> None:
    """After a restart nobody notices the dead connections; while it is away there is a 503, and a
    service that starts waits."""
    place = asked.services.once(site)
    services = [place.service(way) for way in NAMES]
    place.server.stop()
    place.server.start()
    for service in services:
        asked.admin("GET", "/api/admin/context", service=service)
    place.server.stop()
    away = asked.ask("GET", "/api/admin/context", token=ADMIN_SECRET, service=services[0])
    assert (away.status, away.headers["Retry-After"]) == (503, "1")
    assert asked.ask("GET", "/ready", service=services[0]).status == 503
    assert asked.ask("GET", "/health", service=services[0]).status == 200
    patient = place.starting({"DATABASE_PORT": str(place.server.port)})
    until(lambda: "waiting for the database: connection" in patient.stderr, "the warning")
    place.server.start()
    for service in services:
        asked.admin("GET", "/api/admin/context", service=service)
    patient.await_address().close()


ROWS = (
    Row("db.pool.min", fewest, "DATABASE_POOL_MIN", 0, "1", 1, code=2, alone=True),
    Row("db.pool.max", most, "DATABASE_POOL_MAX", 4, "3", 3, code=2, alone=True),
    Row(
        "db.pool.idleTimeoutMillis",
        idle,
        "DATABASE_POOL_IDLE_TIMEOUT_MS",
        30_000,
        "300",
        300,
        code=400,
        alone=True,
    ),
    Row("db.pool.max", exhausted, alone=True),
    Row("db", restarted, alone=True),
)
