"""Caches the compiled flags of each environment. After a change they share the parts that haven't
changed."""

import itertools
import math
import threading
from collections import OrderedDict
from dataclasses import dataclass

from sigservice.clock import Clock
from sigservice.delivery.flag_state import FlagState
from sigservice.delivery.flag_states import FlagStates
from sigservice.evaluation.all_flags import AllFlags
from sigservice.evaluation.flags import Flags
from sigservice.evaluation.ofrep import OfrepFlags
from sigservice.telemetry import Telemetry

MAX_ENVIRONMENTS = 10
_numbers = itertools.count()


@dataclass(frozen=True)
class CompiledFlags:
    """The flags of an environment at one revision; `number` differs for each compilation. `read_at`
    is the monotonic time when they were compared with the database."""

    number: int
    revision: int
    read_at: float
    flags: Flags
    all_flags: AllFlags
    ofrep_flags: OfrepFlags


class CompiledFlagsCache:
    """`max_age_seconds` is the option frontendApi.refreshIntervalInMs; None: any age.

    Flags are only returned for the revision that they were compiled for, whatever their age. All
    projects are compiled together, because a parent may be in any of them.
    """

    def __init__(
        self,
        states: FlagStates,
        clock: Clock,
        telemetry: Telemetry,
        *,
        max_age_seconds: float | None,
    ) -> None:
        self._states, self._clock, self._telemetry = states, clock, telemetry
        self._max_age_seconds = math.inf if max_age_seconds is None else max_age_seconds
        self._compiled: OrderedDict[str, CompiledFlags] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, environment: str, revision: int) -> CompiledFlags:
        """Returns the flags of this revision or a later one. Raises DatabaseUnavailable."""
        compiled = self._find(environment, revision)
        if compiled is not None:
            return compiled
        state, read_at = self._states.get_young(environment, revision, self._max_age_seconds)
        with self._lock:
            return self._find(environment, state.revision) or self._compile(state, read_at)

    def _find(self, environment: str, revision: int) -> CompiledFlags | None:
        compiled = self._compiled.get(environment)
        if compiled is None or compiled.revision != revision:
            return None
        age_seconds = self._clock.monotonic() - compiled.read_at
        return compiled if age_seconds <= self._max_age_seconds else None

    def _compile(self, state: FlagState, read_at: float) -> CompiledFlags:
        """The caller holds the lock. Flags are compiled when they are first evaluated."""
        former = self._compiled.get(state.environment)
        self._telemetry.internals.count_engine_build()
        texts = {flag.name: flag.text for flag in state.flags}
        flags = Flags(texts, state.segments, former.flags if former else None)
        compiled = CompiledFlags(
            next(_numbers),
            state.revision,
            read_at,
            flags,
            AllFlags(flags, former.all_flags if former else None),
            OfrepFlags(flags, former.ofrep_flags if former else None),
        )
        self._compiled[state.environment] = compiled
        self._compiled.move_to_end(state.environment)
        if len(self._compiled) > MAX_ENVIRONMENTS:
            self._compiled.popitem(last=False)
        return compiled
