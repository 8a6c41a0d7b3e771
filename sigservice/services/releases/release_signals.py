"""Evaluates signals for the guards that watch their endpoints, in the transaction that evaluates
them for action sets, and alert rules for the guards that have them, in the transaction that stores
their states: an alert, the rollback and the new percentage are one commit."""

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from sigservice.clock import Clock
from sigservice.db import Connection, Row
from sigservice.log import Logger, log_error
from sigservice.repository.releases import release_guards
from sigservice.services import revisions
from sigservice.services.actions.action_alerts import EvaluatedSignal, FindTimes
from sigservice.services.actions.action_filters import Matcher
from sigservice.services.releases import release_progress
from sigservice.services.releases.guard_results import AlertChange, apply_alert, match_signal
from sigservice.services.releases.guard_signals import list_changes, read_changes
from sigservice.services.releases.plans import SignalGuard
from sigservice.services.releases.release_state import Release, read_active


def evaluate_guards(
    conn: Connection, logger: Logger, clock: Clock, signals: Sequence[EvaluatedSignal]
) -> None:
    """Stores the alerts of the guards and decides about their releases. A release that can't be
    decided keeps its alert: the job decides again."""
    endpoint_ids = sorted({signal.endpoint_id for signal in signals if signal.is_guarded})
    rows = release_guards.list_of_endpoints(conn, endpoint_ids) if endpoint_ids else []
    changes = _match_all(rows, signals, logger)
    if not changes:
        return
    revisions.lock(conn)
    releases = read_active(conn, sorted(changes), clock, logger)
    for release in releases:
        with release_progress.isolate(conn, release, logger):
            _apply_alerts(release, changes[release.id])
            release_progress.save_guards(conn, release)
    release_progress.progress_safely(conn, releases, logger)


def decide_for_rules(
    conn: Connection, logger: Logger, clock: Clock, rule_ids: Sequence[int]
) -> None:
    """Decides about the releases whose guards have these alert rules."""
    rows = release_guards.list_releases_of_rules(conn, rule_ids)
    ids = {row["release_id"] for row in rows}
    release_progress.progress_safely(conn, read_active(conn, sorted(ids), clock, logger), logger)


def catch_up(
    conn: Connection, logger: Logger, clock: Clock, release_id: int, find_times: FindTimes
) -> None:
    """Brings a release up to date, with the alerts that arrived while its guards were stored:
    nothing queued them before the commit."""
    revisions.lock(conn)
    releases = read_active(conn, [release_id], clock, logger)
    for release in releases:
        new = [guard for guard in release.guards if not guard.is_caught_up]
        for guard in new:
            guard.is_caught_up = True
            definition = guard.definition
            if guard.endpoint is not None and isinstance(definition, SignalGuard):
                endpoint = {
                    "id": guard.endpoint_id,
                    "name": guard.endpoint,
                    "template": guard.template,
                }
                changes = read_changes(conn, endpoint, definition, guard.since, find_times)
                for change in list_changes(changes):
                    apply_alert(guard, change, release.now)
        if new:
            release_progress.save_guards(conn, release)
    busy = [release for release in releases if release_progress.has_work(release)]
    release_progress.progress_safely(conn, busy, logger)


def _match_all(
    rows: Sequence[Row], signals: Sequence[EvaluatedSignal], logger: Logger
) -> dict[int, list[AlertChange]]:
    """The changes of alerts by release, in the order of the signals."""
    changes: dict[int, list[AlertChange]] = {}
    for signal in signals:
        for row in rows:
            if row["endpoint_id"] != signal.endpoint_id:
                continue
            try:
                change = _match(row, signal)
            except Exception as error:  # noqa: BLE001  affects this guard only
                log_error(logger, f"guard {row['id']} can't be evaluated", error)
                continue
            if change is not None:
                changes.setdefault(row["release_id"], []).append(change)
    return changes


def _match(row: Row, signal: EvaluatedSignal) -> AlertChange | None:
    definition, matcher = _compile(row["definition"])
    values = {"id": signal.id, "endpoint": row["endpoint"], "payload": signal.payload}
    change = match_signal(row["id"], definition, matcher, values)
    if change is None:
        return None
    at = signal.find_time(is_resolved=change.sentence is None)
    return msgspec.structs.replace(change, at=at)


@lru_cache(maxsize=1000)
def _compile(definition: str) -> tuple[SignalGuard, Matcher]:
    guard = msgspec.json.decode(definition, type=SignalGuard)
    return guard, Matcher(guard.filters or [])


def _apply_alerts(release: Release, changes: Sequence[AlertChange]) -> None:
    """A guard that was edited meanwhile is gone; `catch_up` finds its alerts."""
    guards = {guard.id: guard for guard in release.guards}
    for change in changes:
        if change.guard_id in guards:
            apply_alert(guards[change.guard_id], change, release.now)
