"""A row of the specification, and the services that its check sends requests to.

Each option is tested by its variable, or in code if it has none; tests/config/rows.py has defaults
and values in code. Compatible rows share three services: `default` (nothing configured),
`environment` (the variables of all rows) and `code`. Each check uses its own client address, so
that rate limits don't interfere.
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import (
    AbstractContextManager,
    ExitStack,
    closing,
    contextmanager,
)
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from sigservice.testing import TemporaryDatabase
from tests.repository.kit import run
from tests.server.process import Process, make_database_environ, run_failing_service, run_service
from tests.waiting import DEADLINE_SECONDS

ADMIN_SECRET = "*:*.specification"
ADMIN_USER = {"username": "ada", "password": "Correct-Horse-7"}
T = TypeVar("T")


@dataclass(frozen=True)
class Row:
    """`name` is that of specification.py. Without `variable` and `code` it is a rule, or a default
    that a rule names."""

    name: str
    check: Callable[[Case], None]
    variable: str = ""
    text: str = ""  # of the variable …
    value: Any = None  # … and what it means; None: the text
    code: Any = None  # in-code value
    option: str = ""  # in-code path; "": the name
    alone: bool = False  # not in the shared services; its check starts its own

    @property
    def way(self) -> str:
        return "environment" if self.variable else "default" if self.code is None else "code"

    @property
    def environ(self) -> dict[str, str]:
        return {self.variable: self.text} if self.variable else {}

    @property
    def options(self) -> dict[str, Any]:
        return {} if self.code is None else _nest(self.option or self.name, self.code)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()


class IdleConnection(threading.Thread):
    """A connection that sends one request and then waits during all other checks. `.seconds` is how
    long the service kept it open, None while it is open."""

    def __init__(self, process: Process) -> None:
        super().__init__(daemon=True)
        self._sock = process.connect()
        self._sock.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200 OK" in self._sock.recv(4096)
        self.started_at, self.seconds = time.monotonic(), None
        self.start()

    def run(self) -> None:
        with self._sock, contextlib.suppress(OSError):
            self._sock.recv(1)
            self.seconds = time.monotonic() - self.started_at


class Services:
    """Starts services, each with its own database, and stops them."""

    def __init__(self, database: TemporaryDatabase) -> None:
        self._database, self._shared = database, {}
        self._shared_stack, self._check_stack = ExitStack(), ExitStack()
        self._opened: dict[Any, Any] = {}
        self.idle: dict[str, IdleConnection] = {}
        self._numbers = itertools.count(1)
        self._used_databases: list[str] = []
        self._free_databases: list[str] = []

    def get_shared(self, way: str, rows: tuple[Row, ...]) -> Process:
        if way not in self._shared:
            environ: dict[str, str] = {}
            options: dict[str, Any] = {}
            for row in rows:
                if not row.alone and way == row.way:
                    environ |= row.environ
                    options = merge(options, row.options)
            self._shared[way] = self._shared_stack.enter_context(
                # Without the warm process, so that the logs contain the migrations.
                self._running(environ, options, fresh=True, cold=True)
            )
            self._used_databases.remove(self._shared[way].environ["DATABASE_NAME"])
            self.idle[way] = IdleConnection(self._shared[way])
        return self._shared[way]

    def open_once(self, make: Callable[..., AbstractContextManager[T]], *arguments: Any) -> T:
        """What `make` opens. It is opened at the first call and closed at the end."""
        key, count = (make, *arguments), len(self._used_databases)
        if key not in self._opened:
            self._opened[key] = self._shared_stack.enter_context(make(*arguments))
            del self._used_databases[count:]  # other checks never get its databases
        return self._opened[key]

    def connect(self, environ: Mapping[str, str]) -> Any:
        """A connection to the database of the service with these variables."""
        return self._database.connect(environ["DATABASE_NAME"])

    def start(
        self, environ: Mapping[str, str], options: Mapping[str, Any], *, fresh: bool = False
    ) -> Process:
        """A service that runs until the end of the check, or until the check closes it. If `fresh`,
        its database has no tables."""
        return self._check_stack.enter_context(self._running(environ, options, fresh))

    def _running(
        self,
        environ: Mapping[str, str],
        options: Mapping[str, Any],
        fresh: bool = False,
        **more: Any,
    ) -> AbstractContextManager[Process]:
        return run_service(
            self.make_environ(fresh=fresh) | dict(environ), script_for(options), **more
        )

    @contextmanager
    def run_service(
        self, environ: Mapping[str, str], options: Mapping[str, Any] | None = None
    ) -> Iterator[Process]:
        """A service that ends with the block, on its own database unless `environ` has one."""
        service = self.start(environ, options or {})
        yield service
        service.close()

    def start_failing(self, environ: Mapping[str, str], options: Mapping[str, Any]) -> Process:
        """A service whose start must fail."""
        return self._check_stack.enter_context(
            closing(run_failing_service(self.make_environ() | dict(environ), script_for(options)))
        )

    def make_environ(self, *, fresh: bool = False) -> dict[str, str]:
        """Variables for an empty database, an admin token and an admin."""
        if fresh or not self._free_databases:  # creating one takes longer than emptying one
            self._free_databases.append(f"specification {next(self._numbers)}")
            self._database.create_database(self._free_databases[-1])
        self._used_databases.append(self._free_databases.pop())
        return make_database_environ(self._database.options(self._used_databases[-1])) | {
            "INIT_ADMIN_API_TOKENS": ADMIN_SECRET,
            "SERVICE_DEFAULT_ADMIN_USERNAME": ADMIN_USER["username"],
            "SERVICE_DEFAULT_ADMIN_PASSWORD": ADMIN_USER["password"],
        }

    def query(self, service: Process, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Runs a statement in the database of the service, without the service."""
        with closing(self._database.connect(service.environ["DATABASE_NAME"])) as conn:
            return run(conn, statement, *parameters)

    @cached_property
    def reused_environ(self) -> dict[str, str]:
        """Variables for a database with the data of other checks. Quicker than an empty one."""
        environ = self.make_environ()
        self._used_databases.remove(environ["DATABASE_NAME"])
        return environ

    def close(self) -> None:
        self.end_check()
        self._shared_stack.close()

    def end_check(self) -> None:
        """Stops the services of a check. The next one can use its databases."""
        self._check_stack.close()
        for name in self._used_databases:
            self._database.empty(name)
        self._free_databases += self._used_databases
        self._used_databases = []


