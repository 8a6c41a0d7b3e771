"""What the engine's answers depend on beside the flags, read off the flags' document.

Two questions: which properties does any flag look at, and would the engine answer the same once
more. It draws lots for `random` stickiness, for `default` stickiness without userId and sessionId,
and among variants when their stickiness field is absent; and it looks at the clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

ROOT_FIELDS = ("environment", "appName", "userId", "sessionId", "remoteAddress", "currentTime")

# Context fields of which one at least must be given, or the answer may differ next time.
Need = tuple[str, ...]
NEVER_THE_SAME: Need = ()
_IDENTITY: Need = ("userId", "sessionId")
# Absent, they are made up: the session at random, the time from the clock.
_MADE_UP = ("sessionId", "currentTime")
# The engine draws lots for these even when they are given.
_NOT_STICKY = ("environment", "appName", "remoteAddress", "currentTime")
_OF_STRATEGIES: dict[str, set[Need]] = {
    "gradualRolloutRandom": {NEVER_THE_SAME},
    "gradualRolloutSessionId": {("sessionId",)},
}


class EngineConstraint(msgspec.Struct):
    contextName: str
    operator: str


class EngineOverride(msgspec.Struct):
    contextName: str


class EngineVariant(msgspec.Struct):
    stickiness: str = "default"
    overrides: list[EngineOverride] = []


class EngineStrategy(msgspec.Struct):
    name: str
    parameters: dict[str, str] = {}
    constraints: list[EngineConstraint] = []
    variants: list[EngineVariant] = []
    segments: list[int] = []


class EngineParent(msgspec.Struct):
    feature: str


class EngineFlag(msgspec.Struct):
    name: str
    project: str
    enabled: bool
    strategies: list[EngineStrategy]
    impressionData: bool = False
    variants: list[EngineVariant] = []
    dependencies: list[EngineParent] = []


class EngineSegment(msgspec.Struct):
    id: int
    constraints: list[EngineConstraint] = []


class EngineDocument(msgspec.Struct):
    """As much of the client API's document as matters here."""

    features: list[EngineFlag]
    segments: list[EngineSegment] = []


class ContextDependency:
    def __init__(self, document: EngineDocument) -> None:
        self._segments = {segment.id: segment.constraints for segment in document.segments}
        self._flags = {flag.name: flag for flag in document.features}
        self._names = {*ROOT_FIELDS, *self._looked_at(document)}
        self._needs: dict[str, set[Need]] = {}
        own = {flag.name: self._own_needs(flag) for flag in document.features}
        for flag in document.features:
            needs = self._needs.setdefault(flag.project, set())
            needs.update(*(own[name] for name in self._family(flag)))

    def reduce_context(self, context: dict[str, Any]) -> dict[str, Any]:
        """Without properties that no flag looks at: they cost time, and each would have a memo of
        its own."""
        kept = {name: text for name, text in context["properties"].items() if name in self._names}
        return context | {"properties": kept}

    def is_deterministic(self, context: dict[str, Any], projects: Iterable[str]) -> bool:
        """Whether flags of these projects (`*`: all) would be answered the same again."""
        asked = self._needs if "*" in projects else projects
        return all(
            any(_is_given(context, name) for name in need)
            for project in asked
            for need in self._needs.get(project, ())
        )

    def _family(self, flag: EngineFlag) -> list[str]:
        """The flag and those that it depends on."""
        names = [flag.name]
        for name in names:
            parents = (parent.feature for parent in self._flags[name].dependencies)
            names += [parent for parent in parents if parent in self._flags and parent not in names]
        return names

    def _own_needs(self, flag: EngineFlag) -> set[Need]:
        needs: set[Need] = set()
        if flag.enabled:
            needs |= _needs_of_variants(flag.variants)
            for strategy in flag.strategies:
                needs |= _OF_STRATEGIES.get(strategy.name, set())
                # A strategy's variants stick to what the strategy sticks to.
                stickiness = strategy.parameters.get("stickiness", "default")
                needs |= _needs_of_variants(strategy.variants, stickiness)
                needs |= _needs_of_rollout(strategy, stickiness)
                names = {constraint.contextName for constraint in self._constraints(strategy)}
                needs |= {(name,) for name in names.intersection(_MADE_UP)}
        return needs

    def _constraints(self, strategy: EngineStrategy) -> Iterator[EngineConstraint]:
        yield from strategy.constraints
        for id in strategy.segments:
            yield from self._segments.get(id, ())

    def _looked_at(self, document: EngineDocument) -> Iterator[str]:
        for flag in document.features:
            variants = list(flag.variants)
            for strategy in flag.strategies:
                variants += strategy.variants
                yield strategy.parameters.get("stickiness", "")
                yield from (constraint.contextName for constraint in self._constraints(strategy))
            for variant in variants:
                yield variant.stickiness
                yield from (override.contextName for override in variant.overrides)


def _needs_of_variants(variants: list[EngineVariant], *stickiness: str) -> set[Need]:
    """An absent field makes the engine draw lots, unless there is nothing to choose."""
    if len(variants) < 2:
        return set()
    return {_sticky(field) for field in (*stickiness, *(v.stickiness for v in variants))}


def _needs_of_rollout(strategy: EngineStrategy, stickiness: str) -> set[Need]:
    """Without the field it is off; nobody and everybody need none."""
    is_partial = strategy.parameters.get("rollout") not in ("0", "100")
    if strategy.name != "flexibleRollout" or not is_partial:
        return set()
    is_built_in = stickiness in ("random", "default", "sessionId", *_NOT_STICKY)
    return {_sticky(stickiness)} if is_built_in else set()


def _sticky(field: str) -> Need:
    if field == "random" or field in _NOT_STICKY:
        return NEVER_THE_SAME
    return _IDENTITY if field == "default" else (field,)


def _is_given(context: dict[str, Any], name: str) -> bool:
    given = context if name in ROOT_FIELDS else context["properties"]
    return bool(given.get(name))
