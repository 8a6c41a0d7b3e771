"""The pool: how many sessions there are, how long idle ones stay, what waits, what outlives a
restart of the database. pg_stat_activity is asked, by the application name."""

from __future__ import annotations

import threading
import time
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

    def behind_lock(self, place: Site, seconds: float) -> int:
        """The most sessions that there were meanwhile; returns when all are answered."""
        way, most = self._asked.way or "default", 0
        with closing(place.server.connect(DATABASES[way])) as conn, conn.cursor() as cursor:
            conn.autocommit = False
            schema = SCHEMAS[way].replace('"', '""')
            cursor.execute(f'LOCK TABLE "{schema}".context_fields')
            for thread in self._threads:
                thread.start()
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                most = max(most, sessions(place, way))
                time.sleep(0.02)
            conn.rollback()
        for thread in self._threads:
            thread.join()
        return max(most, sessions(place, way))

    def _ask(self) -> None:
        path = "/api/admin/context"
        self.answers.append(
            self._asked.ask("GET", path, token=ADMIN_SECRET, service=self._service, timeout=20)
        )


def sessions(place: Site, way: str) -> int:
    return len(place.sessions("pid", application_name=NAMES[way], backend_type="client backend"))


def fewest(asked: Asked) -> None:
    """Of the default nothing is kept; a minimum is there before any request and after idling."""
    place = asked.services.once(site)
    if asked.way == "default":
        environ = {"DATABASE_PORT": str(place.server.port), "DATABASE_APPLICATION_NAME": "none"}
        service = place.starting(environ | {"DATABASE_POOL_IDLE_TIMEOUT_MS": "1"}).await_address()
        until(lambda: not place.sessions("pid", application_name="none"), "the end of all sessions")
        return service.close()
    place.service(asked.way)
    until(lambda: sessions(place, asked.way) >= asked.value, "the minimum")
    ends = time.monotonic() + 0.8
    while time.monotonic() < ends:
        assert sessions(place, asked.way) >= asked.value
        time.sleep(0.05)


def most(asked: Asked) -> None:
    """A crowd of twelve waits, for the database and for its connections; nobody is refused."""
    place = asked.services.once(site)
    crowd = Crowd(asked, place.service(asked.way), 12)
    assert crowd.behind_lock(place, 0.6) == asked.value
    assert [answer.status for answer in crowd.answers] == [200] * 12


def idle(asked: Asked) -> None:
    """The others' go within a second; those of the default stay."""
    place = asked.services.once(site)
    crowd = Crowd(asked, place.service(asked.way), MAXIMUM[asked.way])
    crowd.behind_lock(place, 0.3)
    if asked.way == "default":
        time.sleep(1.2)
        assert sessions(place, asked.way) == MAXIMUM[asked.way]
    else:
        kept = {"environment": int(PARTS["DATABASE_POOL_MIN"]), "code": CODE["pool"]["min"]}
        until(lambda: sessions(place, asked.way) == kept[asked.way], "the end of idle sessions", 3)


def exhausted(asked: Asked) -> None:
    """Who waits longer than 2 s, for a lock or for a connection, is told to come again."""
    place = asked.services.once(site)
    service = place.service("default")
    crowd = Crowd(asked, service, 16)
    assert crowd.behind_lock(place, 2.6) <= 4
    refused = [answer for answer in crowd.answers if answer.status != 200]
    for answer in refused:
        assert answer.status == 503
        assert answer.headers["Retry-After"] == "1"
        assert answer.json.keys() == {"id", "name", "message", "details"}
        assert answer.json["name"] == "UnavailableError"
    said = {answer.json["message"] for answer in refused}
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
