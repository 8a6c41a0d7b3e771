"""Summarizes strategies, constraints and segments for people, such as `25% of users · sticky on
userId · country IN [DE, FR]`."""

from collections.abc import Mapping, Sequence
from typing import Any

MAX_VALUES = 10

# The label of an operator, and of its negation.
OPERATORS = {
    "IN": ("IN", "NOT IN"),
    "NOT_IN": ("NOT IN", "IN"),
    "STR_CONTAINS": ("contains", "doesn't contain"),
    "STR_STARTS_WITH": ("starts with", "doesn't start with"),
    "STR_ENDS_WITH": ("ends with", "doesn't end with"),
    "IN_CIDR": ("in CIDR", "not in CIDR"),
    "NUM_EQ": ("=", "not ="),
    "NUM_GT": (">", "not >"),
    "NUM_GTE": ("≥", "not ≥"),
    "NUM_LT": ("<", "not <"),
    "NUM_LTE": ("≤", "not ≤"),
    "DATE_AFTER": ("after", "not after"),
    "DATE_BEFORE": ("before", "not before"),
    "SEMVER_EQ": ("= (semver)", "not = (semver)"),
    "SEMVER_GT": ("> (semver)", "not > (semver)"),
    "SEMVER_GTE": ("≥ (semver)", "not ≥ (semver)"),
    "SEMVER_LT": ("< (semver)", "not < (semver)"),
    "SEMVER_LTE": ("≤ (semver)", "not ≤ (semver)"),
    "REGEX": ("matches regex", "doesn't match regex"),
}
# The same in sentences about who gets a flag.
COMPARISONS = {
    "IN": ("is one of", "is none of"),
    "NOT_IN": ("is none of", "is one of"),
    "STR_CONTAINS": ("contains", "doesn't contain"),
    "STR_STARTS_WITH": ("starts with", "doesn't start with"),
    "STR_ENDS_WITH": ("ends with", "doesn't end with"),
    "IN_CIDR": ("in network", "not in network"),
    "NUM_EQ": ("is", "is not"),
    "NUM_GT": ("above", "not above"),
    "NUM_GTE": ("at least", "not at least"),
    "NUM_LT": ("below", "not below"),
    "NUM_LTE": ("at most", "not at most"),
    "DATE_AFTER": ("after", "not after"),
    "DATE_BEFORE": ("before", "not before"),
    "SEMVER_EQ": ("is", "is not"),
    "SEMVER_GT": ("after", "not after"),
    "SEMVER_GTE": ("at least", "not at least"),
    "SEMVER_LT": ("before", "not before"),
    "SEMVER_LTE": ("at most", "not at most"),
    "REGEX": ("matches", "doesn't match"),
}
_ROLLOUTS = {
    "default": ("users", "sticky on userId or sessionId"),
    "random": ("requests", "random"),
    "sessionId": ("sessions", "sticky on sessionId"),
}
_LISTS = {
    "userWithId": ("userId", "userIds"),
    "remoteAddress": ("IP address", "IPs"),
    "applicationHostname": ("hostname", "hostNames"),
}


def summarize_strategy(strategy: Mapping[str, Any], segment_names: Mapping[int, str]) -> str:
    return " · ".join(list_strategy_chips(strategy, segment_names))


def list_strategy_chips(strategy: Mapping[str, Any], segment_names: Mapping[int, str]) -> list[str]:
    """`strategy` is in the format of the admin API; `segment_names` are by ID."""
    chips = _list_rollout_chips(strategy["name"], strategy["parameters"])
    chips += map(summarize_constraint, strategy["constraints"])
    chips += [f"segment {segment_names.get(id, id)}" for id in strategy["segments"]]
    if strategy["variants"]:
        chips.append(f"variants {summarize_variants(strategy['variants'])}")
    return chips


def describe_strategy(strategy: Mapping[str, Any], segment_names: Mapping[int, str]) -> str:
    """Who gets the flag by it, such as `60% of users with appVersion after 4.2.0, by userId`."""
    name, parameters = strategy["name"], strategy["parameters"]
    conditions = [describe_constraint(constraint) for constraint in strategy["constraints"]]
    percentage, by = _find_percentage(name, parameters), ""
    if percentage is not None:
        kind = name.removeprefix("gradualRollout")
        stickiness = kind[:1].lower() + kind[1:] if kind != name else parameters.get("stickiness")
        noun = _ROLLOUTS.get(stickiness or "default", ("users", ""))[0]
        is_whole = percentage == "100"
        who = noun if is_whole else f"{percentage}% of {noun}"
        if not is_whole and stickiness not in (None, "", "default", "random"):
            by = f", by {stickiness}"
        if is_whole and not (conditions or strategy["segments"]):
            return "everyone"
    elif name in _LISTS:
        field, parameter = _LISTS[name]
        values = [text.strip() for text in (parameters.get(parameter) or "").split(",")]
        who = f"users with {field} {_join_words([text for text in values if text] or ['(none)'])}"
    else:
        who = ", ".join(_list_rollout_chips(name, parameters))
    segments = [f"segment {segment_names.get(id, id)}" for id in strategy["segments"]]
    place = f" in {' and '.join(segments)}" if segments else ""
    condition = f" with {' and '.join(conditions)}" if conditions else ""
    return f"{who}{place}{condition}{by}"


