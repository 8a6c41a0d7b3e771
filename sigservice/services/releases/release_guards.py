"""New guards of a release: their endpoints, what the sender's template adds, whether they fire
now, and how long a step must be for them."""

import math
from collections.abc import Callable, Container, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.repository.releases import release_guards
from sigservice.services.actions.action_filters import Filter
from sigservice.services.actions.action_set_options import ResolvedCondition
from sigservice.services.problems import Problems
from sigservice.services.releases import release_signals
from sigservice.services.releases.guard_queries import read_query
from sigservice.services.releases.guard_results import (
    GuardRecord,
    apply_alert,
    compute_result,
    find_delay,
    find_window,
)
from sigservice.services.releases.plans import Guard, RuleGuard, SignalGuard, SilenceGuard, Step
from sigservice.services.releases.release_rules import make_columns
from sigservice.services.rules import rule_conditions, rule_preview
from sigservice.services.rules.prometheus import Answer
from sigservice.services.rules.rule_conditions import PrometheusQuery
from sigservice.services.rules.rule_readings import Reading, measure, read_all
from sigservice.services.rules.rule_states import RuleState, advance

PREVIEW_HOURS, MAX_SHOWN = 48, 100


class SenderDefaults(NamedTuple):
    """The conditions under which signals of a sender fire and resolve an alert."""

    filters: list[Filter]
    resolved: ResolvedCondition | None


FindDefaults = Callable[[str], SenderDefaults | None]  # by the name of a sender


class SourceReadings(NamedTuple):
    """The answers of metric sources before the transaction, by the position of the guard: present
    values, or previews. A guard without an answer is evaluated soon."""

    answers: Mapping[int, Answer] = MappingProxyType({})
    previews: Mapping[int, dict[str, Any]] = MappingProxyType({})


class PreparedGuard(NamedTuple):
    """A valid guard with its result now. `endpoint` is None for a rule; `columns` are the columns
    of its evaluation. `preview` is of a query."""

    definition: Guard
    endpoint: Row | None
    state: str
    reason: str | None
    columns: dict[str, Any]
    position: int = 0
    preview: dict[str, Any] | None = None

    def to_item(self) -> dict[str, Any]:
        """The columns of the guard."""
        return {
            "position": self.position,
            "kind": self.definition.__struct_config__.tag,
            "endpoint_id": self.endpoint["id"] if self.endpoint else None,
            "definition": self.definition,
            "state": "unknown" if self.state == "unknown" else "ok",
            "reason": self.reason if self.state == "unknown" else None,
            "keys": {},
            "signal_ids": {},
            **self.columns,
        }


def prepare(
    conn: Connection,
    guards: Sequence[Guard],
    problems: Problems,
    find_defaults: FindDefaults,
    readings: SourceReadings,
    now: datetime,
    skipped: Container[int] = (),
) -> list[PreparedGuard]:
    """Adds unknown endpoints, environments and metric sources to `problems`, and queries that can't
    have a value. Guards at `skipped` positions are left out."""
    prepared = []
    for index, guard in enumerate(guards):
        if index in skipped:
            continue
        path = f"guards[{index}]"
        if isinstance(guard, RuleGuard):
            rule_conditions.check_references(conn, guard.rule, problems, f"{path}.rule.")
            if isinstance(guard.rule.source, PrometheusQuery):
                answer = readings.answers.get(index)
                if answer is not None and answer.is_wrong:
                    problems.add(f"{path}.rule.source.query", str(answer.reason))
                item = _evaluate_query(guard, answer, now)
            else:
                (slices,) = read_all(conn, [guard.rule], None, now)
                item = _evaluate_reading(guard, measure(guard.rule, slices, now), now)
        else:
            id = guard.endpointId
            endpoint = release_guards.find_endpoint(conn, id) if 0 < id < 2**31 else None
            if endpoint is None:
                problems.add(f"{path}.endpointId", "Signal endpoint not found.")
                continue
            item = _evaluate(conn, _add_defaults(guard, endpoint, find_defaults), endpoint)
        prepared.append(item._replace(position=index, preview=readings.previews.get(index)))
    return prepared


def check_firing(guards: Sequence[PreparedGuard], problems: Problems) -> None:
    """Adds the guards that fire now to `problems`; guards of a dry run may fire."""
    for guard in guards:
        if guard.state == "firing" and not guard.definition.dryRun:
            problems.add(f"guards[{guard.position}]", f"The guard fires now: {guard.reason}")


