"""Connections that the service has closed while the server still executes their statement.

The server notices that its client has left only at the end of the statement, which may wait for a
standby or a disk. If other connections took their place, they could exceed the server's
`max_connections`, so each keeps its slot of the pool until its statement has ended.
"""

import threading

from sigservice.db.connection import Connection, send
from sigservice.db.errors import DatabaseUnavailable

# Not stuck: process IDs of another server after a failover, sessions that are idle because the
# statement never arrived, and sessions whose answer doesn't reach this process.
_LIST_RUNNING = """
SELECT pid, clock_timestamp() - query_start > make_interval(secs => %(seconds)s)
FROM pg_stat_activity
WHERE pid = ANY(%(pids)s) AND state NOT LIKE 'idle%%'
  AND wait_event_type IS DISTINCT FROM 'Client'
"""


class StuckConnections:
    """The stuck connections, by the process ID of their backend. `is_confirmed`: the server
    executes one of their statements for longer than its timeouts allow, or didn't answer a
    check."""

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

    def remove_ended(self, conn: Connection, seconds: float) -> int:
        """Asks the server through `conn` which statements have ended; returns their number. The
        timeouts end a statement within `seconds`. Raises psycopg2.Error."""
        with self._lock:
            pids = list(self._pids)
        with conn.cursor() as cursor:
            send(cursor, _LIST_RUNNING, {"pids": pids, "seconds": seconds})
            running: dict[int, bool] = dict(cursor.fetchall())
        conn.commit()  # nothing may fail after the removal
        ended = [pid for pid in pids if pid not in running]
        with self._lock:
            for pid in ended:
                self._pids.remove(pid)
            self.is_confirmed = any(running.values())
        return len(ended)
