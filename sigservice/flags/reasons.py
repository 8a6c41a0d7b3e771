"""An explanation as English sentences, for people who never saw the JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sigservice.flags.explanation import ConstraintResult, Explanation, Result, StrategyResult
from sigservice.services.flags import strategy_summaries


@dataclass(frozen=True)
class Check:
    """What was asked; the verdict is `yes`, `no`, `unknown` or `disabled`."""

    text: str
    verdict: str
    note: str = ""
    inner: list[Check] = field(default_factory=list)


@dataclass(frozen=True)
class Reasons:
    """`state` is `on`, `off`, or `unknown` when only the application can tell."""

    name: str
    project: str
    state: str
    why: str
    variant: str
    payload: str
    by_lot: bool
    strategies: list[Check]


def build_reasons(it: Explanation, environment: str) -> Reasons:
    given = it.variant["enabled"]
    return Reasons(
        name=it.name,
        project=it.project,
        state=_state(it),
        why=_why(it, environment),
        variant=it.variant["name"] if given else "",
        payload=it.variant.get("payload", {}).get("value", "") if given else "",
        by_lot=it.by_lot,
        strategies=[_strategy(found, n) for n, found in enumerate(it.strategies, 1)],
    )


def _state(it: Explanation) -> str:
    if it.is_enabled:
        return "on"
    is_open = it.is_on_here and not it.has_unsatisfied_parent
    return "unknown" if is_open and it.result == "unknown" else "off"


def _why(it: Explanation, environment: str) -> str:
    if not it.is_on_here:
        rest = " Switched on, it would find a strategy that applies." if it.result is True else ""
        return f"It is switched off in {environment}.{rest}"
    for found in it.parents:
        if not found.is_satisfied:
            # The client API leaves out the variants when none are asked for.
            wanted = strategy_summaries.summarize_parent({"variants": []} | found.parent)
            return f"It asks that {found.parent['feature']} {wanted}, which does not hold."
    if not it.active:
        return "It has no active strategy: it is on for everybody."
    for n, strategy in enumerate(it.strategies, 1):
        if strategy in it.active and strategy.result is True:
            return f"Strategy {n} applies."
    if it.result == "unknown":
        return "Only the application can tell whether a strategy of its own applies."
    return "No strategy applies."


def _strategy(it: StrategyResult, number: int) -> Check:
    title, disabled = it.strategy["title"], it.strategy["disabled"]
    bare = it.strategy | {"constraints": [], "segments": [], "variants": []}
    note = "drawn by lot" if it.by_lot else ""
    inner = [Check(strategy_summaries.summarize_strategy(bare, {}), _verdict(it.rollout), note)]
    inner += _constraints(it.constraints)
    inner += [
        Check(
            f"in the segment {segment.name}",
            _verdict(segment.result),
            inner=_constraints(segment.constraints),
        )
        for segment in it.segments
    ]
    return Check(
        f"Strategy {number}" + (f": {title}" if title else ""),
        "disabled" if disabled else _verdict(it.result),
        "SDKs never see it" if disabled else "",
        inner,
    )


def _constraints(found: Sequence[ConstraintResult]) -> list[Check]:
    return [
        Check(strategy_summaries.summarize_constraint(it.constraint), _verdict(it.result))
        for it in found
    ]


def _verdict(result: Result) -> str:
    if result == "unknown":
        return "unknown"
    return "yes" if result else "no"
