"""Action sets and what becomes of them as English, for people who never saw the JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from sigservice.services.actions.action_filters import LIST_OPERATORS, Filter
from sigservice.services.actions.action_kinds.table import KINDS
from sigservice.services.actions.action_runs import RESTORE
from sigservice.services.actions.action_sets import Settings
from sigservice.services.flags import strategy_summaries

UNDOING = "Restore what the run changed"

# How an operator reads, and how it does when it is inverted.
OPERATORS: Mapping[str, tuple[str, str]] = {
    **{name: words for name, words in strategy_summaries.OPERATORS.items() if name != "IN_CIDR"},
    "EXISTS": ("is there", "is missing"),
}


def filter(one: Filter) -> str:
    """Such as `status is firing` or `a is 1 or b is 2`."""
    if one.any is not None:
        return " or ".join(filter(inner) for inner in one.any)
    if one.operator == "EXISTS":
        return f"{one.path} {OPERATORS['EXISTS'][one.inverted]}"
    text = strategy_summaries.summarize_constraint(
        {
            "contextName": one.path,
            "operator": one.operator,
            "values": one.values,
            "value": one.value,
            "inverted": one.inverted,
        }
    )
    folds = one.caseInsensitive and one.operator in (*LIST_OPERATORS, "REGEX")
    return f"{text} (in upper or lower case)" if folds else text


def action(stored: Mapping[str, Any], set_names: Mapping[str, str]) -> str:
    """Such as `Switch checkout off in production`; `set_names` are by the ids of sets, as text."""
    kind, params = KINDS.get(stored["action"]), stored.get("executionParams") or {}
    if kind is None:
        return UNDOING if stored["action"] == RESTORE else str(stored["action"])
    other = str(params.get("actionSet", ""))
    return kind.words(params | {"actionSet": set_names.get(other, other)})


def settings(one: Settings) -> list[str]:
    """What differs from a set that just runs."""
    found = []
    if one.dryRun:
        found.append("Dry run: nothing is really changed")
    if one.cooldownSeconds:
        found.append(f"Rests {one.cooldownSeconds} s after a run")
    if one.maxRunsPerHour is not None:
        found.append(f"Runs at most {one.maxRunsPerHour} times an hour")
    if one.latch:
        found.append("Runs once, until somebody arms it again")
    if one.continueOnFailure:
        found.append("Goes on after an action that failed")
    if one.restoreAfterMinutes is not None:
        found.append(f"Restores what it changed after {one.restoreAfterMinutes} min")
    if one.restoreWhenResolved is not None:
        resolved = one.restoreWhenResolved
        values = " or ".join(resolved.values)
        found.append(f"Restores what it changed when {resolved.path} is {values}")
    if one.notifications:
        count = len(one.notifications)
        found.append(f"Tells {count} {'channel' if count == 1 else 'channels'}")
    return found


def change(stored: Mapping[str, Any]) -> str:
    """One thing that an action changed, such as `checkout in production: on → off`."""
    before, after = (_state(stored["what"], stored[name]) for name in ("before", "after"))
    return f"{stored['feature']} in {stored['environment']}: {before} → {after}"


def explain_result(stored: Mapping[str, Any]) -> str:
    """Why a set did not run, as the judge wrote it down; "" when it did."""
    because = stored.get("because")
    if stored["verdict"] != "not matched":
        return str(because or "")
    if not because or not because.get("path"):
        return "No filter of an OR group matched."
    words = OPERATORS.get(because["operator"], (because["operator"], ""))[0]
    return f"The filter “{because['path']} {words} …” did not match."


def filters_of(text: str) -> list[str]:
    """The stored filters of a set, each in words."""
    return [filter(one) for one in msgspec.json.decode(text, type=list[Filter])]


def _state(what: str, value: Any) -> str:
    if what == "state":
        return "on" if value else "off"
    return f"{value} %"
