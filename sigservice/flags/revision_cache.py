"""What this process knows of tokens and revisions: kept in memory, asked for before each use.

Each question costs at most one small statement, shared by all requests that wait for it; so a
flipped flag is seen and a revoked token refused at the very next request, in every process.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sigservice.clock import Clock
from sigservice.db.pool import Database
from sigservice.flags.last_used import LastUsedBuffer
from sigservice.flags.read_coalescing import CoalescedRead
from sigservice.repository import revisions as repository
from sigservice.services import revisions
from sigservice.services.access import api_tokens
from sigservice.services.identity import DEFAULT_ENVIRONMENT

MOST_TOKENS = 10_000


@dataclass(frozen=True)
class Access:
    """What a client or frontend token opens. `projects` is ("*",) for all of them."""

    token_id: int
    token_name: str
    type: str
    environment: str
    projects: tuple[str, ...]
    expires_at: datetime | None = None

    @property
    def is_anonymous(self) -> bool:
        """Whether there is no token, where the configuration demands none."""
        return self.token_id == 0

    @property
    def all_projects(self) -> bool:
        return "*" in self.projects


@dataclass(frozen=True)
class Revisions:
    """The ids at one moment; `generation` grows with every change."""

    generation: int
    topics: dict[str, int]

    def of_environment(self, environment: str) -> int:
        return revisions.sum_for_environment(self.topics, environment)


class RevisionCache:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock
        self._known = Revisions(-1, {})
        self._tokens: dict[bytes, Access] = {}
        self._tokens_revision = -1
        self._latest = CoalescedRead(self._read)
        self.last_used = LastUsedBuffer(clock)

    def read_revisions(self) -> Revisions:
        """Those that hold now. Raises DatabaseUnavailable."""
        return self._latest.get()

    def find_cached_access(self, key: bytes, known: Revisions) -> Access | None:
        """What the secret with this SHA-256 opens now, if that is in memory."""
        access = self._tokens_of(known).get(key)
        if access is None or (access.expires_at and access.expires_at <= self._clock.now()):
            return None
        self.last_used.record_api_token(access.token_id)
        return access

    def find_access(self, secret: str, key: bytes, known: Revisions) -> Access | None:
        """The same from the database; None when it is unknown, revoked or expired."""
        tokens = self._tokens_of(known)
        access = self._find(secret)
        if access is not None:
            self.last_used.record_api_token(access.token_id)
            if len(tokens) < MOST_TOKENS:
                tokens[key] = access
        return access

    def _tokens_of(self, known: Revisions) -> dict[bytes, Access]:
        """Those that were found since tokens changed last."""
        revision = known.topics.get("tokens", 0)
        if revision != self._tokens_revision:
            self._tokens, self._tokens_revision = {}, revision
        return self._tokens

    def _find(self, secret: str) -> Access | None:
        with self._database.autocommit() as conn:
            row = api_tokens.find_valid(conn, secret, now=self._clock.now())
        if row is None:
            return None
        return Access(
            token_id=row["id"],
            token_name=row["token_name"],
            type=row["type"],
            environment=DEFAULT_ENVIRONMENT if row["environment"] == "*" else row["environment"],
            projects=tuple(row["projects"]),
            expires_at=row["expires_at"],
        )

    def _read(self) -> Revisions:
        with self._database.autocommit() as conn:
            generation = repository.find_generation(conn)
            if generation != self._known.generation:
                topics = repository.list_all(conn)
                self._known = Revisions(topics.get("", 0), topics)
        return self._known
