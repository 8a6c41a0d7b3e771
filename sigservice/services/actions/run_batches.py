"""Performs the actions of runs, in batches: one transaction performs the next actions of the oldest
runs and stores the progress of these runs.

States of flags are changed in memory, in order. They are written together with their events and
the progress of the runs: at the end of the batch, and before each action that needs the database
itself. After a kill, another process continues with the first unfinished action, so each action
happens once.
"""

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from sigservice.clock import format_iso
from sigservice.db import Connection, Row, savepoint
from sigservice.db.errors import DatabaseUnavailable
from sigservice.errors import AppError, NotFoundError, UnavailableError, describe_fault
from sigservice.log import Logger, log_error
from sigservice.repository.actions import action_runs, alerts
from sigservice.services.actions import action_reverts, run_events, shared_holds
from sigservice.services.actions.action_actor import find_user, make_service_account
from sigservice.services.actions.action_kinds.kind import ActionResult, Kind, perform_and_write
from sigservice.services.actions.action_kinds.table import KINDS
from sigservice.services.actions.action_set_options import ActionSetOptions
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.flags.feature_switches import SwitchBatch
from sigservice.services.identity import Cause, Identity
from sigservice.services.system import events

# An admin who changes a flag waits for the batch, and so do SDKs for its first change.
MAX_RUNS = 50
MAX_CHANGES = 50
MAX_SECONDS = 0.025


@dataclass(frozen=True)
class PerformedAction:
    """One performed action: `is_failed` is about the action, `state` about the run.
    `reaction_seconds` is the time from the signal's commit to the end of the run, None until then
    and for runs without a signal."""

    run_id: int
    project: str
    state: str
    is_failed: bool = False
    reaction_seconds: float | None = None


class RunError(Exception):
    """A run can't be performed because of `cause`."""

    def __init__(self, run_id: int, cause: Exception) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.run_id, self.cause = run_id, cause


class _DryRunRollback(Exception):
    """Rolls back the action of a dry run."""


@dataclass
class _Run:
    """A run in progress. `action_set` is its copy of the set, which contains the results."""

    row: Row
    action_set: dict[str, Any]
    options: ActionSetOptions
    next_action: int
    cause: Cause
    state: str = "started"

    @property
    def actions(self) -> list[dict[str, Any]]:
        actions: list[dict[str, Any]] = self.action_set["actions"]
        return actions

    @property
    def reverts_with_alert(self) -> bool:
        """Whether its changes are reverted when its alert resolves."""
        row = self.row
        is_of_alert = row["cause"] == "signal" and row["alert_key"] is not None
        return is_of_alert and not row["dry_run"] and self.options.restoreWhenResolved is not None

    def advance(self) -> None:
        """Continues with the next action, or ends the run."""
        is_failed = self.actions[self.next_action]["state"] == "failed"
        self.next_action += 1
        is_last = self.next_action >= len(self.actions)
        if is_last or (is_failed and not self.options.continueOnFailure):
            has_failure = any(action["state"] == "failed" for action in self.actions)
            self.state = "failed" if has_failure else "success"
            self.settle_cause(self.state)

    def settle_cause(self, state: str) -> None:
        """Called before the events of the last action are recorded: the run ends in `state`."""
        self.cause.types = run_events.list_types(self.row["cause"], state)
        self.cause.event_id = self.row["event_id"]

    def list_holds(self) -> list[dict[str, Any]]:
        """What it holds until its alert resolves."""
        if not self.reverts_with_alert:
            return []
        changes = [change for action in self.actions for change in action["changes"]]
        row = {"run_id": self.row["id"], "action_set_id": self.row["action_set_id"]}
        row |= {"held_at": self.row["created_at"]}
        return [row | {"position": n, "change": change} for n, change in enumerate(changes)]

    def to_row(self) -> dict[str, Any]:
        """The columns that change."""
        has_changes = any(action["changes"] for action in self.actions)
        has_ended = self.state != "started"
        is_revertible = self.row["cause"] == "signal" and not self.row["dry_run"]
        reverts_later = has_ended and has_changes and is_revertible
        return {
            "id": self.row["id"],
            "state": self.state,
            "action_set": self.action_set,
            "next_action": self.next_action,
            "restore_minutes": self.options.restoreAfterMinutes if reverts_later else None,
        }


