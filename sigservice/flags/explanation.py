"""Explains why flags are enabled or not: the engine evaluates each flag and each part of it.

A part (a strategy, its rollout alone, a constraint, a segment) is evaluated as a flag of its own,
so no rule of the engine is implemented twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from sigservice.errors import BadDataError
from sigservice.flags.engine import FlagEngine
from sigservice.flags.random_stickiness import Context, RandomStickiness

MAX_PARTS = 20_000
# Strategies that the engine evaluates by the context alone. The hostname is the application's.
KNOWN_STRATEGIES = (
    "default",
    "userWithId",
    "flexibleRollout",
    "gradualRolloutUserId",
    "gradualRolloutSessionId",
    "gradualRolloutRandom",
    "remoteAddress",
)
# No strategy has this name: the engine evaluates it to false.
_UNKNOWN = "unknown:"
DISABLED_VARIANT = {"name": "disabled", "enabled": False, "feature_enabled": False}

Json = dict[str, Any]
Result = bool | Literal["unknown"]


@dataclass(frozen=True)
class ConstraintResult:
    constraint: Json
    result: bool


@dataclass(frozen=True)
class SegmentResult:
    id: int
    name: str
    result: bool
    constraints: list[ConstraintResult]


@dataclass(frozen=True)
class StrategyResult:
    """`rollout` is the result without constraints and segments. `result` and `rollout` are
    unknown when only the application can evaluate the strategy."""

    strategy: Json
    result: Result
    rollout: Result
    is_random: bool
    constraints: list[ConstraintResult]
    segments: list[SegmentResult]

    @property
    def is_known(self) -> bool:
        return self.strategy["name"] in KNOWN_STRATEGIES


@dataclass(frozen=True)
class ParentResult:
    parent: Json
    is_satisfied: bool
    is_random: bool


@dataclass(frozen=True)
class Explanation:
    """`is_enabled` is the result in an SDK, `is_enabled_here` the state in the environment."""

    name: str
    project: str
    is_enabled: bool
    is_enabled_here: bool
    strategies: list[StrategyResult]
    parents: list[ParentResult]
    variant: Json
    variants: list[Json]
    is_variant_random: bool

    @property
    def active_strategies(self) -> list[StrategyResult]:
        return [it for it in self.strategies if not it.strategy["disabled"]]

    @property
    def result(self) -> Result:
        """The combined result of the strategies."""
        results = [it.result for it in self.active_strategies]
        if not results:
            return self.is_enabled_here
        return True if True in results else "unknown" if "unknown" in results else False

    @property
    def has_unsatisfied_parent(self) -> bool:
        return not all(parent.is_satisfied for parent in self.parents)

    @property
    def is_random(self) -> bool:
        """Whether the next evaluation with the same context may have another result."""
        rollouts = (
            it.is_random and _match(it.constraints, it.segments) for it in self.active_strategies
        )
        parents = (parent.is_random for parent in self.parents)
        return any((*rollouts, *parents, self.is_enabled and self.is_variant_random))


def explain(
    flags: Sequence[Json],
    parents: Sequence[Json],
    segments: Mapping[int, Json],
    strategies: Mapping[str, Sequence[Json]],
    context: Context,
) -> list[Explanation]:
    """Explains each of `flags`. Flags, `parents` and `segments` (by ID) are in the format of the
    client API, `strategies` (by flag, including disabled ones) in that of the admin API. Raises
    BadDataError for too many parts."""
    randomness = RandomStickiness(context)
    names: dict[bytes, str] = {}
    for flag in flags:
        for part in _list_parts(flag, strategies.get(flag["name"], ()), segments, randomness):
            names.setdefault(msgspec.json.encode(part), f"{len(names)}:part")
    if len(names) > MAX_PARTS:
        raise BadDataError(
            "These flags have too many strategies to explain at once. Select fewer.",
            path="projects",
        )
    documents = {flag["name"]: flag for flag in (*flags, *parents)}
    document = {
        "version": 2,
        "features": [_fix_flag(flag, randomness) for flag in documents.values()]
        + [_make_flag(name, part) for part, name in names.items()],
        "segments": list(segments.values()),
    }
    engine = FlagEngine(msgspec.json.encode(document), 0)
    toggles = engine.evaluate(randomness.context, ("*",))
    enabled = {toggle["name"]: toggle["variant"] for toggle in toggles}
    explainer = _Explainer(documents, segments, randomness, names, enabled)
    return [explainer.explain(flag, strategies.get(flag["name"], ())) for flag in flags]


def _list_parts(
    flag: Json,
    strategies: Sequence[Json],
    segments: Mapping[int, Json],
    randomness: RandomStickiness,
) -> Iterator[Json]:
    """What the engine evaluates in addition to the flag; each part is a flag without a name."""
    yield from (_make_parent_part(parent) for parent in flag.get("dependencies", ()))
    for strategy in strategies:
        fixed = randomness.fix_strategy(strategy, flag["name"])
        yield _make_strategy_part(fixed)
        yield _make_rollout_part(fixed)
        yield from map(_make_constraint_part, strategy["constraints"])
        for id in strategy["segments"]:
            yield _make_segment_part(id)
            yield from map(_make_constraint_part, segments[id]["constraints"])


@dataclass(frozen=True)
class _Explainer:
    """What the engine evaluated; `enabled` has the variants of the enabled parts, by name."""

    documents: Mapping[str, Json]
    segments: Mapping[int, Json]
    randomness: RandomStickiness
    names: Mapping[bytes, str]
    enabled: Mapping[str, Json]

    def explain(self, flag: Json, strategies: Sequence[Json]) -> Explanation:
        name = flag["name"]
        results = [self._explain_strategy(strategy, name) for strategy in strategies]
        strategy = _find_strategy_with_variants(results)
        variants = strategy["variants"] if strategy else flag["variants"]
        return Explanation(
            name=name,
            project=flag["project"],
            is_enabled=name in self.enabled,
            is_enabled_here=flag["enabled"],
            strategies=results,
            parents=[self._explain_parent(parent) for parent in flag.get("dependencies", ())],
            variant=self.enabled.get(name, DISABLED_VARIANT),
            variants=variants,
            is_variant_random=len(variants) > 1
            and self.randomness.is_random_choice(variants, strategy),
        )

    def _explain_strategy(self, strategy: Json, flag: str) -> StrategyResult:
        fixed = self.randomness.fix_strategy(strategy, flag)
        constraints = self._explain_constraints(strategy["constraints"])
        segments = [self._explain_segment(id) for id in strategy["segments"]]
        result: Result = self._matches(_make_strategy_part(fixed))
        rollout: Result = self._matches(_make_rollout_part(fixed))
        if strategy["name"] not in KNOWN_STRATEGIES:
            rollout = "unknown"
            result = "unknown" if _match(constraints, segments) else False
        is_random = self.randomness.is_random_rollout(strategy)
        return StrategyResult(strategy, result, rollout, is_random, constraints, segments)

    def _explain_segment(self, id: int) -> SegmentResult:
        segment = self.segments[id]
        constraints = self._explain_constraints(segment["constraints"])
        result = self._matches(_make_segment_part(id))
        return SegmentResult(id, segment["name"], result, constraints)

    def _explain_constraints(self, constraints: Sequence[Json]) -> list[ConstraintResult]:
        return [
            ConstraintResult(it, self._matches(_make_constraint_part(it))) for it in constraints
        ]

    def _explain_parent(self, parent: Json) -> ParentResult:
        strategies = self.documents.get(parent["feature"], {}).get("strategies", ())
        is_random = any(map(self.randomness.is_random_rollout, strategies))
        return ParentResult(parent, self._matches(_make_parent_part(parent)), is_random)

    def _matches(self, part: Json) -> bool:
        return self.names[msgspec.json.encode(part)] in self.enabled


def _find_strategy_with_variants(results: Sequence[StrategyResult]) -> Json | None:
    """The first matching strategy, if it has variants; None means those of the flag."""
    for it in results:
        if it.result is True and not it.strategy["disabled"]:
            return it.strategy if it.strategy["variants"] else None
    return None


def _match(constraints: Sequence[ConstraintResult], segments: Sequence[SegmentResult]) -> bool:
    return all(it.result for it in constraints) and all(it.result for it in segments)


def _make_strategy_part(strategy: Json) -> Json:
    keys = ("name", "parameters", "constraints", "segments")
    return {"strategies": [{key: strategy[key] for key in keys}]}


def _make_rollout_part(strategy: Json) -> Json:
    return {"strategies": [{key: strategy[key] for key in ("name", "parameters")}]}


def _make_constraint_part(constraint: Json) -> Json:
    return {"strategies": [{"name": "default", "parameters": {}, "constraints": [constraint]}]}


def _make_segment_part(id: int) -> Json:
    return {"strategies": [{"name": "default", "parameters": {}, "segments": [id]}]}


def _make_parent_part(parent: Json) -> Json:
    return {"strategies": [], "dependencies": [parent]}


def _make_flag(name: str, part: bytes) -> msgspec.Raw:
    head = msgspec.json.encode({"name": name, "project": "", "enabled": True})
    return msgspec.Raw(head[:-1] + b"," + part[1:])


def _fix_flag(flag: Json, randomness: RandomStickiness) -> Json:
    return flag | {
        "strategies": [
            randomness.fix_strategy(it, flag["name"])
            if it["name"] in KNOWN_STRATEGIES
            else it | {"name": _UNKNOWN}
            for it in flag["strategies"]
        ],
        "variants": randomness.fix_variants(flag["variants"]),
    }
