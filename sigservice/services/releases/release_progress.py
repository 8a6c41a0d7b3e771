"""Applies decisions to a release: the percentage, the row, its events, in the
transaction that read the release. The caller holds the lock of revisions."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from sigservice.db import Connection, savepoint
from sigservice.db.errors import DatabaseUnavailable
from sigservice.log import Logger, log_error
from sigservice.repository.releases import releases as release_rows
from sigservice.services.flags import strategies
from sigservice.services.identity import SYSTEM, Identity, name_actor
from sigservice.services.releases import guard_results
from sigservice.services.releases.decision import Decision, decide
from sigservice.services.releases.edits import RANDOM, is_random
from sigservice.services.releases.guard_results import GuardRecord
from sigservice.services.releases.release_journal import Journal
from sigservice.services.releases.release_state import Release
from sigservice.services.system import events

MAX_DECISIONS = 5  # in a row: a start, a hold, a rollback
_COLUMNS = (
    "id", "state", "held_by", "held_reason", "held_guard_id", "step", "rollout",
    "rolled_back_from", "content", "entered_at", "due_at", "evidence_at", "resumed_at",
    "propagation_seconds", "auto_resumes", "finished_at", "start_rollout",
)  # fmt: skip
_GUARD_COLUMNS = ("id", "state", "since", "reason", "keys", "ended", "is_caught_up")


def has_work(release: Release) -> bool:
    """Whether `progress` would change anything now."""
    if any(
        guard_results.compute_result(g)[0] != g.state or not g.is_caught_up for g in release.guards
    ):
        return True
    is_changed = release.state != "scheduled" and release.content != release.present
    needs_content = is_changed and release.held_by != "edit"
    return needs_content or _decide(release).action != "stay"


def progress_safely(conn: Connection, releases: Sequence[Release], logger: Logger) -> None:
    """Progresses releases that `read_active` found. A release that fails stays as it is until the
    next run of the job, and doesn't stop the others."""
    for release in releases:
        with isolate(conn, release, logger):
            journal = Journal()
            progress(conn, release, journal)
            store(conn, release, journal)


@contextmanager
def isolate(conn: Connection, release: Release, logger: Logger) -> Iterator[None]:
    """Rolls back the block if it fails, and logs the error: one release must not stop the others.
    Raises DatabaseUnavailable."""
    try:
        with savepoint(conn):
            yield
    except DatabaseUnavailable:
        raise
    except Exception as error:  # noqa: BLE001  affects this release only
        log_error(logger, f"release {release.id} can't be decided", error)


def progress(conn: Connection, release: Release, journal: Journal) -> None:
    """Refreshes the guards, then decides and applies until nothing is left to do now. Call `store`
    when that is all."""
    refresh_guards(release, journal)
    for _ in range(MAX_DECISIONS):
        _accept_harmless_changes(release)
        decision = _decide(release)
        if decision.action == "stay":
            break
        _apply(conn, release, decision, journal)
        if not release.is_active:
            break


def refresh_guards(release: Release, journal: Journal) -> None:
    """Computes the results of guards, and records those that changed."""
    for guard in release.guards:
        if not guard_results.refresh(guard, release.now):
            continue
        type = {"firing": "guardFired", "unknown": "guardUnknown", "ok": "guardOk"}[guard.state]
        journal.add(release, type, reason=guard.reason or "", guard=guard)
        if guard.is_dry_run and guard.state == "firing" and release.state != "scheduled":
            effect = "wouldHold" if guard.definition.effect == "hold" else "wouldRollBack"
            journal.add(release, effect, reason=guard.reason or "", guard=guard)


def enter_step(
    conn: Connection, release: Release, step: int, rollout: int, by: Identity, journal: Journal
) -> None:
    """Sets the percentage and starts the clock of the step."""
    set_rollout(conn, release, rollout, by, journal)
    release.state = "running"
    _clear_hold(release)
    release.resumed_at = release.now
    if release.now != release.created_at:  # its creation has read it
        release.propagation_seconds = release_rows.find_propagation_seconds(
            conn, release.environment
        )
    begin_step(release, step)


def begin_step(release: Release, step: int) -> None:
    """Starts the clock of a step, whose percentage the strategy has."""
    release.step = step
    minutes = release.present_step.minutes or 1
    if release.is_last_step:
        minutes = release.plan.watchMinutes
    release.entered_at = release.evidence_at = release.now
    release.due_at = release.now + timedelta(minutes=minutes)


def set_rollout(
    conn: Connection,
    release: Release,
    rollout: int,
    by: Identity,
    journal: Journal,
    **parameters: str,
) -> None:
    """Changes the strategy in place: its ID, stickiness and group stay, so that a higher percentage
    only adds users. `parameters` are other parameters to restore."""
    changed, id = {"rollout": str(rollout), **parameters}, release.strategy_id
    present = release.present["strategies"][id]["parameters"]
    if present | changed != present:
        with events.collect(conn) as batch:
            strategies.set_parameters(conn, release.target, id, changed, by)
        journal.add_all(batch)
    release.rollout = rollout
    present |= changed
    release.content = copy.deepcopy(release.present)


def hold(release: Release, held_by: str, reason: str, guard_id: int | None = None) -> None:
    release.state, release.held_by = "held", held_by
    release.held_reason, release.held_guard_id = reason or None, guard_id


