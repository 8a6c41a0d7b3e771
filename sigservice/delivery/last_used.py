"""The last uses of tokens and sessions: kept in memory, written by a job once a minute."""

from datetime import datetime

from sigservice.clock import Clock


class LastUsedBuffer:
    """The last use of API tokens and personal tokens, by ID, and of sessions, by hash."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._api: dict[int, datetime] = {}
        self._personal: dict[int, datetime] = {}
        self._sessions: dict[bytes, datetime] = {}
        self._former_sessions: dict[bytes, datetime] = {}  # the job may not have written them yet

    def record_api_token(self, id: int) -> None:
        self._api[id] = self._clock.now()

    def record_personal_token(self, id: int) -> None:
        self._personal[id] = self._clock.now()

    def record_session(self, id_hash: bytes) -> None:
        self._sessions[id_hash] = self._clock.now()

    def find_session_use(self, id_hash: bytes) -> datetime | None:
        """The last use in this process within the last minute or two, else None."""
        return self._sessions.get(id_hash) or self._former_sessions.get(id_hash)

    def drain_api_tokens(self) -> dict[int, datetime]:
        """Returns and removes the uses since the last call."""
        return _drain(self._api)

    def drain_personal_tokens(self) -> dict[int, datetime]:
        return _drain(self._personal)

    def drain_sessions(self) -> dict[bytes, datetime]:
        """Returns the uses since the last call."""
        self._former_sessions = self._sessions
        self._sessions = {}
        return dict(self._former_sessions)


def _drain(uses: dict[int, datetime]) -> dict[int, datetime]:
    drained: dict[int, datetime] = {}
    while uses:  # popitem is atomic; other threads add uses at the same time
        id, used_at = uses.popitem()
        drained.setdefault(id, used_at)
    return drained
