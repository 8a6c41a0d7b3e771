"""Decides when the job has something to do. The job reads all releases at once after a change of a
flag or of the freeze, and when a step is due; otherwise every few seconds, which is enough for
windows and missing data. The due rules of guards are evaluated together, equally often."""

from datetime import datetime
from typing import NamedTuple

from sigservice.clock import Clock
from sigservice.db import Connection
from sigservice.repository.releases import releases

SCAN_SECONDS = 5.0

_Version = tuple[int, str | None]  # of flags, and the freeze


class Work(NamedTuple):
    must_evaluate: bool = False
    must_scan: bool = False


class ReleaseCounts(NamedTuple):
    running: int = 0
    on_hold: int = 0


class ReleaseWatch:
    """One for each process. Only the job changes it. `counts` are from its last run."""

    def __init__(self) -> None:
        self._scanned: tuple[_Version, datetime, float] | None = None
        self._next: tuple[_Version, datetime, float] | None = None
        self._evaluated_at: float | None = None  # monotonic
        self.counts = ReleaseCounts()

    def find_work(self, conn: Connection, clock: Clock) -> Work:
        """What the job must do now. Call `remember` when a scan is complete."""
        last, monotonic = self._scanned, clock.monotonic()
        row = releases.find_news(conn, since=last[1] if last else None)
        self.counts = ReleaseCounts(row["running_count"], row["held_count"])
        version = row["generation"], row["freeze"]
        self._next = version, row["now"], monotonic
        if not row["has_active"]:
            return Work()
        is_recent = last is not None and last[0] == version and monotonic - last[2] < SCAN_SECONDS
        return Work(
            row["has_rules"] and self._must_evaluate(monotonic),
            row["is_due"] or not is_recent,
        )

    def remember(self) -> None:
        self._scanned = self._next

    def _must_evaluate(self, monotonic: float) -> bool:
        if self._evaluated_at is not None and monotonic - self._evaluated_at < SCAN_SECONDS:
            return False
        self._evaluated_at = monotonic
        return True
