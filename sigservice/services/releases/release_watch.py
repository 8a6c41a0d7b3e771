"""Decides when the job has something to do. The job reads all releases at once after a change of a
flag or of the emergency, and when a step is due; otherwise every few seconds, which is enough for
windows and missing data."""

from datetime import datetime
from typing import NamedTuple

from sigservice.clock import Clock
from sigservice.db import Connection
from sigservice.repository.releases import releases
from sigservice.repository.system import settings
from sigservice.services.system import emergency

SCAN_SECONDS = 5.0

_Version = tuple[int, str | None]  # of flags, and the emergency


class ReleaseCounts(NamedTuple):
    running: int = 0
    on_hold: int = 0


class ReleaseWatch:
    """One for each process. Only the job changes it. `counts` and the stored emergency are from
    its last run."""

    def __init__(self) -> None:
        self._scanned: tuple[_Version, datetime, float] | None = None
        self._next: tuple[_Version, datetime, float] | None = None
        self.counts = ReleaseCounts()
        self.emergency_text: str | None = None

    def must_scan(self, conn: Connection, clock: Clock) -> bool:
        """Whether the job must read all releases now. Call `remember` when it has."""
        last, monotonic = self._scanned, clock.monotonic()
        row = releases.find_news(conn, clock.fixed_now, last[1] if last else None)
        self.counts = ReleaseCounts(row["running_count"], row["held_count"])
        version = row["generation"], row["emergency"]
        self.emergency_text = row["emergency"]
        self._next = version, row["now"], monotonic
        is_recent = last is not None and last[0] == version and monotonic - last[2] < SCAN_SECONDS
        return row["has_active"] and (row["is_due"] or not is_recent)

    def read_emergency(self, conn: Connection) -> None:
        """For the banner of the next page, after a change by this process."""
        self.emergency_text = settings.find(conn, emergency.KEY)

    def remember(self) -> None:
        self._scanned = self._next
