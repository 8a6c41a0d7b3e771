"""Automations and their runs in sentences, for pages: `When service is checkout, turn …`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from sigservice.db import Row
from sigservice.services.actions.action_filters import Filter
from sigservice.services.actions.action_set_options import ActionSetOptions
from sigservice.services.actions.action_summaries import describe_action, describe_filter
from sigservice.services.signals.payload_paths import find_values, to_text

COMPARISONS = {
    "IN": "is", "!IN": "is not", "STR_CONTAINS": "contains", "STR_STARTS_WITH": "starts with",
    "NUM_GT": "is above", "NUM_LT": "is below", "EXISTS": "exists",
}  # fmt: skip
MAX_NAMES, MAX_VALUE = 3, 100


def name_field(path: str) -> str:
    """The label of the sending system that a path reads, such as `service`; else the path."""
    before, _, name = path.rpartition(".")
    return name if before.lower().endswith("labels") and name else path


def say_filter(filter: Filter) -> str:
    """Such as `service is checkout`."""
    if filter.any is not None:
        return " or ".join(say_filter(inner) for inner in filter.any)
    words = COMPARISONS.get(("!" if filter.inverted else "") + filter.operator)
    if words is None:
        return describe_filter(filter)
    values = [filter.value] if filter.value is not None else filter.values or []
    text = " or ".join(to_text(value) for value in values)
    return f"{name_field(filter.path)} {words} {text}".strip()


def say_mismatch(reason: Mapping[str, Any], filters: Iterable[Filter], payload: Any) -> str:
    """Why a signal didn't start an automation, such as `service is payments, not checkout`.
    `reason` is the path and operator of the filter that didn't match, empty for an OR group."""
    if not (path := reason.get("path")):
        return "no filter of an OR group matched"
    name, values = name_field(path), find_values(payload, path)
    if not values:
        return f"it has no {name}"
    actual = f"{name} is {', '.join(to_text(value) for value in values[:MAX_NAMES])[:MAX_VALUE]}"
    for filter in filters:
        if (filter.path, filter.operator) == (path, reason["operator"]):
            expected = say_filter(filter)
            is_plain = filter.operator == "IN" and not filter.inverted
            other = expected.removeprefix(f"{name} is ") if is_plain else f"as in “{expected}”"
            return f"{actual}, not {other}"
    return actual


def say_trigger(row: Row, endpoint: str | None, *, hides_alerts: bool) -> str:
    """Such as `service is checkout (alertmanager)`. Viewers don't read which alerts match."""
    place = endpoint or "a deleted signal endpoint"
    resolved = msgspec.json.decode(row["settings"], type=ActionSetOptions).restoreWhenResolved
    filters = [
        say_filter(item)
        for item in msgspec.json.decode(row["filters"], type=list[Filter])
        if resolved is None or item.path != resolved.path
    ]
    if hides_alerts or not filters:
        return f"an alert arrives from {place}"
    return f"{' and '.join(filters)} ({place})"


def say_action(item: Mapping[str, Any]) -> str:
    """Such as `turn new-checkout off in production`."""
    kind, params = item["action"], item.get("executionParams") or {}
    where = f"in {params.get('environment')}"
    if kind in ("TOGGLE_FEATURE_ON", "TOGGLE_FEATURE_OFF"):
        return f"turn {params.get('featureName')} {kind[15:].lower()} {where}"
    if kind == "TOGGLE_FEATURES_OFF_BY_TAG":
        return f"turn off flags with {params.get('tag')} {where}"
    text = describe_action(item)
    return text[:1].lower() + text[1:]


def say_automation(row: Row, endpoint: str | None, *, hides_alerts: bool = False) -> str:
    """What the automation `row` of an endpoint does."""
    actions = msgspec.json.decode(row["actions"])
    options = msgspec.json.decode(row["settings"], type=ActionSetOptions)
    then = ", then ".join(say_action(item) for item in actions)
    is_off = all("_OFF" in item["action"] for item in actions)
    back = "back on" if is_off else "undone"
    end = f", {back} when it resolves" if options.restoreWhenResolved else ""
    if options.restoreAfterMinutes is not None:
        end += f", {back} after {options.restoreAfterMinutes} min"
    return f"When {say_trigger(row, endpoint, hides_alerts=hides_alerts)}, {then}{end}"


def say_changes(changes: Sequence[Mapping[str, Any]]) -> str:
    """Such as `turned a and b off in production`; "" for none."""
    groups: dict[tuple[str, str], list[str]] = {}
    for change in changes:
        groups.setdefault((_say_state(change), change["environment"]), []).append(change["feature"])
    return ", ".join(
        f"turned {join_names(names)} {state} in {environment}"
        for (state, environment), names in groups.items()
    )


def join_names(names: Iterable[str]) -> str:
    """Such as `a, b and c` or `a, b, c and 7 more`."""
    first = [*dict.fromkeys(names)]
    if len(first) > MAX_NAMES + 1:
        first = [*first[:MAX_NAMES], f"{len(first) - MAX_NAMES} more"]
    return " and ".join([", ".join(first[:-1]), first[-1]] if len(first) > 1 else first)


def _say_state(change: Mapping[str, Any]) -> str:
    after = change["after"]
    return ("on" if after else "off") if change["what"] == "state" else f"to {after}%"
