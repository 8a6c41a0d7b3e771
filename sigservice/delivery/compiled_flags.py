"""Caches the compiled flags of each environment and compiles them again after a change."""

import itertools
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property

import msgspec

from sigservice.clock import Clock
from sigservice.concurrency.single_flight import SingleFlight
from sigservice.db.pool import Database
from sigservice.delivery.revision_cache import RevisionCache
from sigservice.evaluation.flags import AllFlags, Flags
from sigservice.evaluation.ofrep import OfrepFlags
from sigservice.services.flags import client_features
from sigservice.services.flags.client_features import Query
from sigservice.telemetry import Telemetry

MAX_ENVIRONMENTS = 10


@dataclass(frozen=True)
class CompiledFlags:
    """The flags of an environment at one revision; `number` differs for each compilation."""

    number: int
    revision: int
    built_at: float
    flags: Flags

    @cached_property
    def all_flags(self) -> AllFlags:
        """The same flags with the toggles of disabled ones, compiled at the first request."""
        return AllFlags(self.flags)

    @cached_property
    def ofrep_flags(self) -> OfrepFlags:
        """The same flags for OFREP, compiled at its first request."""
        return OfrepFlags(self.flags)


class CompiledFlagsCache:
    """`max_age_seconds` is the option frontendApi.refreshIntervalInMs; None: any age.

    Flags are only returned for the revision that they were compiled for, whatever their age. All
    projects are compiled together, because a parent may be in any of them.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        revision_cache: RevisionCache,
        telemetry: Telemetry,
        *,
        max_age_seconds: float | None,
    ) -> None:
        self._database, self._clock = database, clock
        self._revision_cache, self._telemetry = revision_cache, telemetry
        self._max_age_seconds = max_age_seconds
        self._compiled: OrderedDict[str, CompiledFlags] = OrderedDict()
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._flights = SingleFlight[tuple[str, int], CompiledFlags]()

    def get(self, environment: str, revision: int) -> CompiledFlags:
        """Returns the flags of this revision or a later one. Raises DatabaseUnavailable."""
        return self._find(environment, revision) or self._flights.get(
            (environment, revision), lambda: self._find_or_compile(environment)
        )

    def _find(self, environment: str, revision: int) -> CompiledFlags | None:
        compiled = self._compiled.get(environment)
        if compiled is None or compiled.revision != revision:
            return None
        max_age = self._max_age_seconds
        is_young = max_age is None or self._clock.monotonic() - compiled.built_at < max_age
        return compiled if is_young else None

    def _find_or_compile(self, environment: str) -> CompiledFlags:
        # Meanwhile a later revision may have been compiled; reading it again keeps that.
        revision = self._revision_cache.read_revisions().of_environment(environment)
        return self._find(environment, revision) or self._compile(environment)

    def _compile(self, environment: str) -> CompiledFlags:
        with self._database.autocommit() as conn:
            revision, document = client_features.build_document(conn, Query(environment))
        with self._telemetry.internals.measure("CompiledFlags", "build"):
            flags = Flags(msgspec.json.decode(document))
        self._telemetry.internals.count_engine_build()
        compiled = CompiledFlags(next(self._numbers), revision, self._clock.monotonic(), flags)
        with self._lock:
            self._compiled[environment] = compiled
            self._compiled.move_to_end(environment)
            if len(self._compiled) > MAX_ENVIRONMENTS:
                self._compiled.popitem(last=False)
        return compiled
