"""New guards of a release: their endpoints, what the sender's template adds, whether they fire
now, and how long a step must be for them."""

import math
from collections.abc import Container, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.services.problems import Problems
from sigservice.services.releases.guard_results import (
    GuardRecord,
    apply_alert,
    compute_result,
    find_covered_time,
    find_delay,
)
from sigservice.services.releases.guard_signals import (
    FIRING_TIME,
    FindDefaults,
    GuardSignals,
    Match,
    fill_defaults,
    list_changes,
)
from sigservice.services.releases.plans import Guard, RuleGuard, SignalGuard, Step
from sigservice.services.rules import rule_conditions
from sigservice.services.rules.alert_rules import build_state_item
from sigservice.services.rules.prometheus import Answer
from sigservice.services.rules.rule_readings import Reading, read_answer
from sigservice.services.rules.rule_states import RuleState, advance
from sigservice.services.rules.silence import NO_SIGNAL

MAX_SHOWN = 100
NOT_READ = "The metric was not read yet."
NOT_SENT = "The query was not sent yet."


class Readings(NamedTuple):
    """What was read before the transaction, by the position of the guard: the answers of metric
    sources, the readings of impact metrics, or previews (a guard without one is evaluated soon),
    and what the endpoints of guards have."""

    answers: Mapping[int, Answer] = MappingProxyType({})
    metrics: Mapping[int, Reading] = MappingProxyType({})
    previews: Mapping[int, dict[str, Any]] = MappingProxyType({})
    signals: GuardSignals = GuardSignals({}, {}, {})


class PreparedGuard(NamedTuple):
    """A valid guard with its result now. `endpoint` is None for a rule; `columns` are the columns
    of its evaluation. `preview` is of a rule."""

    definition: Guard
    endpoint: Row | None
    state: str
    reason: str | None
    columns: dict[str, Any]
    position: int = 0
    preview: dict[str, Any] | None = None
    matches: Sequence[Match] = ()

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
            "ended": {},
            **self.columns,
        }


def prepare(
    conn: Connection,
    guards: Sequence[Guard],
    problems: Problems,
    find_defaults: FindDefaults,
    readings: Readings,
    now: datetime,
    skipped: Container[int] = (),
) -> list[PreparedGuard]:
    """Adds unknown endpoints, environments and metric sources to `problems`, and queries that can't
    have a value. Guards at `skipped` positions are left out. Raises ForbiddenError."""
    prepared, signals = [], readings.signals
    for index, guard in enumerate(guards):
        if index in skipped:
            continue
        path, endpoint = f"guards[{index}]", signals.endpoints.get(guard.endpoint_id or 0)
        if isinstance(guard, RuleGuard):
            rule_conditions.check_references(conn, guard.rule, problems, f"{path}.rule.")
            answer, reading = readings.answers.get(index), readings.metrics.get(index)
            if answer is not None:
                reading = read_answer(guard.rule, answer, now)
                if answer.is_wrong:
                    problems.add(f"{path}.rule.source.query", str(answer.reason))
            item = _evaluate_rule(guard, reading, now)
            columns = item.columns if guard.ruleId is None else {"rule_id": guard.ruleId}
            item = item._replace(endpoint=endpoint, columns=columns)
        else:
            if endpoint is None:
                problems.add(f"{path}.endpointId", "Signal endpoint not found.")
                continue
            if index in signals.refusals:
                raise signals.refusals[index]
            if endpoint["template"]:
                guard = fill_defaults(guard, find_defaults(endpoint["template"]))
            item = _evaluate(guard, endpoint, signals.matches.get(index, ()))
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
    seconds = max(
        (find_delay(guard) + find_covered_time(guard)).total_seconds() for guard in guards
    )
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


def preview_each(
    conn: Connection,
    guards: Sequence[Guard],
    find_defaults: FindDefaults,
    readings: Readings,
    now: datetime,
) -> dict[int, dict[str, Any]]:
    """The previews of the guards that are valid and that the caller may read, by position."""
    prepared = prepare(
        conn, guards, Problems(), find_defaults, readings, now, readings.signals.refusals
    )
    return {guard.position: _preview(conn, guard, now) for guard in prepared}


def _preview(conn: Connection, guard: PreparedGuard, now: datetime) -> dict[str, Any]:
    """The state of the guard now, and the states that it would have had in the last two days.
    Raises BadDataError."""
    definition = guard.definition
    kind = {"kind": definition.__struct_config__.tag}
    if guard.preview is not None:
        return kind | guard.preview
    series: list[dict[str, Any]] = []
    if isinstance(definition, SignalGuard) and guard.endpoint is not None:
        series = [
            {
                "at": format_iso(at),
                "value": None,
                "samples": None,
                "firing": change.sentence is not None,
                "reason": change.sentence,
            }
            for at, change in reversed(guard.matches[:MAX_SHOWN])
        ]
    numbers = dict.fromkeys(("value", "limit", "samples"))
    return kind | {"state": guard.state, **numbers, "reason": guard.reason, "series": series}


def _evaluate(guard: SignalGuard, endpoint: Row, matches: Sequence[Match]) -> PreparedGuard:
    record = GuardRecord(
        id=0,
        position=0,
        kind=str(guard.__struct_config__.tag),
        definition=guard,
        state="ok",
        since=endpoint["now"],
        endpoint=endpoint["name"],
        endpoint_enabled=endpoint["enabled"],
    )
    for change in list_changes(matches, since=endpoint["now"] - FIRING_TIME):
        apply_alert(record, change, endpoint["now"])
    columns = {"keys": record.keys, "signal_ids": record.signal_ids, "ended": record.ended}
    return PreparedGuard(guard, endpoint, *compute_result(record), columns=columns, matches=matches)


def _evaluate_rule(guard: RuleGuard, reading: Reading | None, now: datetime) -> PreparedGuard:
    """A value beyond the limit counts as firing, at the first breach. Without a reading, the rule
    is evaluated soon."""
    rule, is_read = guard.rule, reading is not None
    if reading is None:
        reasons = {"prometheus": NOT_SENT, "silence": NO_SIGNAL}
        reason = reasons.get(str(rule.source.__struct_config__.tag), NOT_READ)
        reading = Reading(None, 0, now - rule.covered_time, now, reason)
    state = advance(RuleState("unknown", now), rule, reading, now).state
    item = build_state_item({"id": None}, state, reading)
    item["due_at"] = rule.find_due_at(now) if is_read else now
    is_beyond = reading.value is not None and rule.is_beyond(reading.value)
    return PreparedGuard(
        guard, None, "firing" if is_beyond else state.state, reading.reason, {"rule": item}
    )
