"""Opens connections to the primary, and notices when another server has become it.

After a failover the connections to the former primary may stay open: it lost its power or network
and closed none of them, or it doesn't know yet that it is no longer the primary. A promotion
begins a new timeline of PostgreSQL, so a connection with a higher timeline reaches the new primary.
"""

import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import psycopg2

from sigservice.concurrency import wait_budget
from sigservice.db import session
from sigservice.db.connection import Connection, send
from sigservice.errors import build_busy_error

# Messages of libpq for invalid LIBPQ_VARIABLES (config/database.py).
UNUSABLE_VARIABLES = {
    "definition of service": "it is in the variable PGSERVICE: unset it or define the service",
    "invalid value for parameter": "see the variables PGTZ and PGDATESTYLE",
    "requires a Boolean value": "see the variable PGGEQO",
}
# How long a server with a lower timeline is refused while no server with the highest one answers.
# Such a server is a former primary, or runs older files that an admin has restored.
OLDER_TIMELINE_SECONDS = 30.0
MIN_CONNECT_SECONDS = 2  # libpq knows no less
# The timeline is 0 on a standby.
_IDENTITY = """
(SELECT system_identifier FROM pg_control_system()),
CASE WHEN pg_is_in_recovery() THEN 0
ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END
"""
_PASSING = ("53", "57")  # no resources, timeout or shutdown: later the statement may succeed
Host = tuple[str, str]


class Connector:
    """Tries the host that worked last first. `epoch` rises when another server has become the
    primary, and with `start_epoch`; connections of older epochs must not be used again. `in_use`
    are the connections whose statements may be cut off, including new ones from their first
    statement on."""

    def __init__(
        self,
        arguments: Callable[[], dict[str, Any]],
        settings: Mapping[str, str],
        on_change: Callable[[], None],
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """`arguments` returns the arguments for psycopg2.connect, `settings` are set in each
        session, and `on_change` is called when another server has become the primary."""
        self._arguments, self._settings = arguments, dict(settings)
        self._on_change, self._seconds = on_change, seconds
        self.epoch = 0
        self.in_use: set[Connection] = set()
        self._lock = threading.Lock()
        self._order: list[Host] = []
        self._host: Host | None = None
        self._system = self._timeline = 0  # 0 if unknown
        self._can_identify = True
        self._refused_since: float | None = None

    def open(self, *, tries_others: bool = False) -> Connection:
        """A new connection. With `tries_others` the host that worked last is tried last, because
        another one may have become the primary. Raises psycopg2.Error, and UnavailableError if the
        request has already waited too long."""
        epoch = self.epoch
        conn = self._connect(tries_others=tries_others)
        try:
            system, timeline = self._set_up(conn)
            host = (conn.info.host, str(conn.info.port))
            with self._lock:
                if self._is_older(system, timeline):
                    self._order.sort(key=lambda other: other == host)
                    raise psycopg2.OperationalError("the server is a former primary")
                conn.epoch = epoch
                has_changed = self._adopt(conn, host, system, timeline, tries_others=tries_others)
        except BaseException:
            self.in_use.discard(conn)
            conn.close()
            raise
        if has_changed:
            self._on_change()
        return conn

    def start_epoch(self) -> None:
        """Called when the server turns out to be no primary."""
        with self._lock:
            self.epoch += 1

    def confirm(self) -> None:
        """Called when a connection of this epoch has worked."""
        self._refused_since = None

    def _connect(self, *, tries_others: bool) -> Connection:
        arguments = dict(self._arguments())
        hosts = self._order_hosts(arguments, tries_others=tries_others)
        count = len(hosts)
        seconds = wait_budget.limit()
        if seconds < math.inf:
            timeout = int(min(_read_timeout(arguments), seconds))
            if timeout < MIN_CONNECT_SECONDS:
                raise build_busy_error()
            arguments["connect_timeout"] = timeout
            hosts = hosts[: int(seconds // timeout)]
        if count > 1:
            arguments["host"], arguments["port"] = map(",".join, zip(*hosts, strict=True))
        try:
            with wait_budget.count():
                return psycopg2.connect(**arguments, connection_factory=Connection)
        except psycopg2.Error:
            tried = hosts if len(hosts) < count else hosts[:1]
            with self._lock:  # so that the next attempt begins with another host
                self._order.sort(key=tried.__contains__)
            raise

    def _order_hosts(self, arguments: dict[str, Any], *, tries_others: bool) -> list[Host]:
        """The hosts of the arguments. The one that worked last is the first or, with
        `tries_others`, the last."""
        names, ports = (str(arguments.get(key, "")).split(",") for key in ("host", "port"))
        hosts = list(zip(names, ports * len(names) if len(ports) == 1 else ports, strict=True))
        with self._lock:
            if sorted(self._order) != sorted(hosts):
                self._order = hosts
            return [*self._order[1:], self._order[0]] if tries_others else list(self._order)

    def _set_up(self, conn: Connection) -> tuple[int, int]:
        """Returns the identifier of the server's cluster and its timeline."""
        conn.set_up()
        self.in_use.add(conn)
        conn.autocommit = True
        with conn.cursor() as cursor:
            identity = self._send_settings(conn, cursor)
        conn.autocommit = False
        conn.notices.clear()
        return identity

    def _send_settings(self, conn: Connection, cursor: Any) -> tuple[int, int]:
        settings = self._settings
        if self._can_identify:
            try:
                send(cursor, session.build_set_statement(settings, _IDENTITY), settings)
                system, timeline = cursor.fetchone()[-2:]
                return system, timeline
            except psycopg2.Error as error:
                if conn.closed or (error.pgcode or "").startswith(_PASSING):
                    raise
        if settings:
            send(cursor, session.build_set_statement(settings), settings)
        # The role may lack the right, or the server isn't quite PostgreSQL.
        self._can_identify = False
        return 0, 0

    def _is_older(self, system: int, timeline: int) -> bool:
        """Whether the server must be refused."""
        if system != self._system or not 0 < timeline < self._timeline:
            return False
        now = self._seconds()
        if self._refused_since is None:
            self._refused_since = now
        return now - self._refused_since < OLDER_TIMELINE_SECONDS

    def _adopt(
        self, conn: Connection, host: Host, system: int, timeline: int, *, tries_others: bool
    ) -> bool:
        """Remembers the server of the connection; returns whether the other connections are
        outdated."""
        is_first, is_other_host = self._host is None, host != self._host
        self._refused_since = None
        is_other_server = bool(timeline) and (system, timeline) != (self._system, self._timeline)
        if tries_others and timeline and not is_other_server:
            return False  # another way to the same server
        self._host = host
        self._order.sort(key=lambda other: other != host)
        if is_other_server:
            self._system, self._timeline = system, timeline
        if is_first or not (is_other_server or is_other_host):
            return False
        self.epoch += 1
        conn.epoch = self.epoch
        if is_other_server:
            self._cut_outdated()
        return True

    def _cut_outdated(self) -> None:
        """Ends outdated connections, whose requests would wait for an answer that may never
        come."""
        for conn in self.in_use.copy():  # other threads change it
            if conn.epoch < self.epoch:
                conn.shut_down()


def _read_timeout(arguments: dict[str, Any]) -> float:
    seconds = float(arguments.get("connect_timeout") or 0)
    return max(seconds, MIN_CONNECT_SECONDS) if seconds > 0 else math.inf
