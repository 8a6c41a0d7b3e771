"""Claims of metric sources: only one process at a time queries a source. A claim is renewed before
each query and ends a few seconds after the timeout of the source, in case the process is killed.
The clock of the database counts."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime

from sigservice.clock import Clock
from sigservice.concurrency import wait_budget
from sigservice.concurrency.quotas import Quotas
from sigservice.db import Connection, Database, Row
from sigservice.repository.releases.releases import read_time
from sigservice.repository.rules import metric_sources

MARGIN_SECONDS = 5
POLL_SECONDS = 0.05


class SourceClaim:
    """A source that this process has claimed."""

    def __init__(self, claims: "SourceClaims", name: str, until: datetime) -> None:
        self._claims, self._name, self._until = claims, name, until

    def renew(self) -> bool:
        """False if the claim has ended because the process was suspended for long."""
        with self._claims.database.transaction() as conn:
            now = self._claims.read_time(conn)
            until = metric_sources.renew_claim(
                conn, self._name, self._until, now, margin=MARGIN_SECONDS
            )
        self._until = until or self._until
        return until is not None

    def release(self) -> None:
        with self._claims.database.autocommit() as conn:
            metric_sources.release(conn, self._name, self._until)


class SourceClaims:
    """The claims of one process. `places` limits how many callers hold or await a source."""

    def __init__(self, database: Database, clock: Clock, places: Quotas | None = None) -> None:
        self.database, self._clock, self._places = database, clock, places or Quotas()

    def read_time(self, conn: Connection) -> datetime:
        return self._clock.choose_now(read_time(conn))

    def claim(
        self, conn: Connection, names: Sequence[str], now: datetime
    ) -> dict[str, SourceClaim]:
        """Claims the sources that are free; returns the claims by name."""
        ends = metric_sources.claim(conn, names, now, margin=MARGIN_SECONDS)
        return {name: SourceClaim(self, name, until) for name, until in ends.items()}

    @contextmanager
    def hold(self, source: Row) -> Iterator[bool]:
        """Waits for the source, at most as long as a claim lasts and as the request may wait.
        Yields whether it is claimed; False at once if there is no place."""
        name = source["name"]
        if not self._places.acquire(name):
            yield False
            return
        with ExitStack() as stack:
            stack.callback(self._places.release, name)
            claim = self._wait_for_claim(name, source["timeout_seconds"] + MARGIN_SECONDS)
            if claim is not None:
                stack.callback(claim.release)
            yield claim is not None

    def _wait_for_claim(self, name: str, seconds: float) -> SourceClaim | None:
        give_up_at = time.monotonic() + wait_budget.limit(seconds)
        while (claim := self._try_claim(name)) is None and time.monotonic() < give_up_at:
            with wait_budget.count():
                time.sleep(POLL_SECONDS)
        return claim

    def _try_claim(self, name: str) -> SourceClaim | None:
        with self.database.transaction() as conn:
            return self.claim(conn, [name], self.read_time(conn)).get(name)
