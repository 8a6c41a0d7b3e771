"""Tokens and revisions in memory, checked against the database before each use.

A check costs at most one small statement, which concurrent requests share; so the next request in
every process sees a changed flag and rejects a revoked token.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Self

from sigservice.clock import Clock
from sigservice.concurrency.shared import READ_WAIT_SECONDS, Shared
from sigservice.delivery.last_used import LastUsedBuffer
from sigservice.delivery.late import api_tokens
from sigservice.services import revisions as revision_service
from sigservice.services.identity import DEFAULT_ENVIRONMENT
from sigservice.services.late import revision_rows
from sigservice.services.revisions import Revisions

if TYPE_CHECKING:
    from sigservice.db import Database, Row

MAX_TOKENS = 10_000


@dataclass(frozen=True)
class Access:
    """The access that a client or frontend token gives. `projects` is ("*",) for all projects."""

    token_id: int
    token_name: str
    type: str
    environment: str
    projects: tuple[str, ...]
    expires_at: datetime | None = None

    @classmethod
    def from_row(cls, row: Row) -> Self:
        return cls(
            token_id=row["id"],
            token_name=row["token_name"],
            type=row["type"],
            environment=DEFAULT_ENVIRONMENT if row["environment"] == "*" else row["environment"],
            projects=tuple(row["projects"]),
            expires_at=row["expires_at"],
        )

    @property
    def is_anonymous(self) -> bool:
        """Whether the request has no token, which the configuration allows."""
        return self.token_id == 0

    @property
    def has_all_projects(self) -> bool:
        return "*" in self.projects


class RevisionCache:
    def __init__(self, database: Database, clock: Clock, last_used: LastUsedBuffer) -> None:
        self._database, self._clock = database, clock
        self._revisions = Revisions()
        self._tokens: dict[bytes, Access] = {}
        self._tokens_revision = -1
        self._shared = Shared[str, Revisions](keeps=True)
        self._last_used = last_used

    def read_revisions(self, arrived_at: float | None = None) -> Revisions:
        """The current revisions, or the revisions at a moment after `arrived_at`, when the request
        arrived. Raises DatabaseUnavailable."""
        not_before = time.monotonic() if arrived_at is None else arrived_at
        return self._shared.get(
            "", self._read_changes, not_before=not_before, wait=READ_WAIT_SECONDS
        )

    def find_cached_access(self, key: bytes, revisions: Revisions) -> Access | None:
        """The access of the secret with this SHA-256, if it is cached and hasn't expired."""
        access = self._list_tokens(revisions).get(key)
        if access is None or (access.expires_at and access.expires_at <= self._clock.now()):
            return None
        self._last_used.record_api_token(access.token_id)
        return access

    def find_access(self, secret: str, key: bytes, revisions: Revisions) -> Access | None:
        """The access from the database; None for an unknown, revoked or expired secret."""
        tokens = self._list_tokens(revisions)
        with self._database.autocommit() as conn:
            row = api_tokens.find_valid(conn, secret, now=self._clock.now())
        if row is None:
            return None
        access = Access.from_row(row)
        self._last_used.record_api_token(access.token_id)
        if len(tokens) < MAX_TOKENS:
            tokens[key] = access
        return access

    def _list_tokens(self, revisions: Revisions) -> dict[bytes, Access]:
        """The tokens cached since tokens last changed."""
        revision = revisions.topics.get("tokens", 0)
        if revision != self._tokens_revision:
            self._tokens, self._tokens_revision = {}, revision
        return self._tokens

    def _read_changes(self) -> Revisions:
        with self._database.autocommit(is_brief=True) as conn:
            generation = revision_rows.find_generation(conn)
            if generation != self._revisions.generation:
                revisions = revision_service.read(conn)
                if not revisions.is_after(self._revisions):
                    revisions = revision_service.replace_lost(conn, self._revisions)
                self._revisions = revisions
        return self._revisions