def resume(release: Release) -> None:
    """Resumes the release; if it is due, it needs evidence from now on."""
    release.state = "running"
    _clear_hold(release)
    release.resumed_at = release.now
    if release.due_at is not None and release.now >= release.due_at:
        release.evidence_at = release.now


def roll_back(
    conn: Connection,
    release: Release,
    rollout: int,
    by: Identity,
    journal: Journal,
    reason: str = "",
    guard: GuardRecord | None = None,
) -> None:
    before = release.rolled_back_from = release.present_rollout
    set_rollout(conn, release, rollout, journal.make_cause("rolledBack", by), journal)
    end(release, "rolledBack")
    journal.add(release, "rolledBack", by=by, before=before, reason=reason, guard=guard)


def end(release: Release, state: str) -> None:
    release.state, release.finished_at = state, release.now
    _clear_hold(release)


def store(conn: Connection, release: Release, journal: Journal) -> None:
    """Stores the release, the results of its guards and the events."""
    columns = {name: getattr(release, name) for name in _COLUMNS}
    release_rows.save(conn, columns, _list_guard_columns(release))
    journal.write(conn)


def save_guards(conn: Connection, release: Release) -> None:
    release_rows.save(conn, None, _list_guard_columns(release))


def _list_guard_columns(release: Release) -> list[dict[str, Any]]:
    return [
        {name: getattr(guard, name) for name in _GUARD_COLUMNS}
        | {"signal_ids": {k: id for k, id in guard.signal_ids.items() if k in guard.keys}}
        | {"is_watching": release.is_active}
        for guard in release.guards
    ]


def _clear_hold(release: Release) -> None:
    release.held_by = release.held_reason = release.held_guard_id = None


def _decide(release: Release) -> Decision:
    results = [guard.to_result(release.now) for guard in release.guards]
    return decide(release.to_situation(), results, release.now)


def _accept_harmless_changes(release: Release) -> None:
    """Adds changes by other users that don't harm the release to the content that it expects."""
    change = release.find_change()
    if not change.end and not change.edit:
        release.content = copy.deepcopy(release.present)


def _apply(conn: Connection, release: Release, decision: Decision, journal: Journal) -> None:
    guard = next((g for g in release.guards if g.id == decision.guard_id), None)
    record: dict[str, Any] = {"reason": decision.reason, "guard": guard}
    if decision.action == "start":
        start(conn, release, SYSTEM, journal)
    elif decision.action == "advance":
        advance(conn, release, SYSTEM, journal)
    elif decision.action == "finish":
        end(release, "finished")
        journal.add(release, "finished")
    elif decision.action == "rollBack":
        # A person may have set a lower percentage than at the start of the release: that one
        # counts.
        rollout = min(release.present_rollout, release.start_rollout)
        roll_back(conn, release, rollout, SYSTEM, journal, **record)
    elif decision.action == "stop":
        end(release, "stopped")
        journal.add(release, "stopped", **record)
    elif decision.action == "resume":
        resume(release)
        release.auto_resumes += 1
        journal.add(release, "resumed", **record)
    else:
        _hold_for(conn, release, decision, journal, guard)


def _hold_for(
    conn: Connection,
    release: Release,
    decision: Decision,
    journal: Journal,
    guard: GuardRecord | None,
) -> None:
    reason = decision.reason
    if decision.held_by == "edit":
        row = release_rows.find_last_editor(conn, release.feature, release.environment)
        editor = name_actor(row["created_by"], row["created_by_user_id"]) if row else ""
        journal.add(release, "edited", reason=reason, editor=editor)
        if editor and release.rollout != release.present_rollout:
            reason = f"{editor} changed the strategy to {release.present_rollout}%."
        release.rollout = release.present_rollout
    hold(release, str(decision.held_by), reason, decision.guard_id)
    journal.add(release, "held", reason=reason, guard=guard)


def start(conn: Connection, release: Release, by: Identity, journal: Journal) -> None:
    """Enters the first step. Holds the release if the percentage is higher by now, or if the
    strategy chooses users at random by now; then it keeps its percentage."""
    present, first = release.present_rollout, release.plan.steps[0].rollout
    is_unfit = is_random(release.present, release.strategy_id)
    release.start_rollout = present
    rollout = present if is_unfit else max(present, first)
    enter_step(conn, release, 0, rollout, journal.make_cause("started", by), journal)
    journal.add(release, "started", by=by)
    if is_unfit or present > first:
        reason = f"The percentage was {present}% at the start, above the first step."
        hold(release, "edit", RANDOM if is_unfit else reason)
        journal.add(release, "held", reason=release.held_reason or "")


def advance(
    conn: Connection, release: Release, by: Identity, journal: Journal, reason: str = ""
) -> None:
    """Enters the next step, or ends the watch after the last one."""
    if release.is_last_step:
        end(release, "finished")
        journal.add(release, "finished", by=by, reason=reason)
        return
    before, step = release.rollout, release.step + 1
    rollout = release.plan.steps[step].rollout
    enter_step(conn, release, step, rollout, journal.make_cause("advanced", by), journal)
    journal.add(release, "advanced", by=by, before=before, reason=reason)
