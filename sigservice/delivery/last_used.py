"""The last uses of tokens and sessions: kept in memory, written by a job once a minute."""

from datetime import datetime

from sigservice.clock import Clock


class LastUsedBuffer:
    """The last use of API tokens and personal tokens, by ID, and of sessions, by hash. The job
    removes what it has written."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.api_tokens: dict[int, datetime] = {}
        self.personal_tokens: dict[int, datetime] = {}
        self.sessions: dict[bytes, datetime] = {}

    def record_api_token(self, id: int) -> None:
        self.api_tokens[id] = self._clock.now()

    def record_personal_token(self, id: int) -> None:
        self.personal_tokens[id] = self._clock.now()

    def record_session(self, id_hash: bytes) -> None:
        self.sessions[id_hash] = self._clock.now()