def perform_batch(
    conn: Connection,
    logger: Logger,
    performed_actions: list[PerformedAction],
    *,
    since: int = 0,
    is_alone: bool = False,
) -> None:
    """Performs the next actions of the oldest unfinished runs with at least the ID `since`, up to
    MAX_RUNS, MAX_CHANGES and MAX_SECONDS, and adds them to `performed_actions`; none if no run is
    unfinished.

    Most actions succeed without a savepoint. If this raises, roll back and repeat the actions of
    `performed_actions` and one more, each with `is_alone`: it performs one action in a savepoint
    and stores its failure in the run. Raises RunError if that fails too.
    """
    rows = action_runs.lock_unfinished(conn, since=since, limit=1 if is_alone else MAX_RUNS)
    if not rows:
        return
    try:
        _Batch(conn, logger, performed_actions, is_alone).perform(rows)
    except UnavailableError:
        raise
    except Exception as error:
        if is_alone:
            raise RunError(rows[0]["id"], error) from error
        raise


class _Batch:
    def __init__(
        self,
        conn: Connection,
        logger: Logger,
        performed_actions: list[PerformedAction],
        is_alone: bool,
    ) -> None:
        self._conn, self._logger, self._performed_actions, self._is_alone = (
            conn,
            logger,
            performed_actions,
            is_alone,
        )
        self._deadline = time.monotonic() + MAX_SECONDS
        self._change_count = 0
        self._switches = SwitchBatch(conn)
        self._unwritten: dict[int, _Run] = {}
        self._shared: set[tuple[int, str, str]] = set()

    def perform(self, rows: list[Row]) -> None:
        runs = _decode_runs(rows)
        if not self._is_alone:
            self._switches = SwitchBatch(self._conn, _list_targets(runs))
        with events.collect(self._conn) as self._events:
            for run in runs:
                while run.state == "started" and not self._is_full():
                    self._perform_action(run)
            self._write()
            self._store_events()

    def _store_events(self) -> None:
        events.store_all(self._conn, self._events)
        self._events.clear()

    def _is_full(self) -> bool:
        """Whether the batch is at a limit; False before the first action."""
        return bool(self._performed_actions) and (
            self._is_alone
            or self._change_count >= MAX_CHANGES
            or time.monotonic() >= self._deadline
        )

    def _perform_action(self, run: _Run) -> None:
        action = run.actions[run.next_action]
        action["startedAt"] = format_iso(datetime.now(UTC))
        try:
            result = self._share_changes(run, self._perform(run, action))
        except Exception as error:
            if not self._can_store(error):
                raise
            action |= {"state": "failed", "details": _describe_error(action, error, self._logger)}
        else:
            is_dry_run = run.row["dry_run"]
            action |= {
                "state": "success",
                "details": f"Would have: {result.details}" if is_dry_run else result.details,
                "changes": [] if is_dry_run else msgspec.to_builtins(result.changes),
            }
        action["finishedAt"] = format_iso(datetime.now(UTC))
        run.advance()
        self._unwritten[run.row["id"]] = run
        self._change_count += len(action["changes"])
        self._performed_actions.append(
            PerformedAction(
                run.row["id"],
                run.row["project"],
                run.state,
                is_failed=action["state"] == "failed",
            )
        )

    def _share_changes(self, run: _Run, result: ActionResult) -> ActionResult:
        """Looks for other sets once for each set and flag until a flag changes, because alerts are
        repeated often."""
        set_id = run.row["action_set_id"]
        if result.changes:
            self._shared.clear()
        flags = {(set_id, change.feature, change.environment) for change in result.unchanged}
        if flags <= self._shared or not run.reverts_with_alert:
            return result
        self._shared |= flags
        self._write()  # the changes of the other sets
        return shared_holds.share_changes(self._conn, result, set_id)

    def _can_store(self, error: Exception) -> bool:
        """Whether the run can store the error: the transaction is intact, and a retry would fail
        too."""
        if self._is_alone:
            return not isinstance(error, DatabaseUnavailable) or error.is_timeout
        return isinstance(error, AppError) and not isinstance(error, UnavailableError)

    def _perform(self, run: _Run, action: dict[str, Any]) -> ActionResult:
        kind = KINDS.get(action["action"])
        if kind is None or not kind.is_batched or self._is_alone or run.row["dry_run"]:
            return self._perform_in_savepoint(run, action, kind)
        project, params = run.row["project"], action.get("executionParams") or {}
        return kind.perform(self._switches, project, params, _find_actor(self._conn, run))

    def _perform_in_savepoint(
        self, run: _Run, action: dict[str, Any], kind: Kind | None
    ) -> ActionResult:
        """Rolls back the action of a dry run, so that its result is exact."""
        self._write()
        self._store_events()  # releases read who changed their flags
        self._switches = SwitchBatch(self._conn)  # the action may change what the old one has read
        with suppress(_DryRunRollback), savepoint(self._conn):
            result = _perform_alone(self._conn, run, action, kind)
            if run.row["dry_run"]:
                raise _DryRunRollback
        return result

    def _write(self) -> None:
        """Writes flags and the progress of the runs."""
        self._switches.write()
        runs, self._unwritten = list(self._unwritten.values()), {}
        if not runs:
            return
        rows = action_runs.update_many(
            self._conn,
            msgspec.json.encode([run.to_row() for run in runs]).decode(),
            first=runs[0].row["id"],
            last=runs[-1].row["id"],
        )
        if holds := [hold for run in runs for hold in run.list_holds()]:
            alerts.add_holds(self._conn, msgspec.json.encode(holds).decode())
        run_events.record(self._conn, rows, {run.row["id"]: run.row["event_id"] for run in runs})
        self._record_reactions(rows)

    def _record_reactions(self, rows: list[Row]) -> None:
        """Adds the times to the last actions of the runs that have ended."""
        seconds = {
            row["id"]: (row["finished_at"] - row["signal_created_at"]).total_seconds()
            for row in rows
            if row["finished_at"] and row["signal_created_at"]
        }
        for index, action in enumerate(self._performed_actions):
            if action.state != "started" and action.run_id in seconds:
                self._performed_actions[index] = replace(
                    action, reaction_seconds=seconds[action.run_id]
                )


