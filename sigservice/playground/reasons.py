"""Turns an explanation into sentences for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sigservice.playground.explanation import ConstraintResult, Explanation, Result, StrategyResult
from sigservice.services import strategy_summaries


@dataclass(frozen=True)
class Check:
    """One condition; the result is `yes`, `no`, `unknown` or `disabled`."""

    text: str
    result: str
    note: str = ""
    checks: list[Check] = field(default_factory=list)


@dataclass(frozen=True)
class Reasons:
    """`state` is `on`, `off`, or `unknown` when only the application can evaluate the flag."""

    name: str
    project: str
    state: str
    why: str
    variant: str
    payload: str
    is_random: bool
    strategies: list[Check]


def build_reasons(it: Explanation, environment: str) -> Reasons:
    has_variant = it.variant["enabled"]
    return Reasons(
        name=it.name,
        project=it.project,
        state=_get_state(it),
        why=_explain_state(it, environment),
        variant=it.variant["name"] if has_variant else "",
        payload=it.variant.get("payload", {}).get("value", "") if has_variant else "",
        is_random=it.is_random,
        strategies=[_check_strategy(result, n) for n, result in enumerate(it.strategies, 1)],
    )


def _get_state(it: Explanation) -> str:
    unsatisfied = any(result.is_known and not result.is_satisfied for result in it.parents)
    if not it.is_enabled_here or unsatisfied or it.result is False:
        return "off"
    is_known = it.result is True and all(result.is_known for result in it.parents)
    return "on" if is_known else "unknown"


def _explain_state(it: Explanation, environment: str) -> str:
    number = _find_match(it)
    if not it.is_enabled_here:
        hint = f" If enabled, strategy {number} would match." if number else ""
        return f"Disabled in {environment}.{hint}"
    for result in it.parents:
        if result.is_known and not result.is_satisfied:
            # The client API leaves out empty variants.
            state = strategy_summaries.summarize_parent({"variants": []} | result.parent)
            return f"Parent flag {result.parent['feature']} is not {state}."
    for result in it.parents:
        if it.result is not False and not result.is_known:
            name = result.parent["feature"]
            return f"Only the application can evaluate the custom strategy of parent flag {name}."
    if not it.active_strategies:
        return "No active strategies: enabled for everyone."
    if number:
        return f"Matched strategy {number}."
    if it.result == "unknown":
        return "Only the application can evaluate its custom strategy."
    return "No strategy matched."


def _find_match(it: Explanation) -> int | None:
    """The number of the first matching strategy, as the page counts them."""
    for number, strategy in enumerate(it.strategies, 1):
        if strategy in it.active_strategies and strategy.result is True:
            return number
    return None


def _check_strategy(it: StrategyResult, number: int) -> Check:
    title, disabled = it.strategy["title"], it.strategy["disabled"]
    bare = it.strategy | {"constraints": [], "segments": [], "variants": []}
    note = _describe_bucket(it)
    rollout = strategy_summaries.summarize_strategy(bare, {})
    checks = [Check(rollout, _name_result(it.rollout), note), *_check_constraints(it.constraints)]
    for segment in it.segments:
        constraints = _check_constraints(segment.constraints)
        result = _name_result(segment.result)
        checks.append(Check(f"segment {segment.name}", result, checks=constraints))
    return Check(
        f"Strategy {number}" + (f": {title}" if title else ""),
        "disabled" if disabled else _name_result(it.result),
        "SDKs never receive it" if disabled else "",
        checks,
    )


def _check_constraints(results: Sequence[ConstraintResult]) -> list[Check]:
    summarize = strategy_summaries.summarize_constraint
    return [
        Check(
            summarize(it.constraint),
            _name_result(it.result),
            f"{it.missing} is missing" if it.missing else "",
        )
        for it in results
    ]


def _describe_bucket(it: StrategyResult) -> str:
    if it.is_random:
        return "random"
    if it.missing:
        return f"{it.missing} is missing"
    return "" if it.bucket is None else f"bucket {it.bucket + 1} of 100"


def _name_result(result: Result) -> str:
    if result == "unknown":
        return "unknown"
    return "yes" if result else "no"
