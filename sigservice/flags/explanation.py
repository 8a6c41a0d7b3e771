"""Why flags are on or off: the engine's own answer for each flag and for each part of it.

A part (a strategy, the same without conditions, a constraint, a segment) is judged as a flag of its
own, so that no rule of the engine is told a second time here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from sigservice.errors import BadDataError
from sigservice.flags.engine import FlagEngine
from sigservice.flags.random_stickiness import Context, Lots

MOST_PARTS = 20_000
# What the engine decides by the context alone. An application's host name is the application's.
KNOWN = (
    "default",
    "userWithId",
    "flexibleRollout",
    "gradualRolloutUserId",
    "gradualRolloutSessionId",
    "gradualRolloutRandom",
    "remoteAddress",
)
# No flag has such a name, nor a strategy: the engine takes it for false.
_UNKNOWN = "unknown:"
OFF = {"name": "disabled", "enabled": False, "feature_enabled": False}

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
    """`rollout` is what it says without constraints and segments. `result` and `rollout` are
    unknown when only the application can tell."""

    strategy: Json
    result: Result
    rollout: Result
    by_lot: bool
    constraints: list[ConstraintResult]
    segments: list[SegmentResult]

    @property
    def is_known(self) -> bool:
        return self.strategy["name"] in KNOWN


@dataclass(frozen=True)
class ParentResult:
    parent: Json
    is_satisfied: bool
    by_lot: bool


@dataclass(frozen=True)
class Explanation:
    """`is_enabled` is what an SDK answers, `is_on_here` the flag's switch in the environment."""

    name: str
    project: str
    is_enabled: bool
    is_on_here: bool
    strategies: list[StrategyResult]
    parents: list[ParentResult]
    variant: Json
    variants: list[Json]
    variant_by_lot: bool

    @property
    def active(self) -> list[StrategyResult]:
        return [it for it in self.strategies if not it.strategy["disabled"]]

    @property
    def result(self) -> Result:
        """What the strategies say together."""
        results = [it.result for it in self.active]
        if not results:
            return self.is_on_here
        return True if True in results else "unknown" if "unknown" in results else False

    @property
    def has_unsatisfied_parent(self) -> bool:
        return not all(parent.is_satisfied for parent in self.parents)

    @property
    def by_lot(self) -> bool:
        """Whether the same question may get another answer."""
        rollouts = (it.by_lot and _hold(it.constraints, it.segments) for it in self.active)
        parents = (parent.by_lot for parent in self.parents)
        return any((*rollouts, *parents, self.is_enabled and self.variant_by_lot))


def explain(
    flags: Sequence[Json],
    parents: Sequence[Json],
    segments: Mapping[int, Json],
    strategies: Mapping[str, Sequence[Json]],
    context: Context,
) -> list[Explanation]:
    """Each of `flags`. They, `parents` and `segments` (by id) are as the client API sends them,
    `strategies` as the admin API does: by flag, the disabled ones too. Raises BadDataError."""
    lots = Lots(context)
    names: dict[bytes, str] = {}
    for flag in flags:
        for part in _parts(flag, strategies.get(flag["name"], ()), segments, lots):
            names.setdefault(msgspec.json.encode(part), f"{len(names)}:part")
    if len(names) > MOST_PARTS:
        raise BadDataError(
            "That is too much to explain at once: ask for fewer projects or flags.", path="projects"
        )
    documents = {flag["name"]: flag for flag in (*flags, *parents)}
    document = {
        "version": 2,
        "features": [_settled(flag, lots) for flag in documents.values()]
        + [_flag(name, part) for part, name in names.items()],
        "segments": list(segments.values()),
    }
    engine = FlagEngine(msgspec.json.encode(document), 0)
    on = {toggle["name"]: toggle["variant"] for toggle in engine.evaluate(lots.context, ("*",))}
    judge = _Judge(documents, segments, lots, names, on)
    return [judge.explain(flag, strategies.get(flag["name"], ())) for flag in flags]


def _parts(
    flag: Json, strategies: Sequence[Json], segments: Mapping[int, Json], lots: Lots
) -> Iterator[Json]:
    """What is asked beside the flag itself; each is a flag but for its name."""
    yield from (_parent(parent) for parent in flag.get("dependencies", ()))
    for strategy in strategies:
        settled = lots.settle(strategy, flag["name"])
        yield _whole(settled)
        yield _rollout(settled)
        yield from map(_constraint, strategy["constraints"])
        for id in strategy["segments"]:
            yield _segment(id)
            yield from map(_constraint, segments[id]["constraints"])