def find_shortest_minutes(guards: Sequence[Guard], propagation_seconds: int) -> int:
    """The minutes of the shortest step in which every guard can notice something."""
    if not guards:
        return 1
    seconds = max((find_delay(guard) + find_window(guard)).total_seconds() for guard in guards)
    return max(1, math.ceil((propagation_seconds + seconds) / 60))


def check_minutes(
    guards: Sequence[Guard],
    propagation_seconds: int,
    steps: Sequence[Step],
    problems: Problems,
    first: int = 0,
) -> None:
    """Adds to `problems` the steps from `first` on that are shorter than the guards need."""
    shortest = find_shortest_minutes(guards, propagation_seconds)
    for index, step in enumerate(steps):
        if index >= first and step.minutes is not None and step.minutes < shortest:
            message = f"The guards need at least {shortest} minutes for each step."
            problems.add(f"steps[{index}].minutes", message)


def preview_all(
    conn: Connection, guards: Sequence[PreparedGuard], propagation_seconds: int, now: datetime
) -> dict[str, Any]:
    """Raises BadDataError."""
    definitions = [guard.definition for guard in guards]
    return {
        "guards": [_preview(conn, guard, now) for guard in guards],
        "shortestStepMinutes": find_shortest_minutes(definitions, propagation_seconds),
    }


def _preview(conn: Connection, guard: PreparedGuard, now: datetime) -> dict[str, Any]:
    """The state of the guard now, and the states that it would have had in the last two days.
    Raises BadDataError."""
    definition = guard.definition
    kind = {"kind": definition.__struct_config__.tag}
    if guard.preview is not None:
        return kind | guard.preview
    if isinstance(definition, RuleGuard):
        return kind | rule_preview.preview_metric(conn, definition.rule, now)
    series: list[dict[str, Any]] = []
    if isinstance(definition, SignalGuard) and guard.endpoint is not None:
        matches = release_signals.list_matches(
            conn, guard.endpoint, definition, hours=PREVIEW_HOURS
        )
        series = [
            {
                "at": format_iso(at),
                "value": None,
                "samples": None,
                "firing": change.sentence is not None,
                "reason": change.sentence,
            }
            for at, change in reversed(matches[:MAX_SHOWN])
        ]
    numbers = dict.fromkeys(("value", "limit", "samples"))
    return kind | {"state": guard.state, **numbers, "reason": guard.reason, "series": series}


def _add_defaults(
    guard: SignalGuard | SilenceGuard, endpoint: Row, find_defaults: FindDefaults
) -> SignalGuard | SilenceGuard:
    """The guard, with the conditions of its sender's template where it has none of its own."""
    if not isinstance(guard, SignalGuard):
        return guard
    defaults = find_defaults(endpoint["template"]) if endpoint["template"] else None
    if defaults is None:
        return guard
    filters = defaults.filters if guard.filters is None else guard.filters
    return msgspec.structs.replace(
        guard, filters=filters, resolved=guard.resolved or defaults.resolved
    )


def _evaluate(conn: Connection, guard: SignalGuard | SilenceGuard, endpoint: Row) -> PreparedGuard:
    record = GuardRecord(
        id=0,
        position=0,
        kind=str(guard.__struct_config__.tag),
        definition=guard,
        state="ok",
        since=endpoint["now"],
        endpoint=endpoint["name"],
        endpoint_enabled=endpoint["enabled"],
        silence=endpoint["silence"],
    )
    if isinstance(guard, SignalGuard):
        for change in release_signals.find_firing(conn, endpoint, guard):
            apply_alert(record, change)
    columns = {"keys": record.keys, "signal_ids": record.signal_ids}
    return PreparedGuard(guard, endpoint, *compute_result(record), columns=columns)


def _evaluate_query(guard: RuleGuard, answer: Answer | None, now: datetime) -> PreparedGuard:
    reading = read_query(guard, answer or Answer(reason="The query was not sent yet."), now)
    prepared = _evaluate_reading(guard, reading, now)
    if answer is None:
        prepared.columns["query_due_at"] = now
    return prepared


def _evaluate_reading(guard: RuleGuard, reading: Reading, now: datetime) -> PreparedGuard:
    """A value beyond the limit counts as firing, at the first breach."""
    state = advance(RuleState("unknown", now), guard.rule, reading, now).state
    columns = make_columns(guard.rule, reading, state)
    is_beyond = reading.value is not None and guard.rule.is_beyond(reading.value)
    return PreparedGuard(
        guard, None, "firing" if is_beyond else state.state, reading.reason, columns
    )
