"""The last uses of tokens and sessions: kept in memory, written by a job once a minute."""

from datetime import datetime

from sigservice.clock import Clock
from sigservice.concurrency.buffer import Buffer

MAX_KEYS = 100_000  # further tokens and sessions are missed between two runs of the job


class LastUsedBuffer:
    """The last use of API tokens and personal tokens, by ID, and of sessions, by hash."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.api_tokens: Buffer[int, datetime] = Buffer(MAX_KEYS)
        self.personal_tokens: Buffer[int, datetime] = Buffer(MAX_KEYS)
        self.sessions: Buffer[bytes, datetime] = Buffer(MAX_KEYS)

    def record_api_token(self, id: int) -> None:
        now = self._clock.now()
        self.api_tokens.add(id, lambda _: now)

    def record_personal_token(self, id: int) -> None:
        now = self._clock.now()
        self.personal_tokens.add(id, lambda _: now)

    def record_session(self, id_hash: bytes) -> None:
        now = self._clock.now()
        self.sessions.add(id_hash, lambda _: now)
