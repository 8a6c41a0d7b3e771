"""Checks all endpoints that expect signals, in one transaction of the process that has the lock:
the new states, the service's own signals and the events are committed together."""

from typing import Any, NamedTuple

import msgspec

from sigservice.db import Connection, Row
from sigservice.repository.signals import silence_checks
from sigservice.services.signals import state_signals
from sigservice.services.signals.silence_changes import Change, build_event, build_signal
from sigservice.services.signals.silence_clock import Moment
from sigservice.services.signals.silence_rules import SilenceRule
from sigservice.services.signals.silence_states import ALERTS, Check, advance, estimate_times
from sigservice.services.system import events


class _Step(NamedTuple):
    row: Row
    rule: SilenceRule
    before: Check | None
    after: Check


def check_all(conn: Connection, moment: Moment) -> list[Change]:
    """Stores the states at this moment; returns the changes."""
    changes, steps, ended_ids = [], [], []
    for row in silence_checks.list_work(conn):
        if row["silence"] is None:  # the rule was removed
            ended_ids.append(row["endpoint_id"])
            if row["state"] in ALERTS:
                changes.append(_end_alert(row, moment))
            continue
        step = _advance(row, moment)
        steps.append(step)
        if (change := _find_change(step, moment)) is not None:
            changes.append(change)
    _save(conn, steps)
    if ended_ids:
        silence_checks.delete(conn, ended_ids)
    if changes:
        state_signals.store(conn, [build_signal(change) for change in changes])
        events.record_all(conn, [build_event(change) for change in changes if change.is_alert])
    return changes


def _advance(row: Row, moment: Moment) -> _Step:
    rule = msgspec.json.decode(row["silence"], type=SilenceRule)
    before = None
    if row["is_checked"]:
        before = Check(**{name: row[name] for name in Check.__struct_fields__})
    after = advance(
        before,
        rule,
        moment,
        newest_id=row["newest_id"],
        newest_at=row["newest_at"],
        must_restart=row["must_restart"],
    )
    is_alert = after.state in ALERTS
    key = (after.alert_key or f"silence/{row['endpoint_name']}") if is_alert else None
    return _Step(row, rule, before, msgspec.structs.replace(after, alert_key=key))


def _find_change(step: _Step, moment: Moment) -> Change | None:
    """The change of a state; None if it is the same, and for the first signal of an endpoint."""
    before, after = step.before, step.after
    if before is None or before.state == after.state:
        return None
    if after.state not in ALERTS and before.state not in ALERTS:
        return None
    after_row = msgspec.structs.asdict(after)
    expected_at, _ = estimate_times(after_row, step.rule, moment.seconds, moment.now)
    return Change(
        endpoint_id=step.row["endpoint_id"],
        endpoint_name=step.row["endpoint_name"],
        state=after.state,
        old_state=before.state,
        key=str(after.alert_key or before.alert_key),
        at=moment.now,
        last_signal_at=after.last_signal_at,
        expected_at=expected_at,
        silent_seconds=_count_silence(before.last_signal_seconds, moment),
    )


def _end_alert(row: Row, moment: Moment) -> Change:
    """The end of the alert of a removed rule, so that action sets revert their changes."""
    return Change(
        endpoint_id=row["endpoint_id"],
        endpoint_name=row["endpoint_name"],
        state="up",
        old_state=row["state"],
        key=row["alert_key"],
        at=moment.now,
        last_signal_at=row["last_signal_at"],
        expected_at=None,
        silent_seconds=_count_silence(row["last_signal_seconds"], moment),
    )


def _count_silence(last_signal_seconds: float | None, moment: Moment) -> int:
    return round(moment.seconds - (last_signal_seconds or moment.seconds))


def _save(conn: Connection, steps: list[_Step]) -> None:
    items: list[dict[str, Any]] = []
    for step in steps:
        if step.after != step.before or step.row["must_restart"]:
            id = {"endpoint_id": step.row["endpoint_id"]}
            items.append(id | msgspec.structs.asdict(step.after))
    if items:
        restarted = [s.row["endpoint_id"] for s in steps if s.row["must_restart"]]
        silence_checks.save(conn, items, restarted_ids=restarted)
