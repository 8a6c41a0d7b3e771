"""The open streams of SDKs: one thread writes to all of them.

A worker answers the request of a stream like any other; then the listener hands the connection over
to `Streams`. The database announces changes. In case an announcement is lost, the thread also reads
the revision every CHECK_SECONDS while streams are open.
"""

import contextlib
import os
import selectors
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Protocol

from sigservice.clock import Clock
from sigservice.db import Database
from sigservice.db.notifications import RevisionNotifications
from sigservice.delivery.event_stream import PING, EventConnection
from sigservice.delivery.revision_cache import Access, RevisionCache
from sigservice.errors import RateLimitError, UnavailableError
from sigservice.log import Logger, format_trace
from sigservice.services.access import api_tokens
from sigservice.services.access.api_tokens import TokenScope
from sigservice.services.revisions import Revisions

CHECK_SECONDS = 1.0
RETRY_AFTER_SECONDS = 30
PING_SECONDS = 15.0  # the Python SDK gives up after 30 s without a byte
MAX_PENDING_BYTES = 64 * 2**20  # of all streams; then slow clients are disconnected
# Frontend tokens are public: browsers have at most one half of the places, the browsers of one
# address a tenth, so that they can't displace server SDKs or each other.
BROWSERS_PART, ADDRESS_PART = 2, 10
_STOP_SECONDS = 5


class Subscription(Protocol):
    """The content of a stream. `access` is the access of its token."""

    @property
    def access(self) -> Access: ...

    @property
    def browser(self) -> str | None:
        """The address of a browser, "" if it is unknown; None for a server SDK."""

    def write_change(self, revision: int) -> bytes:
        """The event that leads to this revision of the environment, or b"" without a change for
        this stream. Raises DatabaseUnavailable."""