_numbers = itertools.count()


def _next_address() -> str:
    number = next(_numbers)
    return f"127.1.{number // 250}.{number % 250 + 1}"


@dataclass
class Case:
    """The argument of a check: a row, the expected value, and the service."""

    row: Row
    services: Services
    rows: tuple[Row, ...]
    address: str = field(default_factory=_next_address)

    @property
    def value(self) -> Any:
        row = self.row
        return row.value if row.value is not None else row.text if row.variable else row.code

    @property
    def service(self) -> Process:
        """The shared service of the row's way; that with the defaults for a rule."""
        assert not self.row.alone, "a row with alone=True starts its own"
        return self.services.get_shared(self.row.way, self.rows)

    def start(
        self,
        environ: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        *,
        fresh: bool = False,
    ) -> Process:
        """A service with the value of this row, and with the arguments."""
        return self.services.start(
            self.row.environ | dict(environ or {}),
            merge(self.row.options, options or {}),
            fresh=fresh,
        )

    def start_failing(
        self, environ: Mapping[str, str] | None = None, options: Mapping[str, Any] | None = None
    ) -> Process:
        """Like `start`, for a service whose start must fail: see `.wait()`, `.stderr`."""
        return self.services.start_failing(
            self.row.environ | dict(environ or {}), merge(self.row.options, options or {})
        )

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str = "",
        service: Process | None = None,
        address: str = "",
        timeout: float = DEADLINE_SECONDS,
        **headers: str,
    ) -> Answer:
        """Sends `body` as JSON, bytes as they are, and an iterator of bytes in chunks.
        `Content_Type="…"` sets a header."""
        service = service or self.service
        lines = {name.replace("_", "-"): text for name, text in headers.items()}
        if token:
            lines["Authorization"] = token
        if body is not None and not isinstance(body, bytes | Iterator):
            body = json.dumps(body).encode()
            lines.setdefault("Content-Type", "application/json")
        conn = http.client.HTTPConnection(
            "127.0.0.1", service.port, timeout, (address or self.address, 0)
        )
        with closing(conn):
            conn.request(method, path, body, lines)
            answer = conn.getresponse()
            return Answer(answer.status, answer.headers, answer.read())

    def admin(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """The JSON of an admin API request that must succeed; None for an empty response."""
        answer = self.request(method, path, body, token=ADMIN_SECRET, **more)
        assert answer.status < 300, (answer.status, answer.body)
        return answer.json if answer.body else None

    def sign_in(self, service: Process | None = None, **login: str) -> Answer:
        return self.request("POST", "/auth/simple/login", ADMIN_USER | login, service=service)

    @contextmanager
    def create_api_token(
        self, type: str, environment: str = "development", service: Process | None = None
    ) -> Iterator[str]:
        """The secret of a new client or frontend token, which is deleted at the end."""
        path, body = "/api/admin/api-tokens", {"type": type, "environment": environment}
        created = self.admin("POST", path, body | {"tokenName": self.name}, service=service)
        yield created["secret"]
        self.admin("DELETE", f"{path}/{created['secret']}", service=service)

    @property
    def name(self) -> str:
        """A name for the objects of a check, which no other check uses."""
        return f"of-{self.address.replace('.', '-')}"

    @property
    def other_address(self) -> str:
        """A client address that no check uses."""
        return self.address.replace("127.1.", "127.2.", 1)


def script_for(options: Mapping[str, Any]) -> str:
    """The program that starts the service with these in-code options; "" for run.py."""
    if not options:
        return ""
    return f"from tests.spec.run import main; main({json.dumps(options)!r})"


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(below)
    for name, value in above.items():
        existing = result.get(name)
        both = isinstance(existing, Mapping) and isinstance(value, Mapping)
        result[name] = merge(existing, value) if both else value
    return result


def _nest(path: str, value: Any) -> dict[str, Any]:
    for name in reversed(path.split(".")):
        value = {name: value}
    return value
