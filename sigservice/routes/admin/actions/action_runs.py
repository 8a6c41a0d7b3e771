"""Runs of action sets, JSON: history, undo, cancelling an auto-revert, and the dry run."""

from dataclasses import asdict
from typing import Any

import msgspec

from sigservice.repository.actions import action_runs as action_run_rows
from sigservice.services.actions import (
    action_runs,
    action_sets,
    dry_runs,
    ignored_alerts,
)
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.signals import signal_storage
from sigservice.web import (
    AdminGuard,
    Connection,
    Context,
    HTTPResponse,
    Json,
    Router,
    read_query,
    request,
    respond,
)
from sigservice.web.paging import read_paging

SET = "/api/admin/projects/<project>/actions/<id:id>"
RUN = f"{SET}/events/<run_id:id>"


class DryRunBody(msgspec.Struct):
    """The ID of a stored signal, or a payload."""

    signalId: int | None = None
    payload: Any = msgspec.UNSET


router = Router(AdminGuard)


@router.get(f"{SET}/events", needs=VIEW)
def list_runs(conn: Connection, identity: Identity, project: str, id: int) -> Json:
    """Query: `limit`, `offset`, `before`. `{"actionSetEvents": [run]}`, newest first; a page ends
    early at 8 MB of payloads, so continue with `before`. Without ADMIN, a run has no payload and no
    token, and of its set only ID, name, project and actions."""
    page = read_paging(read_query(request.environ))
    action_sets.get(conn, project, id)
    rows = action_run_rows.list_of_set(conn, id, **asdict(page))
    return {"actionSetEvents": [action_runs.to_json(row, identity) for row in rows]}


@router.get(RUN, needs=VIEW)
def show_run(conn: Connection, identity: Identity, project: str, id: int, run_id: int) -> Json:
    """Run; without ADMIN as in the list."""
    row = action_runs.get(conn, project, id, run_id)
    return action_runs.to_json(row, identity)


@router.post(f"{RUN}/undo", needs=EDIT)
def undo_run(
    context: Context, identity: Identity, project: str, id: int, run_id: int
) -> HTTPResponse:
    """202 `{"id"}` of the run that reverts it; 409 if it changed nothing, has not finished or is
    reverted already."""
    with context.database.transaction() as conn:
        undo_id = action_runs.undo(conn, project, id, run_id, identity)
    context.signals_waiting.set()
    return respond.json({"id": undo_id}, 202)


@router.post(f"{RUN}/ignore-alert", needs=EDIT)
def ignore_alert(conn: Connection, identity: Identity, project: str, id: int, run_id: int) -> None:
    """Signals of the alert of this run don't run the set until the alert resolves. 409 if it isn't
    firing or the run is undone already, so call it before `undo`."""
    action_run_rows.lock(conn)
    run = action_runs.get(conn, project, id, run_id)
    ignored_alerts.ignore(conn, run, identity)


@router.delete(f"{RUN}/ignore-alert", needs=EDIT)
def stop_ignoring_alert(
    conn: Connection, identity: Identity, project: str, id: int, run_id: int
) -> None:
    """409 if the alert isn't ignored."""
    action_run_rows.lock(conn)
    run = action_runs.get(conn, project, id, run_id)
    ignored_alerts.stop_ignoring(conn, run, identity)


@router.post(f"{RUN}/cancel-restore", needs=EDIT)
def cancel_auto_revert(
    conn: Connection, identity: Identity, project: str, id: int, run_id: int
) -> None:
    """409 if no auto-revert is scheduled."""
    action_runs.cancel_auto_revert(conn, project, id, run_id, identity)


@router.post(f"{SET}/test", needs=ADMIN, takes=DryRunBody)
def perform_dry_run(
    conn: Connection, identity: Identity, project: str, id: int, body: DryRunBody
) -> Json:
    """Body: `{signalId}` or `{payload}`. `{matched, endsAlert, filters, actions}`: whether the set
    would run or an alert resolves, the result of each filter, what would change now; nothing
    changes."""
    row = action_sets.get(conn, project, id)
    payload = body.payload
    if body.signalId is not None:
        signal = signal_storage.get(conn, row["endpoint_id"], body.signalId)
        payload = msgspec.json.decode(signal["payload"])
    elif payload is msgspec.UNSET:
        payload = {}
    return dry_runs.perform_dry_run(conn, row, payload)
