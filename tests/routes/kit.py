"""The admin API in the tests of flags: requests, events, and whether anything changed."""

from __future__ import annotations

import json
import threading
from typing import Any

import webtest

from sigservice.application.service import Service
from sigservice.crypto import secrets
from sigservice.services import revisions
from tests.conftest import ADMIN
from tests.repository.kit import run
from tests.waiting import DEADLINE_SECONDS

PEOPLE = "/api/admin/user-admin"
NEW_PROJECT = {"id": "web", "name": "Web"}
# The headers of requests from other sites.
FOREIGN = (
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
)
# The header of requests from our pages, for which a session needs the form token.
OWN_PAGE = {"Origin": "http://localhost:80"}
PROJECT = "/api/admin/projects/default"
FEATURES = f"{PROJECT}/features"
SEGMENTS = "/api/admin/segments"
JSON = {"Content-Type": "application/json"}
TABLES = (
    "features",
    "feature_environments",
    "feature_strategies",
    "strategy_segments",
    "segments",
    "feature_dependencies",
    "tags",
    "feature_tags",
    "events",
    "revisions",
)
# Bodies that are no JSON object.
NO_OBJECTS = [b"", b"[]", b"null", b"1", b'"a"', b"{", b"{'a': 1}", b'{"a":NaN}', b'{"a":1e400}']
NO_OBJECTS += [
    b'{"a":"\\u0000"}',
    b'{"a":"\\ud800"}',
    b"\xff",
    b'{"a":' + b"[" * 100 + b"]" * 100 + b"}",
]


class Admin:
    """Sends requests as the admin, or with `headers`, from one thread or several."""

    def __init__(self, service: Service, headers: dict[str, str] = ADMIN) -> None:
        self._service, self._headers = service, headers
        self.web = webtest.TestApp(service.app)

    def ask(
        self, method: str, path: str, body: Any = None, status: int | None = None
    ) -> webtest.TestResponse:
        """`body` is sent as JSON, bytes unchanged; fails for any status except `status`."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        more = {} if body is None else {"body": data}
        headers = self._headers | ({} if body is None else JSON)
        answer = self.web.request(path, method=method, headers=headers, expect_errors=True, **more)
        if status is not None:
            assert answer.status_int == status, (method, path, answer.text)
        return answer

    def get(self, path: str, status: int = 200) -> Any:
        return self.ask("GET", path, status=status).json

    def post(self, path: str, body: Any = None, status: int = 200) -> Any:
        answer = self.ask("POST", path, body, status)
        return answer.json if answer.body else None

    def put(self, path: str, body: Any = None, status: int = 200) -> Any:
        answer = self.ask("PUT", path, body, status)
        return answer.json if answer.body else None

    def patch(self, path: str, body: Any, status: int = 200) -> Any:
        return self.ask("PATCH", path, body, status).json

    def delete(self, path: str, status: int = 200) -> None:
        self.ask("DELETE", path, status=status)

    def flag(self, name: str = "a", **more: Any) -> str:
        """Creates a flag and returns its path."""
        self.post(FEATURES, {"name": name, **more}, 201)
        return f"{FEATURES}/{name}"

    def strategy(self, name: str = "a", environment: str = "development", **more: Any) -> Any:
        path = f"{FEATURES}/{name}/environments/{environment}/strategies"
        return self.post(path, {"name": "flexibleRollout", **more})

    def segment(self, name: str = "beta", **more: Any) -> int:
        rule = {"contextName": "userId", "operator": "IN", "values": ["7"]}
        return self.post(SEGMENTS, {"name": name, "constraints": [rule], **more}, 201)["id"]

    def events(self, count: int) -> list[dict[str, Any]]:
        """The newest `count` events, oldest first, without IDs and times."""
        events = self.get(f"/api/admin/events?limit={count}")["events"]
        assert all(event.pop("id") and event.pop("createdAt") for event in events)
        return events[::-1]

    def types(self, count: int) -> list[str]:
        return [event["type"] for event in self.events(count)]

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Executes a statement and returns its rows."""
        with self._service.context.database.autocommit() as conn:
            return run(conn, statement, *values)

    def read_state(self) -> list[Any]:
        """Everything that a change of flags can modify."""
        texts = " UNION ALL ".join(f"SELECT '{t}', x::text FROM {t} x" for t in TABLES)
        return sorted(self.rows(texts))

    def revision(self) -> int:
        return self.rows("SELECT id FROM revisions WHERE topic = ''")[0][0]

    def revisions_ahead(self) -> int:
        """Moves every revision ahead of the clock, so that each change adds one."""
        for comparison in ("=", "<>"):  # a trigger gives these the numbers of ''
            self.rows(f"UPDATE revisions SET id = id + 1000000000000 WHERE topic {comparison} ''")
        return self.revision()

    def refusals(self, method: str, path: str, bodies: list[Any]) -> dict[str, Any]:
        """{start of the body: (status, paths of the details)}; checks that nothing was stored."""
        before, refusals = self.read_state(), {}
        for body in bodies:
            answer = self.ask(method, path, body)
            label = (body if isinstance(body, bytes) else json.dumps(body).encode())[:150]
            assert 400 <= answer.status_int < 500, (label, answer.text[:500])
            assert {"id", "name", "message", "details"} <= set(answer.json), label
            assert "Error" not in answer.json["message"], label
            paths = [detail.get("path") for detail in answer.json["details"]]
            refusals[label.decode("latin-1")] = (answer.status_int, paths)
        assert self.read_state() == before
        return refusals

    def all_refused(self, method: str, path: str, table: list[tuple[Any, Any]]) -> None:
        """Each row is (body, path of the detail)."""
        failures = []
        for body, expected in table:
            ((label, (status, paths)),) = self.refusals(method, path, [body]).items()
            if status != 400 or expected not in paths:
                failures.append((label, status, paths, expected))
        assert not failures, failures


