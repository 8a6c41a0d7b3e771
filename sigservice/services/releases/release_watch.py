"""When the job has to read all releases: at once after a change of a flag or of the freeze, and
when a step or a rule is due; otherwise every few seconds, which is enough for windows and missing
data."""

from datetime import datetime

from sigservice.db.pool import Connection
from sigservice.repository.releases import releases

SCAN_SECONDS = 5.0


class ReleaseWatch:
    """One for each process. Not thread-safe: only the job uses it."""

    def __init__(self) -> None:
        self._scanned: tuple[tuple[int, str | None], datetime, float] | None = None
        self._next: tuple[tuple[int, str | None], datetime, float] | None = None

    def must_scan(self, conn: Connection, monotonic: float) -> bool:
        """Call `remember` when the scan is complete."""
        last = self._scanned
        row = releases.find_news(conn, since=last[1] if last else None)
        version = row["generation"], row["freeze"]
        self._next = version, row["now"], monotonic
        if not row["has_active"]:
            return False
        is_recent = last is not None and last[0] == version and monotonic - last[2] < SCAN_SECONDS
        return row["is_due"] or not is_recent

    def remember(self) -> None:
        self._scanned = self._next
