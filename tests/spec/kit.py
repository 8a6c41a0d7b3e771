"""A row of the specification, and the started services that its check asks.

Each option is proven as default, by its variable and in code. Rows that get along share three
services: `default` (nothing configured), `environment` (the variables of all rows), `code` (those
variables too, and other values in code: so code beats the environment). A check asks from an
address of its own, so that limits don't meet.
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
from tests.server.process import Process, database_environ, refused, running
from tests.waiting import DEADLINE_SECONDS

NOTHING: Any = object()
ADMIN_SECRET = "*:*.specification"
ADMIN_USER = {"username": "ada", "password": "Correct-Horse-7"}
T = TypeVar("T")
WAYS = ("default", "environment", "code")


@dataclass(frozen=True)
class Row:
    """`name` as in specification.py. Which of default, text (for `variable`) and code are given
    says in which ways the row is proven; none of them: it is a rule, proven once."""

    name: str
    check: Callable[[Asked], None]
    variable: str = ""
    default: Any = NOTHING
    text: str = ""  # of the variable …
    value: Any = NOTHING  # … and what it means; NOTHING: the text
    code: Any = NOTHING  # in-code value …
    from_code: Any = NOTHING  # … and what it means; NOTHING: itself
    option: str = ""  # in-code path; "": the name
    alone: bool = False  # gets no place in the shared services; its check starts its own

    @property
    def ways(self) -> tuple[str, ...]:
        given = (self.default is not NOTHING, bool(self.variable), self.code is not NOTHING)
        return tuple(way for way, is_given in zip(WAYS, given, strict=True) if is_given) or ("",)

    def expected(self, way: str) -> Any:
        if way == "environment":
            return self.text if self.value is NOTHING else self.value
        if way == "code":
            return self.code if self.from_code is NOTHING else self.from_code
        return self.default

    def environ(self, way: str) -> dict[str, str]:
        return {self.variable: self.text} if self.variable and way != "default" else {}

    def options(self, way: str) -> dict[str, Any]:
        return _nested(self.option or self.name, self.code) if way == "code" else {}


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


class Idle(threading.Thread):
    """A connection that asked once and then waits, beside all other checks; `.seconds` is how long
    the service let it wait, None while it still does."""

    def __init__(self, process: Process) -> None:
        super().__init__(daemon=True)
        self._sock = process.connect()
        self._sock.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200 OK" in self._sock.recv(4096)
        self.began, self.seconds = time.monotonic(), None
        self.start()

    def run(self) -> None:
        with self._sock, contextlib.suppress(OSError):
            self._sock.recv(1)
            self.seconds = time.monotonic() - self.began


class Services:
    """Starts services, each with a database of its own, and ends them."""

    def __init__(self, database: TemporaryDatabase) -> None:
        self._database, self._shared = database, {}
        self._kept, self._own = ExitStack(), ExitStack()
        self._made: dict[Any, Any] = {}
        self.idle: dict[str, Idle] = {}
        self._numbers = itertools.count(1)
        self._taken: list[str] = []
        self._free: list[str] = []

    def shared(self, way: str, rows: tuple[Row, ...]) -> Process:
        if way not in self._shared:
            environ: dict[str, str] = {}
            options: dict[str, Any] = {}
            for row in rows:
                if not row.alone and way in row.ways:
                    environ |= row.environ(way)
                    options = merged(options, row.options(way))
            self._shared[way] = self._kept.enter_context(
                # Their logs tell of migrations; these three start as people start it.
                self._running(environ, options, fresh=True, cold=True)
            )
            self._taken.remove(self._shared[way].environ["DATABASE_NAME"])
            self.idle[way] = Idle(self._shared[way])
        return self._shared[way]

    def once(self, make: Callable[..., AbstractContextManager[T]], *arguments: Any) -> T:
        """What `make` opens, opened when it is first asked for and closed at the end."""
        key, taken = (make, *arguments), len(self._taken)
        if key not in self._made:
            self._made[key] = self._kept.enter_context(make(*arguments))
            del self._taken[taken:]  # its databases stay its own
        return self._made[key]

    def connect(self, environ: Mapping[str, str]) -> Any:
        """A look at the rows of the service with this `basis`."""
        return self._database.connect(environ["DATABASE_NAME"])

    def start(
        self, environ: Mapping[str, str], options: Mapping[str, Any], *, fresh: bool = False
    ) -> Process:
        """Runs until the end of the check, or until that closes it. On a database that has no
        tables yet if it is to be `fresh`."""
        return self._own.enter_context(self._running(environ, options, fresh))

    def _running(
        self,
        environ: Mapping[str, str],
        options: Mapping[str, Any],
        fresh: bool = False,
        **more: Any,
    ) -> AbstractContextManager[Process]:
        return running(self.basis(fresh=fresh) | dict(environ), script_for(options), **more)

    @contextmanager
    def started(
        self, environ: Mapping[str, str], options: Mapping[str, Any] | None = None
    ) -> Iterator[Process]:
        """One that ends with the block; on a database of its own unless `environ` has a basis."""
        service = self.start(environ, options or {})
        yield service
        service.close()

    def refuse(self, environ: Mapping[str, str], options: Mapping[str, Any]) -> Process:
        """One that must end by itself."""
        return self._own.enter_context(
            closing(refused(self.basis() | dict(environ), script_for(options)))
        )

    def basis(self, *, fresh: bool = False) -> dict[str, str]:
        """An empty database, an admin's token and an admin; what a row sets comes on top."""
        if fresh or not self._free:  # making one takes longer than emptying one
            self._free.append(f"specification {next(self._numbers)}")
            self._database.create_database(self._free[-1])
        self._taken.append(self._free.pop())
        return database_environ(self._database.options(self._taken[-1])) | {
            "INIT_ADMIN_API_TOKENS": ADMIN_SECRET,
            "SERVICE_DEFAULT_ADMIN_USERNAME": ADMIN_USER["username"],
            "SERVICE_DEFAULT_ADMIN_PASSWORD": ADMIN_USER["password"],
        }

    def query(self, service: Process, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Past the service: what stands in its database, or what it is not told of."""
        with closing(self._database.connect(service.environ["DATABASE_NAME"])) as conn:
            return run(conn, statement, *parameters)

    @cached_property
    def used(self) -> dict[str, str]:
        """A basis that others have used: quicker, for checks to which its content is all one."""
        basis = self.basis()
        self._taken.remove(basis["DATABASE_NAME"])
        return basis

    def close(self) -> None:
        self.end_check()
        self._kept.close()

    def end_check(self) -> None:
        """Ends what a check has started for itself; the next one may have its databases."""
        self._own.close()
        for name in self._taken:
            self._database.empty(name)
        self._free += self._taken
        self._taken = []


_numbers = itertools.count()


def _own_address() -> str:
    number = next(_numbers)
    return f"127.1.{number // 250}.{number % 250 + 1}"


@dataclass
class Asked:
    """What a check is given: the way, the value that the service must show, and the service."""

    row: Row
    way: str
    services: Services
    rows: tuple[Row, ...]
    address: str = field(default_factory=_own_address)

    @property
    def value(self) -> Any:
        return self.row.expected(self.way)

    @property
    def service(self) -> Process:
        """The shared one of this way; a rule asks the one with the defaults."""
        assert not self.row.alone, "a row alone starts its own"
        return self.services.shared(self.way or "default", self.rows)

    def start(
        self,
        environ: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        *,
        fresh: bool = False,
    ) -> Process:
        """A service with this row set in this way, and what is given beside it."""
        return self.services.start(
            self.row.environ(self.way) | dict(environ or {}),
            merged(self.row.options(self.way), options or {}),
            fresh=fresh,
        )

    def refuse(
        self, environ: Mapping[str, str] | None = None, options: Mapping[str, Any] | None = None
    ) -> Process:
        """The same, of one that must end by itself: see `.wait()`, `.stderr`."""
        return self.services.refuse(
            self.row.environ(self.way) | dict(environ or {}),
            merged(self.row.options(self.way), options or {}),
        )

    def ask(
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
        """`body` is sent as JSON unless it is bytes, an iterator of bytes in chunks;
        `Content_Type="…"` names a header."""
        service = service or self.service
        sent = {name.replace("_", "-"): text for name, text in headers.items()}
        if token:
            sent["Authorization"] = token
        if body is not None and not isinstance(body, bytes | Iterator):
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        conn = http.client.HTTPConnection(
            "127.0.0.1", service.port, timeout, (address or self.address, 0)
        )
        with closing(conn):
            conn.request(method, path, body, sent)
            answer = conn.getresponse()
            return Answer(answer.status, answer.headers, answer.read())

    def admin(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """The JSON of an admin API request that must work; None for an empty answer."""
        answer = self.ask(method, path, body, token=ADMIN_SECRET, **more)
        assert answer.status < 300, (answer.status, answer.body)
        return answer.json if answer.body else None

    def sign_in(self, service: Process | None = None, **login: str) -> Answer:
        return self.ask("POST", "/auth/simple/login", ADMIN_USER | login, service=service)

    @contextmanager
    def api_token(
        self, type: str, environment: str = "development", service: Process | None = None
    ) -> Iterator[str]:
        """The secret of a client or frontend token, deleted at the end."""
        path, body = "/api/admin/api-tokens", {"type": type, "environment": environment}
        made = self.admin("POST", path, body | {"tokenName": self.name}, service=service)
        yield made["secret"]
        self.admin("DELETE", f"{path}/{made['secret']}", service=service)

    @property
    def name(self) -> str:
        """One that no other check uses, for what a check makes."""
        return f"of-{self.address.replace('.', '-')}"

    @property
    def neighbour(self) -> str:
        """An address that no check asks from."""
        return self.address.replace("127.1.", "127.2.", 1)


def script_for(options: Mapping[str, Any]) -> str:
    """The program that starts the service with these in-code options; "" for run.py."""
    if not options:
        return ""
    return f"from tests.spec.run import main; main({json.dumps(options)!r})"


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(below)
    for name, value in above.items():
        known = result.get(name)
        both = isinstance(known, Mapping) and isinstance(value, Mapping)
        result[name] = merged(known, value) if both else value
    return result


def _nested(path: str, value: Any) -> dict[str, Any]:
    for name in reversed(path.split(".")):
        value = {name: value}
    return value


def cases(rows: tuple[Row, ...]) -> Iterator[tuple[Row, str]]:
    for row in rows:
        for way in row.ways:
            yield row, way
