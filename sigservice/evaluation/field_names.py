"""Lists the context fields that flags use: only these decide the answer."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sigservice.evaluation.strategies import get_stickiness, list_segments

Json = Mapping[str, Any]

_OF_STICKINESS = {"default": ("userId", "sessionId"), "random": ()}
_OF_STRATEGY = {
    "userWithId": ("userId",),
    "remoteAddress": ("remoteAddress",),
    "gradualRolloutUserId": ("userId",),
    "gradualRolloutSessionId": ("sessionId",),
}


def list_field_names(flags: Iterable[Json], segments: Mapping[int, Json]) -> tuple[str, ...]:
    """The names, sorted. `segments` are the segments of the flags by ID."""
    names = {name for flag in flags if flag["enabled"] for name in _list_of_flag(flag, segments)}
    return tuple(sorted(names))


def _list_of_flag(flag: Json, segments: Mapping[int, Json]) -> Iterator[str]:
    for variant in flag.get("variants") or ():
        yield from _list_of_stickiness(variant.get("stickiness", "default"))
        for override in variant.get("overrides") or ():
            yield override["contextName"]
    for strategy in flag["strategies"]:
        yield from _OF_STRATEGY.get(strategy["name"], ())
        if strategy["name"] == "flexibleRollout" or strategy.get("variants"):
            yield from _list_of_stickiness(get_stickiness(strategy.get("parameters") or {}))
        yield from _list_of_constraints(strategy)
        for id in list_segments(strategy):
            yield from _list_of_constraints(segments.get(id, {}))


def _list_of_constraints(holder: Json) -> Iterator[str]:
    for constraint in holder.get("constraints") or ():
        yield constraint["contextName"]


def _list_of_stickiness(field: str) -> tuple[str, ...]:
    return _OF_STICKINESS.get(field, (field,))
