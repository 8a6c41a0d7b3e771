"""Notifications of the database about changes of the revisions (LISTEN)."""

import time

import psycopg2

from sigservice.db.connection import Connection, send
from sigservice.db.pool import Database

RETRY_SECONDS = 1.0


class RevisionNotifications:
    """One connection outside of the pool. Notifications may be lost, with the connection or behind
    a pooler that doesn't support LISTEN, so the revision must also be read now and then."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._conn: Connection | None = None
        self._retry_at = 0.0

    def open(self) -> int | None:
        """The file descriptor to wait on. None if the database can't be reached; then later calls
        try again, at most once in RETRY_SECONDS."""
        if self._conn is None and time.monotonic() >= self._retry_at:
            self._retry_at = time.monotonic() + RETRY_SECONDS
            try:
                self._conn = self._listen()
            except psycopg2.Error:
                return None
        return None if self._conn is None else self._conn.fileno()

    @property
    def is_outdated(self) -> bool:
        """Whether the server of the connection is no longer the primary; it may never announce
        anything."""
        return self._conn is not None and not self._database.is_current(self._conn)

    def receive(self) -> bool:
        """Takes the notifications that have arrived; False if the connection is lost and its
        descriptor closed."""
        assert self._conn is not None
        try:
            self._conn.poll()
        except psycopg2.Error:
            self.close()
            return False
        self._conn.notifies.clear()
        return True

    def close(self) -> None:
        """Closes the descriptor; `open` opens another one."""
        if self._conn is not None:
            self._conn.close()
            self._conn = None

    def _listen(self) -> Connection:
        conn = self._database.open_dedicated()
        try:
            conn.autocommit = True
            with conn.cursor() as cursor:
                send(cursor, "LISTEN sigservice_revisions")
        except BaseException:
            conn.close()
            raise
        return conn