def describe_constraint(constraint: Mapping[str, Any]) -> str:
    """Such as `appVersion after 4.2.0`, or `country is one of DE, FR`."""
    operator, value = constraint["operator"], constraint.get("value")
    labels = COMPARISONS.get(operator, (operator, f"not {operator}"))
    text = _join_words(constraint.get("values") or []) if value is None else str(value)
    return f"{constraint['contextName']} {labels[bool(constraint.get('inverted'))]} {text}"


def _join_words(values: Sequence[Any]) -> str:
    more = len(values) - MAX_VALUES
    texts = [str(value) for value in values[:MAX_VALUES]]
    return ", ".join([*texts, f"{more} more"] if more > 0 else texts)


def describe_reach(strategies: Sequence[Mapping[str, Any]]) -> str:
    """Who gets a flag that is on in an environment with these strategies: a percentage of users, or
    `some`."""
    active = [strategy for strategy in strategies if not strategy["disabled"]]
    if not active:
        return "0%" if strategies else "100%"
    reaches = [
        f"{percentage}%"
        if percentage == "0"
        or (percentage and not (strategy["constraints"] or strategy["segments"]))
        else "some"
        for strategy in active
        for percentage in [_find_percentage(strategy["name"], strategy["parameters"])]
    ]
    if "100%" in reaches:
        return "100%"
    others = [reach for reach in reaches if reach != "0%"] or ["0%"]
    return others[0] if len(others) == 1 else "some"


def summarize_segment(segment: Mapping[str, Any]) -> str:
    """`segment` is in the format of the admin API."""
    return " · ".join(map(summarize_constraint, segment["constraints"])) or "100% of users"


def summarize_constraint(constraint: Mapping[str, Any]) -> str:
    """Such as `country IN [DE, FR]`."""
    operator, value = constraint["operator"], constraint.get("value")
    labels = OPERATORS.get(operator, (operator, f"not {operator}"))
    text = _join(constraint.get("values") or []) if value is None else str(value)
    ignores_case = operator.startswith("STR_") and constraint.get("caseInsensitive")
    suffix = " (case-insensitive)" if ignores_case else ""
    return f"{constraint['contextName']} {labels[bool(constraint.get('inverted'))]} {text}{suffix}"


def summarize_variants(variants: Sequence[Mapping[str, Any]]) -> str:
    """Such as `a 50%, b 50%`. Weights are in thousandths."""
    return ", ".join(f"{variant['name']} {variant['weight'] / 10:g}%" for variant in variants)


def summarize_parent(parent: Mapping[str, Any]) -> str:
    """The required state of a parent flag, such as `enabled`."""
    if parent["enabled"] and parent["variants"]:
        return f"enabled with variant {' or '.join(parent['variants'])}"
    return "enabled" if parent["enabled"] else "disabled"


def _list_rollout_chips(name: str, parameters: Mapping[str, str]) -> list[str]:
    percentage = _find_percentage(name, parameters)
    if percentage is not None:
        kind = name.removeprefix("gradualRollout")
        stickiness = parameters.get("stickiness") or "default"
        if kind != name:
            stickiness = kind[:1].lower() + kind[1:]
        return _list_percentage_chips(percentage, stickiness, parameters)
    if name in _LISTS:
        field, parameter = _LISTS[name]
        texts = map(str.strip, (parameters.get(parameter) or "").split(","))
        values = [text for text in texts if text]
        return [f"{field} IN {_join(values)}" if values else "0% of users"]
    pairs = [f"{key}={text}" for key, text in parameters.items() if text]
    return [f"custom strategy {name}", *pairs]


def _find_percentage(name: str, parameters: Mapping[str, str]) -> str | None:
    """The percentage of a rollout, None for other strategies. A missing one counts as 0."""
    if name == "default":
        return "100"
    if name == "flexibleRollout":
        return parameters.get("rollout") or "0"
    if name.startswith("gradualRollout"):
        return parameters.get("percentage") or "0"
    return None


def _list_percentage_chips(
    percentage: str, stickiness: str, parameters: Mapping[str, str]
) -> list[str]:
    if percentage in ("0", "100"):
        return [f"{percentage}% of users"]
    noun, sticky = _ROLLOUTS.get(stickiness, ("users", f"sticky on {stickiness}"))
    chips = [f"{percentage}% of {noun}", sticky]
    if parameters.get("groupId") and stickiness != "random":
        chips.append(f"group {parameters['groupId']}")
    return chips


def _join(values: Sequence[Any]) -> str:
    more = len(values) - MAX_VALUES
    texts = [str(value) for value in values[:MAX_VALUES]]
    return f"[{', '.join([*texts, f'{more} more'] if more > 0 else texts)}]"
