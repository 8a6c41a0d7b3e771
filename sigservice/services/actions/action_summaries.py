"""Action sets, changes and results in plain English."""

from collections.abc import Mapping
from typing import Any

from sigservice.db import Row
from sigservice.services import strategy_summaries
from sigservice.services.actions.action_filters import LIST_OPERATORS, Filter
from sigservice.services.actions.action_kinds.table import KINDS
from sigservice.services.actions.action_reverts import REVERT
from sigservice.services.actions.schedules import read_schedule

REVERT_RUN = "Revert the changes of the run"

# The words for an operator, and for the inverted one.
OPERATORS: Mapping[str, tuple[str, str]] = {
    **{name: words for name, words in strategy_summaries.OPERATORS.items() if name != "IN_CIDR"},
    "EXISTS": ("exists", "is missing"),
}


def describe_filter(filter: Filter) -> str:
    """Such as `status is firing` or `a is 1 or b is 2`."""
    if filter.any is not None:
        return " or ".join(describe_filter(inner) for inner in filter.any)
    if filter.operator == "EXISTS":
        return f"{filter.path} {OPERATORS['EXISTS'][filter.inverted]}"
    text = strategy_summaries.summarize_constraint(
        {
            "contextName": filter.path,
            "operator": filter.operator,
            "values": filter.values,
            "value": filter.value,
            "inverted": filter.inverted,
        }
    )
    folds = filter.caseInsensitive and filter.operator in (*LIST_OPERATORS, "REGEX")
    text = f"{text} (case-insensitive)" if folds else text
    return f"{text}, also when resolved" if filter.alsoWhenResolved else text


def describe_action(item: Mapping[str, Any]) -> str:
    """Such as `Disable checkout in production`."""
    kind, params = KINDS.get(item["action"]), item.get("executionParams") or {}
    if kind is None:
        return REVERT_RUN if item["action"] == REVERT else str(item["action"])
    return kind.describe(params)


def describe_schedule(row: Row) -> str:
    """Such as `0 22 * * FRI (Europe/Berlin)`; "" if an endpoint triggers the set."""
    schedule = read_schedule(row)
    if schedule is None:
        return ""
    if schedule.cron is None:
        zone = f" ({schedule.timezone})" if schedule.timezone else ""
        return f"Once at {schedule.at}{zone}"
    return f"{schedule.cron} ({schedule.zone})"


def describe_change(item: Mapping[str, Any]) -> str:
    """Such as `checkout in production: on → off`."""
    before, after = split_change(item)
    return f"{item['feature']} in {item['environment']}: {before} → {after}"


def split_change(item: Mapping[str, Any]) -> tuple[str, str]:
    """The value before and after."""
    before, after = (_format_value(item["what"], item[name]) for name in ("before", "after"))
    return before, after


def describe_undo(item: Mapping[str, Any]) -> str:
    """The effect of undoing a change, such as `checkout in production: off → on`."""
    return describe_change({**item, "before": item["after"], "after": item["before"]})


def _format_value(what: str, value: Any) -> str:
    if what == "state":
        return "on" if value else "off"
    return f"{value}%"