class Streams:
    """`limit` is the maximum number of streams. The thread starts with the first one."""

    def __init__(
        self,
        database: Database,
        revision_cache: RevisionCache,
        clock: Clock,
        logger: Logger,
        *,
        limit: int,
    ) -> None:
        self._database, self._revision_cache = database, revision_cache
        self._clock, self._logger = clock, logger
        self.limit = limit
        self._lock = threading.RLock()
        self._places = 0  # streams that are open or about to open
        self._browsers: Counter[str] = Counter()  # streams of browsers, by address
        self._thread: threading.Thread | None = None
        self._is_stopping = False
        self._new: list[tuple[EventConnection, Subscription]] = []
        self._wake_writer: socket.socket | None = None
        # Only the thread uses the rest.
        self._selector: selectors.BaseSelector
        self._open: dict[EventConnection, Subscription] = {}
        self._notifications = RevisionNotifications(database)
        self._listening_fd: int | None = None
        self._tokens_revision = self._generation = -1  # of the last check
        self._scopes: Mapping[int, TokenScope] = {}  # of the tokens at that revision

    @property
    def has_room(self) -> bool:
        return self._places < self.limit and not self._is_stopping

    def has_room_for_browser(self, address: str) -> bool:
        """Whether a browser at this address ("" if it is unknown) would get a stream."""
        with self._lock:
            return self._has_place(address)

    @property
    def count(self) -> int:
        return len(self._open)

    def open(self, subscription: Subscription) -> Callable[[socket.socket | None, bool], None]:
        """Takes a place for a stream. The caller must call the result once: with the socket and
        whether the response is chunked, after the response has begun, or with None if the client
        has left. Raises RateLimitError if no place is free."""
        with self._lock:
            browser = subscription.browser
            if not self._has_place(browser):
                raise RateLimitError(
                    "This service has the maximum number of streams. Poll instead."
                    if browser is None
                    else "There are too many event streams of browsers.",
                    headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
                )
            self._places += 1
            if browser is not None:
                self._browsers[browser] += 1

        def take_over(sock: socket.socket | None, is_chunked: bool) -> None:
            if sock is None:
                self._free_place(subscription)
                return
            with self._lock:
                self._new.append((EventConnection(sock, is_chunked=is_chunked), subscription))
                if self._is_stopping:
                    self._drop_new()
                    return
                if self._thread is None:
                    self._start()
                self._wake()

        return take_over

    def stop(self) -> None:
        """Ends all streams, and the thread."""
        with self._lock:
            self._is_stopping, thread = True, self._thread
            self._wake()
        if thread is not None:
            thread.join(_STOP_SECONDS)

    def _drop_new(self) -> None:
        """The caller holds the lock."""
        for connection, subscription in self._new:
            connection.close(orderly=True)
            self._free_place(subscription)
        self._new = []

    def _has_place(self, browser: str | None) -> bool:
        if not self.has_room or browser is None:
            return self.has_room
        others = self._browsers[browser] if browser else 0
        return (
            self._browsers.total() * BROWSERS_PART < self.limit
            and others * ADDRESS_PART < self.limit
        )

    def _free_place(self, subscription: Subscription) -> None:
        with self._lock:
            self._places -= 1
            browser = subscription.browser
            if browser is not None:
                self._browsers[browser] -= 1
                if not self._browsers[browser]:
                    del self._browsers[browser]

    def _start(self) -> None:
        wake_reader, wake_writer = socket.socketpair()
        wake_reader.setblocking(False)
        wake_writer.setblocking(False)
        thread = threading.Thread(
            target=self._run, args=(wake_reader,), name="streams", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:  # at the system's limit of threads; the next stream tries again
            wake_reader.close()
            wake_writer.close()
            raise
        self._thread, self._wake_writer = thread, wake_writer

    def _wake(self) -> None:
        if self._wake_writer is not None:
            with contextlib.suppress(BlockingIOError):
                self._wake_writer.send(b"\0")

    def _run(self, wake_reader: socket.socket) -> None:
        try:
            self._serve(wake_reader)
        except Exception as error:  # noqa: BLE001  clients come back when their stream ends
            self._logger.error("streams failed: %s", format_trace(error))
        finally:
            for connection in list(self._open):
                self._end(connection, orderly=True)
            self._notifications.close()
            self._listening_fd = None
            self._selector.close()
            with self._lock:
                assert self._wake_writer is not None
                self._wake_writer.close()
                self._thread = self._wake_writer = None
                self._drop_new()
            wake_reader.close()

    def _serve(self, wake_reader: socket.socket) -> None:
        self._selector = selectors.DefaultSelector()
        self._selector.register(wake_reader, selectors.EVENT_READ)
        check_at = earliest_at = 0.0
        while not self._is_stopping:
            now = time.monotonic()
            if self._add_new():
                check_at = earliest_at
            self._listen()
            if self._open and now >= check_at:
                self._check()
                self._keep_alive(now)
                ended_at = time.monotonic()
                # Changes without a pause would leave requests half of the time at least.
                earliest_at = ended_at + (ended_at - now)
                check_at = now + CHECK_SECONDS
            if self._handle_events(max(0.0, check_at - time.monotonic()) if self._open else None):
                check_at = earliest_at

    def _add_new(self) -> bool:
        with self._lock:
            new, self._new = self._new, []
        for connection, subscription in new:
            self._open[connection] = subscription
            self._selector.register(connection.socket, selectors.EVENT_READ, connection)
        if new:  # since their requests were checked, tokens and flags may have changed
            self._tokens_revision = self._generation = -1
        return bool(new)

    def _listen(self) -> None:
        if self._listening_fd is not None and self._notifications.is_outdated:
            self._selector.unregister(self._listening_fd)
            self._notifications.close()
            self._listening_fd = None
        if self._listening_fd is None and self._open:
            self._listening_fd = self._notifications.open()
            if self._listening_fd is not None:
                self._selector.register(self._listening_fd, selectors.EVENT_READ)

    def _handle_events(self, wait: float | None) -> bool:
        """Whether a change was announced."""
        is_announced = False
        for key, events in self._selector.select(wait):
            connection: EventConnection | None = key.data
            if key.fd == self._listening_fd:
                is_announced = True
                if not self._notifications.receive():
                    self._selector.unregister(key.fd)
                    self._listening_fd = None
            elif connection is None:
                os.read(key.fd, 4096)  # the waker
            elif connection in self._open:
                if events & selectors.EVENT_READ and not connection.drop_input():
                    self._end(connection)
                elif events & selectors.EVENT_WRITE:
                    self._settle(connection, connection.flush())
        return is_announced

    def _check(self) -> None:
        """Writes to each stream the changes since its last event. An error leaves the streams as
        they are until the next check."""
        try:
            revisions = self._revision_cache.read_revisions()
            self._end_revoked(revisions.topics.get("tokens", 0))
            if revisions.generation != self._generation:
                self._write_changes(revisions)
                self._generation = revisions.generation
        except UnavailableError:
            pass  # reported by the requests that fail
        except Exception as error:  # noqa: BLE001  the thread must go on
            self._logger.error("a change can't be sent: %s", format_trace(error))

    def _write_changes(self, revisions: Revisions) -> None:
        pending_bytes = sum(connection.pending_bytes for connection in self._open)
        for connection, subscription in list(self._open.items()):
            revision = revisions.of_environment(subscription.access.environment)
            if message := subscription.write_change(revision):
                pending_bytes -= connection.pending_bytes
                is_ok = connection.send(message)
                is_full = pending_bytes + connection.pending_bytes > MAX_PENDING_BYTES
                is_ok = is_ok and not (is_full and connection.pending_bytes)
                pending_bytes += connection.pending_bytes if is_ok else 0
                self._settle(connection, is_ok)

    def _end_revoked(self, tokens_revision: int) -> None:
        """Ends streams whose token was revoked or has expired. The expiry may have changed since
        the start."""
        if tokens_revision != self._tokens_revision:
            ids = {s.access.token_id for s in self._open.values() if not s.access.is_anonymous}
            with self._database.autocommit() as conn:
                self._scopes = api_tokens.list_scopes(conn, sorted(ids))
            self._tokens_revision = tokens_revision
        now = self._clock.now()
        for connection, subscription in list(self._open.items()):
            access = subscription.access
            scope = self._scopes.get(access.token_id)
            is_valid = scope and scope.projects == access.projects and not scope.has_expired(now)
            if not (access.is_anonymous or is_valid):
                self._end(connection, orderly=True)

    def _keep_alive(self, now: float) -> None:
        """Pings idle streams and ends those whose clients don't read."""
        for connection in list(self._open):
            if connection.is_slow(now):
                self._end(connection)
            elif now - connection.sent_at >= PING_SECONDS:
                self._settle(connection, connection.send(PING))

    def _settle(self, connection: EventConnection, is_ok: bool) -> None:
        """Called after work on the connection: ends it, or watches the events that it needs."""
        if not is_ok:
            self._end(connection)
            return
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if connection.pending_bytes else 0)
        if self._selector.get_key(connection.socket).events != events:
            self._selector.modify(connection.socket, events, connection)

    def _end(self, connection: EventConnection, *, orderly: bool = False) -> None:
        subscription = self._open.pop(connection)
        self._selector.unregister(connection.socket)
        connection.close(orderly=orderly)
        self._free_place(subscription)