class PatientApp(webtest.TestApp):
    """Sends a request again that gave up waiting for its turn (503), and so changed nothing: on a
    slow machine, twenty changes of one thing take longer than the lock_timeout."""

    def do_request(
        self, req: Any, status: int | None = None, expect_errors: bool | None = None
    ) -> webtest.TestResponse:
        for _ in range(5):
            answer = super().do_request(req.copy(), status, expect_errors=True)
            if answer.status_int != 503:
                break
        if not expect_errors:
            self._check_status(status, answer)
        return answer


def race(service: Service, count: int, work: Any) -> list[Any]:
    """The results of `work(Admin, n)` in `count` threads that start together."""
    results, gate = [], threading.Barrier(count)

    def one(n: int) -> None:
        admin = Admin(service)
        admin.web = PatientApp(service.app)
        gate.wait(DEADLINE_SECONDS)
        results.append(work(admin, n))

    threads = [threading.Thread(target=one, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
        assert not thread.is_alive(), "a request hangs"
    assert len(results) == count, "a request raised"
    return results


def race_for_statuses(service: Service, count: int, ask: Any) -> list[int]:
    """The sorted statuses of the answers of `ask(web, n)` in `count` threads."""
    return sorted(race(service, count, lambda admin, n: ask(admin.web, n).status_int))


def give_projects(service: Any, secret: str, projects: list[str]) -> None:
    """Replaces the projects of a token, also by projects that don't exist yet."""
    with service.context.database.transaction() as conn, conn.cursor() as cursor:
        revisions.lock(conn)
        statement = "UPDATE api_tokens SET projects = %s WHERE secret_hash = %s"
        cursor.execute(statement, (projects, secrets.sha256(secret)))
        revisions.bump_tokens(conn)


def people(web: webtest.TestApp) -> dict[str, str]:
    """The role of each user, by address or name."""
    return {
        u["email"] or u["username"]: u["role"] for u in web.get(PEOPLE, headers=ADMIN).json["users"]
    }


def who(web: webtest.TestApp, **headers: str) -> str | None:
    """The username or email of the session, None if signed out."""
    answer = web.get("/api/admin/user", headers=headers, expect_errors=True)
    return (
        answer.json["user"]["username"] or answer.json["user"]["email"]
        if answer.status_int == 200
        else None
    )