@dataclass(frozen=True)
class _Judge:
    """What the engine was asked, and in `on` what it found to be on."""

    documents: Mapping[str, Json]
    segments: Mapping[int, Json]
    lots: Lots
    names: Mapping[bytes, str]
    on: Mapping[str, Json]

    def explain(self, flag: Json, strategies: Sequence[Json]) -> Explanation:
        name = flag["name"]
        found = [self._strategy(strategy, name) for strategy in strategies]
        chosen = _giving_variants(found)
        variants = chosen["variants"] if chosen else flag["variants"]
        return Explanation(
            name=name,
            project=flag["project"],
            is_enabled=name in self.on,
            is_on_here=flag["enabled"],
            strategies=found,
            parents=[self._parent(parent) for parent in flag.get("dependencies", ())],
            variant=self.on.get(name, OFF),
            variants=variants,
            variant_by_lot=len(variants) > 1 and self.lots.decide(variants, chosen),
        )

    def _strategy(self, strategy: Json, flag: str) -> StrategyResult:
        settled = self.lots.settle(strategy, flag)
        constraints = self._constraints(strategy["constraints"])
        segments = [self._asked_segment(id) for id in strategy["segments"]]
        result: Result = self._holds(_whole(settled))
        rollout: Result = self._holds(_rollout(settled))
        if strategy["name"] not in KNOWN:
            rollout = "unknown"
            result = "unknown" if _hold(constraints, segments) else False
        by_lot = self.lots.decide_rollout(strategy)
        return StrategyResult(strategy, result, rollout, by_lot, constraints, segments)

    def _asked_segment(self, id: int) -> SegmentResult:
        found = self.segments[id]
        constraints = self._constraints(found["constraints"])
        return SegmentResult(id, found["name"], self._holds(_segment(id)), constraints)

    def _constraints(self, constraints: Sequence[Json]) -> list[ConstraintResult]:
        return [ConstraintResult(it, self._holds(_constraint(it))) for it in constraints]

    def _parent(self, parent: Json) -> ParentResult:
        strategies = self.documents.get(parent["feature"], {}).get("strategies", ())
        by_lot = any(map(self.lots.decide_rollout, strategies))
        return ParentResult(parent, self._holds(_parent(parent)), by_lot)

    def _holds(self, part: Json) -> bool:
        return self.names[msgspec.json.encode(part)] in self.on


def _giving_variants(found: Sequence[StrategyResult]) -> Json | None:
    """The first strategy that applies, if it has variants; the flag's own count if not."""
    for it in found:
        if it.result is True and not it.strategy["disabled"]:
            return it.strategy if it.strategy["variants"] else None
    return None


def _hold(constraints: Sequence[ConstraintResult], segments: Sequence[SegmentResult]) -> bool:
    return all(it.result for it in constraints) and all(it.result for it in segments)


# Parts: what a flag has that asks for just this.


def _whole(settled: Json) -> Json:
    asked = ("name", "parameters", "constraints", "segments")
    return {"strategies": [{key: settled[key] for key in asked}]}


def _rollout(settled: Json) -> Json:
    return {"strategies": [{key: settled[key] for key in ("name", "parameters")}]}


def _constraint(constraint: Json) -> Json:
    return {"strategies": [{"name": "default", "parameters": {}, "constraints": [constraint]}]}


def _segment(id: int) -> Json:
    return {"strategies": [{"name": "default", "parameters": {}, "segments": [id]}]}


def _parent(parent: Json) -> Json:
    return {"strategies": [], "dependencies": [parent]}


def _flag(name: str, part: bytes) -> msgspec.Raw:
    head = msgspec.json.encode({"name": name, "project": "", "enabled": True})
    return msgspec.Raw(head[:-1] + b"," + part[1:])


def _settled(flag: Json, lots: Lots) -> Json:
    return flag | {
        "strategies": [
            lots.settle(it, flag["name"]) if it["name"] in KNOWN else it | {"name": _UNKNOWN}
            for it in flag["strategies"]
        ],
        "variants": lots.settle_variants(flag["variants"]),
    }
