"""Compiles the strategies of a flag."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sigservice.evaluation.addresses import compile_networks
from sigservice.evaluation.buckets import compile_rollout
from sigservice.evaluation.constraints import compile_constraint
from sigservice.evaluation.fields import Predicate, always, combine, never

# Those that the context alone decides. The hostname is the application's.
KNOWN_STRATEGIES = (
    "default",
    "userWithId",
    "flexibleRollout",
    "gradualRolloutUserId",
    "gradualRolloutSessionId",
    "gradualRolloutRandom",
    "remoteAddress",
)
_PERCENTAGE = re.compile(r"\+?0*(100|\d\d?)", re.ASCII)

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Segment:
    """`matches` needs all of `constraints`."""

    constraints: Sequence[Predicate]
    matches: Predicate


@dataclass(frozen=True)
class Strategy:
    """`matches` needs the constraints, the segments and the rollout, which is the rule that the
    strategy is named after."""

    constraints: Sequence[Predicate]
    rollout: Predicate
    matches: Predicate


def compile_segment(segment: Json) -> Segment:
    constraints = [compile_constraint(constraint) for constraint in segment["constraints"]]
    return Segment(constraints, combine(constraints))


def compile_strategy(strategy: Json, flag: str, segments: Mapping[int, Predicate]) -> Strategy:
    """`segments` has the predicates of segments by ID; an unknown segment never matches."""
    constraints = [compile_constraint(it) for it in strategy.get("constraints") or ()]
    matches = [segments.get(id, never) for id in list_segments(strategy)]
    rollout = _compile_named_rule(strategy["name"], strategy.get("parameters") or {}, flag)
    # The rollout comes last, so that no random value is read for nothing.
    return Strategy(constraints, rollout, combine([*constraints, *matches, rollout]))


def list_segments(strategy: Json) -> Sequence[int]:
    """The IDs of the segments."""
    return strategy.get("segments") or ()


def _compile_named_rule(name: str, parameters: Mapping[str, str], flag: str) -> Predicate:
    """A strategy with an invalid or missing parameter never matches."""
    if name == "default":
        return always
    if name == "userWithId" and "userIds" in parameters:
        user_ids = frozenset(_split(parameters["userIds"]))
        return lambda fields: fields["userId"] in user_ids
    if name == "remoteAddress" and "IPs" in parameters:
        contains = compile_networks(_split(parameters["IPs"]))
        return lambda fields: (text := fields["remoteAddress"]) is not None and contains(text)
    group: str | None
    if name == "flexibleRollout":
        field, group = get_stickiness(parameters), parameters.get("groupId", flag)
        percentage = _parse_percentage(parameters.get("rollout", ""))
    elif name in _GRADUAL:
        field = _GRADUAL[name]
        group = flag if field == "random" else parameters.get("groupId")
        percentage = _parse_percentage(parameters.get("percentage", ""))
    else:
        return never
    if group is None or percentage is None:
        return never
    return compile_rollout(field, group, percentage)


_GRADUAL = {
    "gradualRolloutUserId": "userId",
    "gradualRolloutSessionId": "sessionId",
    "gradualRolloutRandom": "random",
}


def get_stickiness(parameters: Mapping[str, str]) -> str:
    return parameters.get("stickiness", "default")


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _parse_percentage(text: str) -> int | None:
    match = _PERCENTAGE.fullmatch(text)
    return int(match[1]) if match else None
