"""Strategies, constraints and segments as English sentences, for people who never saw the JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SHOWN_VALUES = 10

# How an operator reads, and how it does when it is inverted.
OPERATORS = {
    "IN": ("is one of", "is not one of"),
    "NOT_IN": ("is not one of", "is one of"),
    "STR_CONTAINS": ("contains", "doesn't contain"),
    "STR_STARTS_WITH": ("starts with", "doesn't start with"),
    "STR_ENDS_WITH": ("ends with", "doesn't end with"),
    "IN_CIDR": ("is an address in", "is no address in"),
    "NUM_EQ": ("is the number", "is not the number"),
    "NUM_GT": ("is more than", "is not more than"),
    "NUM_GTE": ("is at least", "is not at least"),
    "NUM_LT": ("is less than", "is not less than"),
    "NUM_LTE": ("is at most", "is not at most"),
    "DATE_AFTER": ("is after", "is not after"),
    "DATE_BEFORE": ("is before", "is not before"),
    "SEMVER_EQ": ("is version", "is not version"),
    "SEMVER_GT": ("is a version after", "is not a version after"),
    "SEMVER_GTE": ("is at least version", "is not at least version"),
    "SEMVER_LT": ("is a version before", "is not a version before"),
    "SEMVER_LTE": ("is at most version", "is not at most version"),
    "REGEX": ("matches the pattern", "doesn't match the pattern"),
}
_SHARES = {
    "default": ("users", ", by userId or else sessionId"),
    "random": ("requests", ", at random"),
    "sessionId": ("sessions", ", by sessionId"),
}
_LISTS = {
    "userWithId": ("users", "userIds"),
    "remoteAddress": ("addresses", "IPs"),
    "applicationHostname": ("hosts", "hostNames"),
}


def summarize_strategy(stored: Mapping[str, Any], segment_names: Mapping[int, str]) -> str:
    """A strategy as it is on the wire; `segment_names` are by id."""
    asked = [summarize_constraint(item) for item in stored["constraints"]]
    asked += [f"in the segment {segment_names.get(id, id)}" for id in stored["segments"]]
    text = _who(stored["name"], stored["parameters"])
    if asked:
        text += f", if {_and(asked)}"
    if stored["variants"]:
        text += f"; variants: {summarize_variants(stored['variants'])}"
    return _sentence(text)


def summarize_segment(stored: Mapping[str, Any]) -> str:
    """A segment as it is on the wire."""
    asked = [summarize_constraint(item) for item in stored["constraints"]]
    return _sentence(f"if {_and(asked)}" if asked else "everybody")


def summarize_constraint(stored: Mapping[str, Any]) -> str:
    """Such as `country is one of DE, FR`."""
    operator, values = stored["operator"], stored.get("values") or []
    words = OPERATORS.get(operator, (operator, f"not {operator}"))[bool(stored.get("inverted"))]
    if stored.get("value") is not None:
        values = [stored["value"]]
    if len(values) == 1:
        words = words.removesuffix(" one of")
    elif operator.startswith("STR_"):
        words += " one of"
    case = operator.startswith("STR_") and stored.get("caseInsensitive")
    ending = ", in upper or lower case" if case else ""
    return f"{stored['contextName']} {words} {_some(values)}{ending}"


def summarize_variants(stored: Sequence[Mapping[str, Any]]) -> str:
    """Such as `a 50 %, b 50 %`."""
    return ", ".join(f"{variant['name']} {_percent(variant['weight'])}" for variant in stored)


def summarize_parent(stored: Mapping[str, Any]) -> str:
    """What a flag asks of its parent, such as `is on`."""
    if not stored["enabled"]:
        return "is off"
    if stored["variants"]:
        return f"is on with the variant {' or '.join(stored['variants'])}"
    return "is on"


def _who(name: str, parameters: Mapping[str, str]) -> str:
    if name == "default":
        return "everybody"
    if name == "flexibleRollout":
        stickiness = parameters.get("stickiness") or "default"
        return _share(parameters.get("rollout"), stickiness, parameters.get("groupId"))
    if name.startswith("gradualRollout"):
        kind = name.removeprefix("gradualRollout")
        stickiness = kind[:1].lower() + kind[1:]
        return _share(parameters.get("percentage"), stickiness, parameters.get("groupId"))
    if name in _LISTS:
        what, parameter = _LISTS[name]
        values = [text.strip() for text in (parameters.get(parameter) or "").split(",")]
        listed = [text for text in values if text]
        return f"the {what} {_some(listed)}" if listed else "nobody"
    given = ", ".join(f"{key} {_some([text])}" for key, text in parameters.items() if text)
    return f"as the strategy type {name} decides" + (f" with {given}" if given else "")


def _share(rollout: str | None, stickiness: str, group: str | None) -> str:
    """A missing rollout lets nobody in."""
    rollout = rollout or "0"
    if rollout in ("0", "100"):
        return "everybody" if rollout == "100" else "nobody"
    noun, by = _SHARES.get(stickiness, ("users", f", by {stickiness}"))
    if group and stickiness != "random":
        by += f", group {group}"
    return f"{rollout} % of {noun}{by}"


def _percent(weight: int) -> str:
    """Weights are in thousandths."""
    return f"{weight / 10:.1f}".removesuffix(".0") + " %"


def _some(values: Sequence[Any]) -> str:
    shown = ", ".join(str(value) for value in values[:SHOWN_VALUES])
    more = len(values) - SHOWN_VALUES
    return f"{shown} and {more} more" if more > 0 else shown


def _and(parts: Sequence[str]) -> str:
    """`a`, `a and b`; the parts may hold commas of their own."""
    return " and ".join(parts)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
