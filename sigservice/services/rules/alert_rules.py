"""Alert rules: limits, events, and the signals of changes that end an alert.

An alert ends when its rule is disabled, deleted or becomes another one (its name, endpoint or
source changes), so that action sets revert what they changed.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from sigservice.clock import format_iso, format_optional
from sigservice.db import Connection, Row
from sigservice.db.errors import UniqueViolation
from sigservice.errors import require_found
from sigservice.repository.rules import alert_rules
from sigservice.repository.signals import signal_endpoints
from sigservice.services.identity import SYSTEM, Identity
from sigservice.services.problems import Problems, build_duplicate_error, build_limit_error
from sigservice.services.rules import rule_conditions
from sigservice.services.rules.rule_conditions import Condition
from sigservice.services.rules.rule_readings import Reading
from sigservice.services.rules.rule_states import RuleState, Status
from sigservice.services.signals import state_signals
from sigservice.services.signals.state_signals import StateSignal
from sigservice.services.system import events
from sigservice.services.system.events import Event

TYPE = "alert-rule"  # of signals
_NOT_FOUND = "Alert rule not found."
NOT_EVALUATED = "The rule was not evaluated yet."


class AlertRule(Condition, kw_only=True):
    """The body of the admin API. Without `enabled`, a stored rule stays as it is, and a new one is
    enabled."""

    name: str
    endpointId: int
    enabled: bool | None = None


def read_condition(row: Row) -> Condition:
    return msgspec.json.decode(row["condition"], type=Condition)


def get(conn: Connection, id: int) -> Row:
    """Raises NotFoundError."""
    return require_found(alert_rules.find(conn, id) if id < 2**31 else None, _NOT_FOUND)


def create(conn: Connection, new: AlertRule, by: Identity, *, limit: int, now: datetime) -> Row:
    """Raises BadDataError, NameExistsError, ExceedsLimitError."""
    check(conn, new)
    alert_rules.lock_all(conn)
    try:
        id = alert_rules.insert(
            conn,
            **_to_columns(new),
            enabled=new.enabled is not False,
            created_by_user_id=by.user_id,
            now=now,
            limit=limit,
        )
    except UniqueViolation as error:
        raise build_duplicate_error(new.name) from error
    if id is None:
        raise build_limit_error(limit, "alert rule", "alertRules")
    row = get(conn, id)
    events.record(conn, "alert-rule-created", by, data=describe_settings(row))
    return row


def update(conn: Connection, id: int, new: AlertRule, by: Identity, *, now: datetime) -> Row:
    """Replaces the rule. Raises NotFoundError, BadDataError, NameExistsError."""
    before = _lock(conn, id)
    check(conn, new)
    return _change(conn, before, new, by, now)


def set_enabled(conn: Connection, id: int, enabled: bool, by: Identity, *, now: datetime) -> Row:
    """Raises NotFoundError."""
    before = _lock(conn, id)
    members = msgspec.structs.asdict(read_condition(before))
    rule = AlertRule(
        **members,
        name=before["name"],
        endpointId=before["endpoint_id"],
        enabled=enabled,
    )
    return _change(conn, before, rule, by, now)


def delete(conn: Connection, id: int, by: Identity, *, now: datetime) -> bool:
    """Returns whether a signal was stored. Raises NotFoundError."""
    before = _lock(conn, id)
    is_alert = _end_alert(conn, before, "The rule was deleted.", now)
    alert_rules.delete(conn, id)
    events.record(conn, "alert-rule-deleted", by, pre_data=describe_settings(before))
    return is_alert


def describe_settings(row: Row) -> dict[str, Any]:
    """The JSON of a rule without its state."""
    return {
        "id": row["id"],
        "name": row["name"],
        "endpointId": row["endpoint_id"],
        "enabled": row["enabled"],
        **msgspec.to_builtins(read_condition(row)),
        "createdAt": format_iso(row["created_at"]),
        "createdByUserId": row["created_by_user_id"],
    }


def to_json(row: Row) -> dict[str, Any]:
    """The JSON of a rule with its state."""
    return describe_settings(row) | {
        "state": row["state"],
        "value": row["value"],
        "limit": read_condition(row).limit,
        "samples": round(row["samples"]),
        "reason": row["reason"],
        "since": format_optional(row["since"]),
        "from": format_optional(row["window_from"]),
        "to": format_optional(row["window_to"]),
        "evaluatedAt": format_optional(row["evaluated_at"]),
        "lastError": row["last_error"],
    }


def build_signal(row: Row, status: Status, state: str, reading: Reading) -> StateSignal:
    """The signal of a change of the state of the rule `row`."""
    data = {
        "key": f"{TYPE}/{row['name']}",
        "rule": row["name"],
        "value": reading.value,
        "limit": read_condition(row).limit,
        "samples": reading.samples,
        "from": format_iso(reading.start),
        "to": format_iso(reading.stop),
        "reason": reading.reason,
    }
    return StateSignal(row["endpoint_id"], TYPE, status, state, data)


def record_changes(conn: Connection, changes: Sequence[tuple[Row, StateSignal]]) -> None:
    """Records the events of the signals of rules."""
    batch = []
    for row, signal in changes:
        source = read_condition(row).source
        data = {
            "ruleId": row["id"],
            "ruleName": row["name"],
            "source": source.__struct_config__.tag,
            **{
                name: signal.data[name]
                for name in ("value", "limit", "samples", "from", "to", "reason")
            },
            "url": f"/admin/alert-rules/{row['id']}",
        }
        item = {"data": data, "environment": getattr(source, "environment", None)}
        batch.append(Event(f"{TYPE}-{signal.status}", SYSTEM, item))
    events.record_all(conn, batch)


def build_state_item(row: Row, state: RuleState, reading: Reading | None) -> dict[str, Any]:
    """The columns of a state. Without a reading, the rule has not been evaluated since its
    change."""
    return {
        "id": row["id"],
        **msgspec.structs.asdict(state),
        "value": reading.value if reading else None,
        "samples": reading.samples if reading else 0,
        "window_from": reading.start if reading else None,
        "window_to": reading.stop if reading else None,
        "reason": reading.reason if reading else NOT_EVALUATED,
        "evaluated_at": reading.stop if reading else None,
        "last_error": reading.error if reading else None,
    }


def check(conn: Connection, new: AlertRule) -> None:
    """Raises BadDataError."""
    problems = Problems().check_name(new.name)
    rule_conditions.check(new, problems)
    rule_conditions.check_references(conn, new, problems)
    is_known = 0 < new.endpointId < 2**31 and signal_endpoints.find(conn, new.endpointId)
    if not is_known:
        problems.add("endpointId", f"The signal endpoint {new.endpointId} doesn't exist.")
    problems.raise_if_any()


def _change(conn: Connection, before: Row, new: AlertRule, by: Identity, now: datetime) -> Row:
    """The row `before` must be locked."""
    enabled = before["enabled"] if new.enabled is None else new.enabled
    is_other = (before["name"], before["endpoint_id"], before["enabled"]) != (
        new.name,
        new.endpointId,
        enabled,
    ) or read_condition(before).source != new.source
    if is_other:
        reason = "The rule was changed." if enabled else "The rule was disabled."
        _end_alert(conn, before, reason, now)
    try:
        alert_rules.update(conn, before["id"], **_to_columns(new), enabled=enabled)
    except UniqueViolation as error:
        raise build_duplicate_error(new.name) from error
    if is_other:
        state = RuleState("unknown", now)
        alert_rules.save_states(conn, [build_state_item(before, state, None)])
    row = get(conn, before["id"])
    data, pre_data = describe_settings(row), describe_settings(before)
    if data != pre_data:
        events.record(conn, "alert-rule-updated", by, data=data, pre_data=pre_data)
    return row


def _end_alert(conn: Connection, row: Row, reason: str, now: datetime) -> bool:
    if not row["has_fired"]:
        return False
    start = row["window_from"] or now
    reading = Reading(None, round(row["samples"]), start, row["window_to"] or now, reason)
    signal = build_signal(row, "resolved", "unknown", reading)
    state_signals.store(conn, [signal])
    record_changes(conn, [(row, signal)])
    return True


def _to_columns(rule: AlertRule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "endpoint_id": rule.endpointId,
        "condition": msgspec.json.encode(rule.get_condition()).decode(),
    }


def _lock(conn: Connection, id: int) -> Row:
    """Raises NotFoundError."""
    return require_found(alert_rules.lock(conn, id) if id < 2**31 else None, _NOT_FOUND)
