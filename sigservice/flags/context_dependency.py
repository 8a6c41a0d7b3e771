"""What an evaluation depends on beside the flags, derived from the flags' document.

Two questions: which properties do the flags use, and does the same context give the same result
again. The engine decides at random for `random` stickiness, for `default` stickiness without
userId and sessionId, and among variants when their stickiness field is absent; and it reads the
clock.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

ROOT_FIELDS = ("environment", "appName", "userId", "sessionId", "remoteAddress", "currentTime")

# Context fields of which at least one must be present for a deterministic result.
Need = tuple[str, ...]
NEVER_DETERMINISTIC: Need = ()
_IDENTITY: Need = ("userId", "sessionId")
# The service fills in these: the session at random, the time from the clock.
_FILLED_IN = ("sessionId", "currentTime")
# The engine decides at random for these even when they are present.
_ALWAYS_RANDOM_FIELDS = ("environment", "appName", "remoteAddress", "currentTime")
_STRATEGY_NEEDS: dict[str, set[Need]] = {
    "gradualRolloutRandom": {NEVER_DETERMINISTIC},
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
    """The parts of the client API's document that matter here."""

    features: list[EngineFlag]
    segments: list[EngineSegment] = []


class ContextDependency:
    def __init__(self, document: EngineDocument) -> None:
        self._segments = {segment.id: segment.constraints for segment in document.segments}
        self._flags = {flag.name: flag for flag in document.features}
        self._names = {*ROOT_FIELDS, *self._list_fields(document)}
        self._needs: dict[str, set[Need]] = {}
        own = {flag.name: self._list_own_needs(flag) for flag in document.features}
        for flag in document.features:
            needs = self._needs.setdefault(flag.project, set())
            needs.update(*(own[name] for name in self._list_with_ancestors(flag)))

    def reduce_context(self, context: dict[str, Any]) -> dict[str, Any]:
        """Removes properties that no flag uses: they cost time, and each value would have a cached
        document of its own."""
        properties = {
            name: text for name, text in context["properties"].items() if name in self._names
        }
        return context | {"properties": properties}

    def is_deterministic(self, context: dict[str, Any], projects: Iterable[str]) -> bool:
        """Whether flags of these projects (`*`: all) have the same result the next time."""
        return all(
            any(_has_field(context, name) for name in need)
            for project in (self._needs if "*" in projects else projects)
            for need in self._needs.get(project, ())
        )

    def _list_with_ancestors(self, flag: EngineFlag) -> list[str]:
        """The flag and its ancestors."""
        names = [flag.name]
        for name in names:
            parents = (parent.feature for parent in self._flags[name].dependencies)
            names += [parent for parent in parents if parent in self._flags and parent not in names]
        return names

    def _list_own_needs(self, flag: EngineFlag) -> set[Need]:
        needs: set[Need] = set()
        if flag.enabled:
            needs |= _list_variant_needs(flag.variants)
            for strategy in flag.strategies:
                needs |= _STRATEGY_NEEDS.get(strategy.name, set())
                # A strategy's variants use its stickiness.
                stickiness = strategy.parameters.get("stickiness", "default")
                needs |= _list_variant_needs(strategy.variants, stickiness)
                needs |= _list_rollout_needs(strategy, stickiness)
                names = {constraint.contextName for constraint in self._list_constraints(strategy)}
                needs |= {(name,) for name in names.intersection(_FILLED_IN)}
        return needs

    def _list_constraints(self, strategy: EngineStrategy) -> Iterator[EngineConstraint]:
        yield from strategy.constraints
        for id in strategy.segments:
            yield from self._segments.get(id, ())

    def _list_fields(self, document: EngineDocument) -> Iterator[str]:
        for flag in document.features:
            variants = list(flag.variants)
            for strategy in flag.strategies:
                variants += strategy.variants
                yield strategy.parameters.get("stickiness", "")
                yield from (
                    constraint.contextName for constraint in self._list_constraints(strategy)
                )
            for variant in variants:
                yield variant.stickiness
                yield from (override.contextName for override in variant.overrides)


def _list_variant_needs(variants: list[EngineVariant], *stickiness: str) -> set[Need]:
    """With an absent field the engine chooses at random, unless there is one variant only."""
    if len(variants) < 2:
        return set()
    return {_get_need(field) for field in (*stickiness, *(v.stickiness for v in variants))}


def _list_rollout_needs(strategy: EngineStrategy, stickiness: str) -> set[Need]:
    """Without another field the strategy doesn't match; 0% and 100% need no field."""
    is_partial = strategy.parameters.get("rollout") not in ("0", "100")
    if strategy.name != "flexibleRollout" or not is_partial:
        return set()
    is_known = stickiness in ("random", "default", "sessionId", *_ALWAYS_RANDOM_FIELDS)
    return {_get_need(stickiness)} if is_known else set()


def _get_need(field: str) -> Need:
    if field == "random" or field in _ALWAYS_RANDOM_FIELDS:
        return NEVER_DETERMINISTIC
    return _IDENTITY if field == "default" else (field,)


def _has_field(context: dict[str, Any], name: str) -> bool:
    fields = context if name in ROOT_FIELDS else context["properties"]
    return bool(fields.get(name))
