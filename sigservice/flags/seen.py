"""When tokens were used last: noted in memory by doors, written once a minute by a job."""

from __future__ import annotations

from datetime import datetime

from sigservice.clock import Clock


class Seen:
    """Two notes: ids of API tokens and of personal tokens, each with its last use."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._api: dict[int, datetime] = {}
        self._personal: dict[int, datetime] = {}

    def api_token(self, id: int) -> None:
        self._api[id] = self._clock.now()

    def personal_token(self, id: int) -> None:
        self._personal[id] = self._clock.now()

    def take_api(self) -> dict[int, datetime]:
        """What was noted since the last call; each note is handed out once."""
        return _take(self._api)

    def take_personal(self) -> dict[int, datetime]:
        return _take(self._personal)


def _take(notes: dict[int, datetime]) -> dict[int, datetime]:
    taken: dict[int, datetime] = {}
    while notes:  # popitem is atomic; requests go on noting meanwhile
        id, at = notes.popitem()
        taken.setdefault(id, at)
    return taken
