"""Alert rules: limits, events, and the signals of changes that end an alert.

An alert ends when its rule is disabled, deleted or becomes another one (its name, endpoint or
source changes), so that action sets revert what they changed.
"""

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
from sigservice.services.rules.rule_conditions import LIMIT_MEMBERS, Condition, Silence
from sigservice.services.rules.rule_readings import Reading
from sigservice.services.rules.rule_states import RuleState, Status
from sigservice.services.signals import state_signals
from sigservice.services.signals.state_signals import StateSignal
from sigservice.services.system import events

TYPE = "alert-rule"  # of signals and events
SILENCE_STATES = {"firing": "down", "resolved": "up"}
_NOT_FOUND = "Alert rule not found."
NOT_EVALUATED = "The rule was not evaluated yet."


class AlertRule(Condition, kw_only=True):
    """The body of the admin API. Without `enabled`, a stored rule stays as it is, and a new one is
    enabled. Without `endpointId`, the signals of silence are stored at the silent endpoint."""

    name: str
    endpointId: int | None = None
    enabled: bool | None = None

    @property
    def endpoint_id(self) -> int:
        """0 if it is missing."""
        source = self.source
        own = source.endpointId if isinstance(source, Silence) else 0
        return own if self.endpointId is None else self.endpointId


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
    _bump_endpoints(conn, row)
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
    _bump_endpoints(conn, before)
    events.record(conn, "alert-rule-deleted", by, pre_data=describe_settings(before))
    return is_alert


def describe_settings(row: Row) -> dict[str, Any]:
    """The JSON of a rule without its state."""
    condition = msgspec.to_builtins(read_condition(row))
    if condition["source"]["kind"] == "silence":
        condition = {k: value for k, value in condition.items() if k not in LIMIT_MEMBERS}
    return {
        "id": row["id"],
        "name": row["name"],
        "endpointId": row["endpoint_id"],
        "enabled": row["enabled"],
        **condition,
        "createdAt": format_iso(row["created_at"]),
        "createdByUserId": row["created_by_user_id"],
    }


def to_json(row: Row) -> dict[str, Any]:
    """The JSON of a rule with its state."""
    return describe_settings(row) | {
        "state": row["state"],
        "value": row["value"],
        "limit": _find_limit(row),
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
    if row["silent_endpoint"] is not None:
        return _build_silence_signal(row, status, reading)
    data = {
        "key": build_alert_key(row),
        "rule": row["name"],
        **_describe_reading(row, reading),
    }
    return StateSignal(row["endpoint_id"], TYPE, status, state, data)


def _describe_reading(row: Row, reading: Reading) -> dict[str, Any]:
    return {
        "value": reading.value,
        "limit": _find_limit(row),
        "samples": reading.samples,
        "from": format_iso(reading.start),
        "to": format_iso(reading.stop),
        "reason": reading.reason,
    }


def build_alert_key(row: Row) -> str:
    """The key of the alert of a rule; the one of silence is the same until it is resolved."""
    if row["silent_endpoint"] is None:
        return f"{TYPE}/{row['name']}"
    return row["alert_key"] or f"silence/{row['silent_endpoint']}"


def _build_silence_signal(row: Row, status: Status, reading: Reading) -> StateSignal:
    source = read_condition(row).source
    assert isinstance(source, Silence)
    before = row["last_signal_at"] or reading.start
    data = {
        "key": build_alert_key(row),
        "rule": row["name"],
        "endpoint": row["silent_endpoint"],
        "lastSignalAt": format_optional(reading.last_signal_at or row["last_signal_at"]),
        "expectedAt": format_iso(source.find_expected(reading.start)),
        "silentSeconds": round((reading.stop - before).total_seconds()),
        "reason": reading.reason,
    }
    return StateSignal(row["endpoint_id"], "silence", status, SILENCE_STATES[status], data)


def store_change(conn: Connection, row: Row, status: Status, state: str, reading: Reading) -> None:
    """Stores the signal of a change of the state of the rule `row`, and records its event."""
    state_signals.store(conn, [build_signal(row, status, state, reading)])
    source = read_condition(row).source
    data = {
        "ruleId": row["id"],
        "ruleName": row["name"],
        "source": source.__struct_config__.tag,
        **_describe_reading(row, reading),
        "url": f"/admin/alert-rules/{row['id']}",
    }
    environment = getattr(source, "environment", None)
    events.record(conn, f"{TYPE}-{status}", SYSTEM, data=data, environment=environment)


def build_state_item(row: Row, state: RuleState, reading: Reading | None) -> dict[str, Any]:
    """The columns of a state. Without a reading, the rule has not been evaluated since its
    change."""
    key = build_alert_key(row) if state.has_fired and row.get("silent_endpoint") else None
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
        "last_signal_id": reading.last_signal_id if reading else None,
        "last_signal_at": reading.last_signal_at if reading else None,
        "alert_key": key,
    }


def check(conn: Connection, new: AlertRule) -> None:
    """Raises BadDataError."""
    problems = Problems().check_name(new.name)
    rule_conditions.check(new, problems)
    rule_conditions.check_references(conn, new, problems)
    if new.endpointId is not None or not isinstance(new.source, Silence):
        rule_conditions.check_endpoint(conn, new.endpoint_id, problems, "endpointId")
    problems.raise_if_any()


def _change(conn: Connection, before: Row, new: AlertRule, by: Identity, now: datetime) -> Row:
    """The row `before` must be locked."""
    enabled = before["enabled"] if new.enabled is None else new.enabled
    is_other = (before["name"], before["endpoint_id"], before["enabled"]) != (
        new.name,
        new.endpoint_id,
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
    _bump_endpoints(conn, before, row)
    data, pre_data = describe_settings(row), describe_settings(before)
    if data != pre_data:
        events.record(conn, "alert-rule-updated", by, data=data, pre_data=pre_data)
    return row


def _end_alert(conn: Connection, row: Row, reason: str, now: datetime) -> bool:
    if not row["has_fired"]:
        return False
    start = row["window_from"] or now
    reading = Reading(None, round(row["samples"]), start, row["window_to"] or now, reason)
    store_change(conn, row, "resolved", "unknown", reading)
    return True


def _find_limit(row: Row) -> float | None:
    """None for silence, whose value is the time over it."""
    return None if row["silent_endpoint"] is not None else read_condition(row).limit


def _bump_endpoints(conn: Connection, *rows: Row) -> None:
    """Those whose signals end silence: `awaits_signals` of their settings has changed."""
    for id in sorted({row["silent_endpoint_id"] for row in rows} - {None}):
        signal_endpoints.lock(conn, id)
        signal_endpoints.bump_version(conn, id)


def _to_columns(rule: AlertRule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "endpoint_id": rule.endpoint_id,
        "condition": msgspec.json.encode(rule.get_condition()).decode(),
    }


def _lock(conn: Connection, id: int) -> Row:
    """Raises NotFoundError."""
    return require_found(alert_rules.lock(conn, id) if id < 2**31 else None, _NOT_FOUND)
