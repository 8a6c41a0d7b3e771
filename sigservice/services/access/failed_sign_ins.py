"""Failed sign-ins in the audit log, capped, so that a flood of them doesn't fill the disk."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from sigservice.concurrency.limiter import TokenBuckets
from sigservice.db import Database, Row
from sigservice.errors import PasswordMismatch
from sigservice.services.identity import SYSTEM, SYSTEM_ID, Identity
from sigservice.services.system import events

MAX_EVENTS_PER_MINUTE = 30
MAX_NAMES = 20


class SignInError(PasswordMismatch):
    """`user` is None for an unknown login; `reason` is for the audit log only."""

    def __init__(self, message: str, reason: str, user: Row | None = None, path: str = "") -> None:
        super().__init__(message, path=path)
        self.reason, self.user = reason, user


class FailedSignIns:
    """Records up to `MAX_EVENTS_PER_MINUTE` events and counts the others until `record_summary`.

    Known and unknown logins are both recorded, because a faster answer would reveal which accounts
    exist. An unknown login itself isn't recorded: it may be a password in the wrong field.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._buckets = TokenBuckets(MAX_EVENTS_PER_MINUTE / 60, MAX_EVENTS_PER_MINUTE, monotonic)
        self._lock = threading.Lock()
        self._omitted = 0
        self._omitted_by_user: Counter[str] = Counter()

    def record(self, database: Database, error: SignInError, ip: str) -> None:
        """Raises DatabaseUnavailable."""
        data: dict[str, Any] = {"reason": error.reason}
        if error.user:
            name = error.user["username"] or error.user["email"]
            data |= {"id": error.user["id"], "username": name}
        self.record_failure(database, data, ip)

    def record_failure(self, database: Database, data: Mapping[str, Any], ip: str) -> None:
        """`data` has the `reason`, and the user if one is known. Raises DatabaseUnavailable."""
        by = Identity(SYSTEM_ID, "anonymous", frozenset(), ip=ip)
        self.record_event(database, "user-sign-in-failed", by, data)

    def record_summary(self, database: Database) -> None:
        """Records one event that sums up the counted ones. If it raises DatabaseUnavailable, it
        keeps the counts."""
        with self._lock:
            count, by_user = self._omitted, Counter(self._omitted_by_user)
        if not count:
            return
        data = {"count": count, "byUser": dict(by_user)}
        with database.autocommit() as conn:
            events.record(conn, "user-sign-ins-failed", SYSTEM, data=data)
        with self._lock:
            self._omitted -= count
            self._omitted_by_user -= by_user

    def record_event(
        self, database: Database, type: str, by: Identity, data: Mapping[str, Any]
    ) -> None:
        """The same for an event of another type and actor."""
        if self._buckets.consume("").is_allowed:
            with database.autocommit() as conn:
                events.record(conn, type, by, data=data)
            return
        with self._lock:
            self._omitted += 1
            name = data.get("username", "")
            names = self._omitted_by_user
            if name and (name in names or len(names) < MAX_NAMES):
                names[name] += 1
