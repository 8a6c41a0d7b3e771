"""Connections that the service has given up while the server still executes their statement.

The server notices that its client has left only at the end of the statement, which may wait for a
standby or a disk. Connections in place of those would use up the server's `max_connections`, so
each keeps its slot of the pool until its statement has ended.
"""

import contextlib
import os
import socket
import threading

import psycopg2

from sigservice.db.connection import Connection, send
from sigservice.db.errors import DatabaseUnavailable

# Of another server after a failover, idle because the statement never arrived, or with an answer
# that doesn't reach this process: not stuck.
_LIST_RUNNING = """
SELECT pid FROM pg_stat_activity
WHERE pid = ANY(%(pids)s) AND state NOT LIKE 'idle%%'
  AND wait_event_type IS DISTINCT FROM 'Client'
"""


class StuckConnections:
    """By the process ID of their backend. `is_confirmed`: the server still executes one, or didn't
    answer when it was asked."""

    def __init__(self) -> None:
        self._pids: list[int] = []
        self._lock = threading.Lock()
        self.is_confirmed = False

    def __len__(self) -> int:
        return len(self._pids)

    def add(self, conn: Connection) -> None:
        with self._lock:
            self._pids.append(conn.pid)

    def refuse_if_confirmed(self) -> None:
        """Raises DatabaseUnavailable."""
        if self.is_confirmed:
            raise DatabaseUnavailable()

    def remove_ended(self, conn: Connection) -> int:
        """Asks the server by `conn`; returns how many have ended. Raises psycopg2.Error."""
        with self._lock:
            pids = list(self._pids)
        with conn.cursor() as cursor:
            send(cursor, _LIST_RUNNING, {"pids": pids})
            running = {pid for (pid,) in cursor.fetchall()}
        conn.commit()  # nothing may fail after the removal
        ended = [pid for pid in pids if pid not in running]
        with self._lock:
            for pid in ended:
                self._pids.remove(pid)
            self.is_confirmed = bool(running)
        return len(ended)


def cut(conn: Connection, since: float) -> bool:
    """Ends the wait that began at `since` of the thread that uses the connection. False if the wait
    or the connection has ended."""
    with conn.wait_lock:
        return conn.waiting_since == since and shut_down(conn)


def shut_down(conn: Connection) -> bool:
    """Ends a connection that another thread uses. False if it has ended."""
    with contextlib.suppress(OSError, psycopg2.InterfaceError):
        with socket.socket(fileno=os.dup(conn.fileno())) as s:
            # libpq may have closed its socket meanwhile, and another one may have the number.
            if os.fstat(s.fileno()).st_ino == conn.socket_inode:
                s.shutdown(socket.SHUT_RDWR)
                conn.is_stuck = True
                return True
    return False
