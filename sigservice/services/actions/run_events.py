"""Events of runs, recorded in the transaction that ends a run or stores that a set did not run."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from sigservice.clock import format_optional
from sigservice.db import Connection, Row
from sigservice.services.actions.action_alerts import hide_key
from sigservice.services.actions.action_kinds.kind import RevertibleChange
from sigservice.services.actions.schedules import read_cause
from sigservice.services.identity import ADMIN_TOKEN_ID, SYSTEM, Identity
from sigservice.services.signals import signal_summaries
from sigservice.services.system import events
from sigservice.services.system.events import Event

SUCCEEDED, FAILED = "action-run-succeeded", "action-run-failed"
REVERTED, SKIPPED = "action-run-reverted", "action-run-skipped"


class _Action(msgspec.Struct):
    state: str = ""
    details: str | None = None
    executionParams: dict[str, Any] | None = None
    changes: list[RevertibleChange] = []


class _Copy(msgspec.Struct):
    """What the copy of a set in a run says about the run."""

    name: str = ""
    actions: list[_Action] = []

    @property
    def changes(self) -> list[RevertibleChange]:
        return [change for action in self.actions for change in action.changes]


def list_types(cause: str, state: str) -> tuple[str, ...]:
    """The types that the event of a run can have that changes flags."""
    if cause != "signal":
        return (REVERTED,)
    return {"success": (SUCCEEDED,), "failed": (FAILED,)}.get(state, (SUCCEEDED, FAILED))


def record(
    conn: Connection, rows: Sequence[Row], event_ids: Mapping[int, int] | None = None
) -> None:
    """Records the events of the runs that have ended. `event_ids` are reserved, by ID of the run.
    A set that does not run has one event for each reason and hour: `is_first` is true then."""
    batch, skips = [], set()
    for row in rows:
        type = _choose_type(row)
        if type == SKIPPED:
            skip = (row["action_set_id"], _shorten(row["reason"]))
            if not row["is_first"] or skip in skips:
                continue
            skips.add(skip)
        if type:
            item = _build_item(row, _read_copy(row))
            batch.append(Event(type, _make_actor(row), item, (event_ids or {}).get(row["id"])))
    events.record_all(conn, batch)


def _choose_type(row: Row) -> str:
    """ "" for a run that hasn't ended, a dry run, and a revert that changed nothing."""
    if row["dry_run"] or row["state"] == "started":
        return ""
    if row["state"] == "suppressed":
        return SKIPPED
    if row["state"] == "failed":
        return FAILED
    if row["cause"] == "signal":
        return SUCCEEDED
    return REVERTED if _read_copy(row).changes else ""


def _read_copy(row: Row) -> _Copy:
    """Empty if it is unreadable, which is why the run failed."""
    try:
        return msgspec.json.decode(row["action_set"], type=_Copy)
    except msgspec.DecodeError:
        return _Copy()


def _shorten(reason: str) -> str:
    """What the statement that computes `is_first` compares."""
    return reason.partition(":")[0]


def _make_actor(row: Row) -> Identity:
    if row["actor_id"] == ADMIN_TOKEN_ID:
        return Identity(ADMIN_TOKEN_ID, "admin token", frozenset())
    return Identity(row["actor_id"], row["actor"], frozenset()) if row["actor"] else SYSTEM


def name_run(row: Row) -> dict[str, Any]:
    """The members that name a run and its set in each event about it."""
    return {
        "runId": row["id"],
        "actionSetId": row["action_set_id"],
        "actionSetName": _read_copy(row).name or str(row["action_set_id"]),
    }


def _build_item(row: Row, copy: _Copy) -> dict[str, Any]:
    """Environment and flag where there is one of each; `data` is without the payload of the signal,
    which only admins may read."""
    params = [action.executionParams or {} for action in copy.actions]
    environments = {change.environment for change in copy.changes}
    flags = {change.feature for change in copy.changes}
    environments |= {
        one["environment"] for one in params if isinstance(one.get("environment"), str)
    }
    flags |= {one["featureName"] for one in params if isinstance(one.get("featureName"), str)}
    failures = [action.details or "" for action in copy.actions if action.state == "failed"]
    data = name_run(row) | {
        "cause": read_cause(row),
        "reason": hide_key(row["reason"]) or " ".join(failures) or None,
        "alert": _describe_alert(row),
        "flags": [
            {
                "name": change.feature,
                "environment": change.environment,
                "before": change.before,
                "after": change.after,
            }
            for change in copy.changes
        ],
        "restoreDueAt": format_optional(row["revert_due_at"]),
        "url": make_path(row),
    }
    return {
        "project": row["project"],
        "environment": environments.pop() if len(environments) == 1 else None,
        "feature_name": flags.pop() if len(flags) == 1 else None,
        "data": data,
    }


def make_path(row: Row) -> str:
    """The path of the page of a run."""
    project = quote(row["project"], safe="")
    return f"/admin/projects/{project}/actions/{row['action_set_id']}/runs/{row['id']}"


def _describe_alert(row: Row) -> dict[str, Any] | None:
    """The signal of the run, None without one."""
    if row["signal_id"] is None or row["endpoint"] is None:
        return None
    summarizer = signal_summaries.make_summarizer({"options": row["endpoint_options"]})
    summary = signal_summaries.summarize_row(summarizer, row)
    return {
        "key": row["alert_key"],
        "name": summary.name_alert()[0],
        "summary": summary.text,
        "signalId": row["signal_id"],
        "endpoint": row["endpoint"],
    }
