"""When tokens and sessions were used last: noted in memory, written once a minute by a job."""

from __future__ import annotations

from datetime import datetime

from sigservice.clock import Clock


class LastUsedBuffer:
    """Three notes, each with the last use: ids of API tokens and of personal tokens, and hashes of
    sessions."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._api: dict[int, datetime] = {}
        self._personal: dict[int, datetime] = {}
        self._sessions: dict[bytes, datetime] = {}
        self._former_sessions: dict[bytes, datetime] = {}  # which may not be written yet

    def record_api_token(self, id: int) -> None:
        self._api[id] = self._clock.now()

    def record_personal_token(self, id: int) -> None:
        self._personal[id] = self._clock.now()

    def record_session(self, id_hash: bytes) -> None:
        self._sessions[id_hash] = self._clock.now()

    def find_session_use(self, id_hash: bytes) -> datetime | None:
        """By this process, in the last minute or two."""
        return self._sessions.get(id_hash) or self._former_sessions.get(id_hash)

    def drain_api_tokens(self) -> dict[int, datetime]:
        """What was noted since the last call; each note is handed out once."""
        return _take(self._api)

    def drain_personal_tokens(self) -> dict[int, datetime]:
        return _take(self._personal)

    def drain_sessions(self) -> dict[bytes, datetime]:
        """What was noted since the last call."""
        self._former_sessions = self._sessions
        self._sessions = {}
        return dict(self._former_sessions)


def _take(notes: dict[int, datetime]) -> dict[int, datetime]:
    taken: dict[int, datetime] = {}
    while notes:  # popitem is atomic; requests go on noting meanwhile
        id, at = notes.popitem()
        taken.setdefault(id, at)
    return taken
