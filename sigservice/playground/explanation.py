"""Explains why flags are enabled or not: the rules of each flag are evaluated one by one.

All parts of an explanation use the same random value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from sigservice.errors import BadDataError
from sigservice.evaluation.fields import Fields, Predicate
from sigservice.evaluation.flags import Flag, Flags
from sigservice.evaluation.strategies import (
    KNOWN_STRATEGIES,
    Segment,
    compile_segment,
    compile_strategy,
)

MAX_PARTS = 20_000
DEFAULT, RANDOM = "default", "random"  # stickiness that is no field
DISABLED_VARIANT = {"name": "disabled", "enabled": False, "feature_enabled": False}

Json = dict[str, Any]
Result = bool | Literal["unknown"]


@dataclass(frozen=True)
class ConstraintResult:
    """`missing` is the field of the constraint if the context lacks it, else ""."""

    constraint: Json
    result: bool
    missing: str


@dataclass(frozen=True)
class SegmentResult:
    id: int
    name: str
    result: bool
    constraints: list[ConstraintResult]


@dataclass(frozen=True)
class StrategyResult:
    """`rollout` is the result without constraints and segments. `result` and `rollout` are
    unknown when only the application can evaluate the strategy. `bucket` is the user's, from 0 to
    99, if a percentage decided; `missing` is the stickiness field that the context lacks."""

    strategy: Json
    result: Result
    rollout: Result
    is_random: bool
    bucket: int | None
    missing: str
    constraints: list[ConstraintResult]
    segments: list[SegmentResult]

    @property
    def is_known(self) -> bool:
        return self.strategy["name"] in KNOWN_STRATEGIES


@dataclass(frozen=True)
class ParentResult:
    """`is_known` is false if a custom strategy decides; then `is_satisfied` is the result in an SDK
    without it."""

    parent: Json
    is_satisfied: bool
    is_known: bool


@dataclass(frozen=True)
class Explanation:
    """`is_enabled` is the result in an SDK, `is_enabled_here` the state in the environment.
    `is_random` says whether the next evaluation may have another result."""

    name: str
    project: str
    is_enabled: bool
    is_enabled_here: bool
    strategies: list[StrategyResult]
    parents: list[ParentResult]
    variant: Json
    variants: list[Json]
    is_random: bool

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


def explain(
    flags: Sequence[Json],
    parents: Sequence[Json],
    segments: Mapping[int, Json],
    strategies: Mapping[str, Sequence[Json]],
    fields: Fields,
) -> list[Explanation]:
    """Explains each of `flags`. Flags, `parents` and `segments` (by ID) have the format of the
    client API; `strategies` (by flag, including disabled ones) have the format of the admin API.
    Raises BadDataError for too many parts."""
    saved = [strategy for flag in flags for strategy in strategies.get(flag["name"], ())]
    parts = sum(1 + len(it["constraints"]) + len(it["segments"]) for it in saved)
    if parts + sum(len(segment["constraints"]) for segment in segments.values()) > MAX_PARTS:
        raise BadDataError(
            "These flags have too many strategies to explain at once. Select fewer.",
            path="projects",
        )
    names = {flag["name"] for flag in flags}
    documents = [*flags, *(parent for parent in parents if parent["name"] not in names)]
    texts = {id: msgspec.json.encode(segment) for id, segment in segments.items()}
    compiled, matching = (
        Flags({it["name"]: msgspec.json.encode(it) for it in versions}, texts).by_name
        for versions in (documents, map(_match_custom_strategies, documents))
    )
    explainer = _Explainer(segments, fields, compiled, matching)
    return [explainer.explain_flag(flag, strategies.get(flag["name"], ())) for flag in flags]


def _match_custom_strategies(flag: Json) -> Json:
    strategies = [
        it if it["name"] in KNOWN_STRATEGIES else it | {"name": "default"}
        for it in flag["strategies"]
    ]
    return flag | {"strategies": strategies}


class _Explainer:
    """`matching` are the flags as if all custom strategies matched."""

    def __init__(
        self,
        segments: Mapping[int, Json],
        fields: Fields,
        flags: Mapping[str, Flag],
        matching: Mapping[str, Flag],
    ) -> None:
        self._fields, self._flags, self._matching = fields, flags, matching
        compiled = {id: compile_segment(segment) for id, segment in segments.items()}
        self._matches = {id: segment.matches for id, segment in compiled.items()}
        self._segments = {
            id: self._explain_segment(segments[id], segment) for id, segment in compiled.items()
        }

    def explain_flag(self, flag: Json, strategies: Sequence[Json]) -> Explanation:
        fields, compiled = self._fields, self._flags[flag["name"]]
        results = [self._explain_strategy(strategy, flag["name"]) for strategy in strategies]
        fields.has_read_random = False
        variant = compiled.find_variant(fields)
        is_random = fields.has_read_random
        may_match = self._matching[flag["name"]].parents
        parents = zip(flag.get("dependencies") or (), compiled.parents, may_match, strict=True)
        return Explanation(
            name=flag["name"],
            project=flag["project"],
            is_enabled=variant is not None,
            is_enabled_here=flag["enabled"],
            strategies=results,
            parents=[
                ParentResult(parent, matches(fields), matches(fields) == may_be(fields))
                for parent, matches, may_be in parents
            ],
            variant=variant or DISABLED_VARIANT,
            variants=_find_variants_of_strategy(results) or flag["variants"],
            is_random=is_random,
        )

    def _explain_strategy(self, strategy: Json, flag: str) -> StrategyResult:
        compiled = compile_strategy(strategy, flag, self._matches)
        constraints = self._explain_constraints(strategy["constraints"], compiled.constraints)
        segments = [self._segments[id] for id in strategy["segments"]]
        self._fields.has_read_random, self._fields.rollout_bucket = False, None
        rollout: Result = compiled.rollout(self._fields)
        is_random, bucket = self._fields.has_read_random, self._fields.rollout_bucket
        stickiness = strategy["parameters"].get("stickiness", DEFAULT)
        missing = "" if stickiness in (DEFAULT, RANDOM) else self._find_missing(stickiness)
        result: Result = compiled.matches(self._fields)
        if strategy["name"] not in KNOWN_STRATEGIES:
            can_match = all(it.result for it in constraints) and all(it.result for it in segments)
            result, rollout = "unknown" if can_match else False, "unknown"
        return StrategyResult(
            strategy, result, rollout, is_random, bucket, missing, constraints, segments
        )

    def _explain_segment(self, segment: Json, compiled: Segment) -> SegmentResult:
        constraints = self._explain_constraints(segment["constraints"], compiled.constraints)
        result = compiled.matches(self._fields)
        return SegmentResult(segment["id"], segment["name"], result, constraints)

    def _explain_constraints(
        self, constraints: Sequence[Json], compiled: Sequence[Predicate]
    ) -> list[ConstraintResult]:
        return [
            ConstraintResult(
                constraint,
                matches(self._fields),
                self._find_missing(constraint["contextName"]),
            )
            for constraint, matches in zip(constraints, compiled, strict=True)
        ]

    def _find_missing(self, name: str) -> str:
        return name if name != "currentTime" and self._fields.get(name) is None else ""


def _find_variants_of_strategy(results: Sequence[StrategyResult]) -> list[Json]:
    """The variants of the first matching strategy; none means the flag's variants."""
    for it in results:
        if it.result is True and not it.strategy["disabled"]:
            return it.strategy["variants"]
    return []
