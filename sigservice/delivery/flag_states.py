"""The current state of each requested environment. After a change, only the changed flags are
read."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from sigservice.clock import Clock
from sigservice.concurrency.shared import Shared
from sigservice.delivery.flag_state import FlagState, build_state
from sigservice.delivery.revision_cache import RevisionCache
from sigservice.services.flags import client_features
from sigservice.telemetry import Telemetry

if TYPE_CHECKING:
    from sigservice.db import Database

MAX_ENVIRONMENTS = 50


class FlagStates:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        revision_cache: RevisionCache,
        telemetry: Telemetry,
    ) -> None:
        self._database, self._clock, self._telemetry = database, clock, telemetry
        self._revision_cache = revision_cache
        self._states: OrderedDict[str, FlagState] = OrderedDict()
        self._read_at: dict[str, float] = {}  # when they were last compared with the database
        self._lock = threading.Lock()
        self._shared = Shared[str, FlagState]()
        # The states at the last call of list_quiet, and whether each existed at the call before.
        self._is_settled: dict[tuple[str, int], bool] = {}

    def get(self, environment: str, revision: int) -> FlagState:
        """The state at this revision or a later one. Raises DatabaseUnavailable."""
        state = self._states.get(environment)
        if state is not None and state.revision == revision:
            return state
        state = self._shared.get(environment, lambda: self._move(environment))
        if state.revision < revision:  # another thread read it before the change
            state = self._shared.get(environment, lambda: self._move(environment))
        return state

    def get_young(
        self, environment: str, revision: int, max_age_seconds: float
    ) -> tuple[FlagState, float]:
        """The state at this revision or a later one, and the monotonic time when it was read.
        An older reading is compared with the database, which notices changes made there without a
        revision. Raises DatabaseUnavailable."""
        state = self.get(environment, revision)
        if self._clock.monotonic() - self._read_at.get(environment, 0.0) > max_age_seconds:
            state = self._shared.get(environment, lambda: self._compare(environment))
        return state, self._read_at.get(environment, 0.0)

    def get_current(self, environment: str) -> FlagState:
        """The state at the present revision. Raises DatabaseUnavailable."""
        revisions = self._revision_cache.read_revisions()
        return self.get(environment, revisions.of_environment(environment))

    def read_all(self, environment: str) -> FlagState:
        """The state, read as a whole and not cached. Raises DatabaseUnavailable."""
        with self._database.autocommit() as conn:
            reading = client_features.read_all(conn, environment)
        return build_state(environment, reading, None)

    def list_quiet(self) -> list[FlagState]:
        """The states that were moved and haven't changed since the last call. Each state is in one
        list only."""
        with self._lock:
            states = list(self._states.values())
        last = self._is_settled
        self._is_settled = {it.key: it.key in last for it in states}
        return [it for it in states if it.is_moved and last.get(it.key) is False]

    def find_drift(self, state: FlagState) -> list[str]:
        """The flags and segments whose digests differ from the database; none if its revision
        differs by now. Raises DatabaseUnavailable."""
        with self._database.autocommit() as conn:
            reading = client_features.read_all(conn, state.environment, digests=True)
        if reading.revisions.of_environment(state.environment) != state.revision:
            return []
        return state.find_differences(reading)

    def _compare(self, environment: str) -> FlagState:
        """The present state, or one read as a whole if the database has other flags."""
        state, read_at = self._states.get(environment), self._clock.monotonic()
        if state is None:  # it was evicted
            return self._move(environment)
        if self.find_drift(state):
            with self._database.autocommit() as conn:
                reading = client_features.read_all(conn, environment)
            state = build_state(environment, reading, state)
        self._store(state, read_at)
        return state

    def _move(self, environment: str) -> FlagState:
        """The state at the present revision. One thread at a time reads it for an environment."""
        read_at = self._clock.monotonic()
        former = self._states.get(environment)
        with self._database.autocommit() as conn:
            if former is None:
                reading = client_features.read_all(conn, environment)
            else:
                reading = client_features.read_changes(conn, environment, former.revisions)
        with self._telemetry.internals.measure("FlagStates", "build"):
            state = build_state(environment, reading, former)
        self._store(state, read_at)
        return state

    def _store(self, state: FlagState, read_at: float) -> None:
        with self._lock:
            self._read_at[state.environment] = read_at
            self._states[state.environment] = state
            self._states.move_to_end(state.environment)
            if len(self._states) > MAX_ENVIRONMENTS:
                del self._read_at[self._states.popitem(last=False)[0]]