def _decode_runs(rows: list[Row]) -> list[_Run]:
    """The runs before the first unreadable one. Raises if that is the first."""
    runs: list[_Run] = []
    for row in rows:
        try:
            action_set = msgspec.json.decode(row["action_set"])
            options = msgspec.convert(action_set.get("options", {}), ActionSetOptions, strict=False)
            cause = Cause(None, run_events.list_types(row["cause"], "started"))
            runs.append(_Run(row, action_set, options, row["next_action"], cause))
        except Exception:
            if not runs:
                raise
            break
    return runs


def _list_targets(runs: list[_Run]) -> list[FeatureEnvironment]:
    targets: dict[FeatureEnvironment, None] = {}
    for run in runs:
        for action in run.actions[run.next_action :]:
            kind = KINDS.get(action["action"])
            params = action.get("executionParams") or {}
            with suppress(KeyError):  # a parameter is missing: the action will fail
                if kind is not None:
                    targets |= dict.fromkeys(kind.list_targets(run.row["project"], params))
    return list(targets)


def _describe_error(action: dict[str, Any], error: Exception, logger: Logger) -> str:
    """The error as the run stores it. A bug in a kind of action fails its run, not the actions
    job."""
    if isinstance(error, DatabaseUnavailable):
        return "The database timed out twice."
    if isinstance(error, AppError):
        return error.message
    return describe_fault(log_error(logger, f"action {action['action']} failed", error))


def _find_actor(conn: Connection, run: _Run) -> Identity:
    row = run.row
    if row["cause"] == "undo":
        actor = find_user(conn, row["actor_id"])
    else:
        actor = make_service_account(row["actor_id"], row["actor_username"], row["actor_role"])
    origin = {
        "id": row["id"],
        "actionSetId": row["action_set_id"],
        "actionSet": run.action_set["name"],
    }
    if row["signal_id"] is not None:
        endpoint_id = run.action_set["match"]["sourceId"]
        origin |= {"signalId": row["signal_id"], "signalEndpointId": endpoint_id}
    return replace(actor, action_run=origin, cause=run.cause)


def _perform_alone(
    conn: Connection, run: _Run, action: dict[str, Any], kind: Kind | None
) -> ActionResult:
    actor = _find_actor(conn, run)
    if run.next_action == len(run.actions) - 1:
        is_failed = any(one["state"] == "failed" for one in run.actions)
        run.settle_cause("failed" if is_failed else "success")
    if action["action"] == action_reverts.REVERT:
        return action_reverts.revert_targets(conn, run.row, actor)
    if kind is None:
        raise NotFoundError(f"Unknown action {action['action']}.")
    params = action.get("executionParams") or {}
    return perform_and_write(kind, conn, run.row["project"], params, actor)
