"""Wrong passwords in the audit log, capped: a flood of them must not fill the disk."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from sigservice.db.pool import Database
from sigservice.db.statements import Row
from sigservice.errors import PasswordMismatch
from sigservice.limiter import TokenBuckets
from sigservice.services.identity import SYSTEM, SYSTEM_ID, Identity
from sigservice.services.system import events

MAX_EVENTS_PER_MINUTE = 30
MAX_NAMES = 20


class SignInError(PasswordMismatch):
    """`user` is the account, None for an unknown name; `reason` is for the audit log alone."""

    def __init__(self, message: str, reason: str, user: Row | None = None, path: str = "") -> None:
        super().__init__(message, path=path)
        self.reason, self.user = reason, user


class FailedSignIns:
    """Records `MAX_EVENTS_PER_MINUTE` events, known and unknown names alike, since an answer that
    comes sooner would tell them apart. The others are counted until `record_summary`.

    An unknown name is never recorded: it may be a password that was typed into the wrong field.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._buckets = TokenBuckets(MAX_EVENTS_PER_MINUTE / 60, MAX_EVENTS_PER_MINUTE, monotonic)
        self._lock = threading.Lock()
        self._omitted = 0
        self._omitted_by_user: Counter[str] = Counter()

    def record(self, database: Database, refused: SignInError, ip: str) -> None:
        """Raises DatabaseUnavailable."""
        data: dict[str, Any] = {"reason": refused.reason}
        if refused.user:
            name = refused.user["username"] or refused.user["email"]
            data |= {"id": refused.user["id"], "username": name}
        by = Identity(SYSTEM_ID, "anonymous", frozenset(), ip=ip)
        self._record(database, "user-sign-in-failed", by, data)

    def record_wrong_old_password(self, database: Database, by: Identity) -> None:
        """Raises DatabaseUnavailable."""
        data = {"reason": "wrong old password", "id": by.user_id, "username": by.username}
        self._record(database, "user-password-change-failed", by, data)

    def record_wrong_password_for_token(self, database: Database, by: Identity) -> None:
        """Of a user who creates a personal token. Raises DatabaseUnavailable."""
        data = {"reason": "wrong password", "id": by.user_id, "username": by.username}
        self._record(database, "pat-creation-failed", by, data)

    def record_summary(self, database: Database) -> None:
        """One event for those that were only counted. Raises DatabaseUnavailable, and then keeps
        the counts."""
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

    def _record(self, database: Database, type: str, by: Identity, data: dict[str, Any]) -> None:
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
