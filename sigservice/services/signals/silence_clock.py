"""How long the service was observed running: seconds that all its processes count together. Silence
is measured with it, so that neither a stop nor a step of the clock on the wall counts.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sigservice.db import Connection
from sigservice.repository.signals import silence_checks

MAX_SECONDS = 30.0  # the most that a stall adds; several times the interval of the job


@dataclass(frozen=True)
class Moment:
    """`has_gap`: signals may have been lost since the last look, because this process started,
    stalled or had no database. `has_step`: the clock on the wall jumped, or no process looked."""

    now: datetime
    seconds: float
    has_gap: bool
    has_step: bool


class SilenceClock:
    """One for each process. Not thread-safe: only the job uses it."""

    def __init__(self) -> None:
        self._last: tuple[float, float] | None = None  # its monotonic time, the seconds then
        self._has_failed = False

    def look(self, conn: Connection, now: datetime, monotonic: float) -> Moment | None:
        """The present moment, for the process that gets the lock until the transaction ends; None
        for the others. Call `remember` after the commit."""
        row = silence_checks.lock_clock(conn)
        if row is None:  # the very first look, or another process has the lock
            silence_checks.insert_clock(conn, now=now)
            row = silence_checks.lock_clock(conn)
        if row is None:
            return None
        seconds, has_gap = self._count(row["seconds"], monotonic)
        silence_checks.update_clock(conn, seconds=seconds, now=now)
        has_step = abs(now - row["ticked_at"]) > timedelta(seconds=MAX_SECONDS)
        return Moment(now, seconds, has_gap or self._has_failed, has_step)

    def remember(self, moment: Moment, monotonic: float) -> None:
        self._last, self._has_failed = (monotonic, moment.seconds), False

    def note_failure(self) -> None:
        """To call after a look that raised: the service may have refused signals meanwhile."""
        self._has_failed = True

    def _count(self, row_seconds: float, monotonic: float) -> tuple[float, bool]:
        """(seconds, has_gap). The row has fewer seconds than the last look only if the database is
        an older copy."""
        if self._last is None or row_seconds < self._last[1]:
            return row_seconds, True
        elapsed = monotonic - self._last[0]
        seconds = self._last[1] + min(elapsed, MAX_SECONDS)
        return max(row_seconds, seconds), elapsed > MAX_SECONDS
