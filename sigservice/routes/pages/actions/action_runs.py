"""Runs of an action set, pages: history, one run, undo, cancelling what is scheduled."""

from __future__ import annotations

from typing import Any

import msgspec
from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import AppError
from sigservice.repository.actions import action_runs as repository
from sigservice.repository.actions import action_sets as set_rows
from sigservice.repository.signals import signals
from sigservice.services.actions import action_runs, action_sets, action_summaries
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.guards import PageGuard
from sigservice.web.paging import read_paging
from sigservice.web.router import Router

RUNS = "/admin/projects/<project>/actions/<set_id:id>/runs"
RUN = f"{RUNS}/<run_id:id>"
SHOWN, SHOWN_CHANGES, SHOWN_PAYLOAD = 20, 100, 20_000
NOTICES = {
    "undo": "The run is being undone; the newest run tells what became of it.",
    "cancelled": "Nothing will be restored by itself any more.",
}
CAUSES = {
    "signal": "a signal",
    "resolved": "a signal that the alert is over",
    "timer": "the time to restore",
    "undo": "somebody who undid a run",
}


router = Router(PageGuard)


def notice() -> str:
    return NOTICES.get(read_query(request.environ).get("done", ""), "")


@router.get(RUNS, needs=ADMIN)
def show_list(context: Context, identity: Identity, project: str, set_id: int) -> HTTPResponse:
    before = read_paging(read_query(request.environ)).before
    with context.database.transaction() as conn:
        row = action_sets.get(conn, project, set_id)
        runs = repository.list_of_set(conn, set_id, before=before, limit=SHOWN + 1)
        names = _names(set_rows.list_of_project(conn, project))
    shown = runs[:SHOWN]
    return respond.page(
        context,
        "actions/action_runs/list",
        identity,
        title=f"Runs of {row['name']} in {project}",
        project=project,
        row=row,
        runs=[_shown(run, names) for run in shown],
        older=f"before={shown[-1]['id']}" if len(runs) > SHOWN else "",
        newest="",
        at_newest=before is None,
        notice=notice(),
    )


@router.get(RUN, needs=ADMIN)
def show(
    context: Context, identity: Identity, project: str, set_id: int, run_id: int, **more: Any
) -> HTTPResponse:
    with context.database.transaction() as conn:
        run = action_runs.get(conn, project, set_id, run_id)
        row = set_rows.find(conn, project, set_id)
        names = _names(set_rows.list_of_project(conn, project))
        shown = _shown(run, names)
        source = shown["source_id"]
        signal = source and signals.find(conn, source, run["signal_id"])
    return respond.page(
        context,
        "actions/action_runs/show",
        identity,
        project=project,
        row=row,
        run=shown | {"source_id": source if signal else None},
        payload=_payload(run),
        **({"title": f"Run {run_id} of {shown['name']}", "notice": notice()} | more),
    )


@router.get(f"{RUN}/undo", needs=ADMIN)
def confirm_undo(
    context: Context, identity: Identity, project: str, set_id: int, run_id: int
) -> HTTPResponse:
    with context.database.transaction() as conn:
        run = action_runs.get(conn, project, set_id, run_id)
    shown = _shown(run, {})
    return respond.page(
        context,
        "actions/action_runs/undo",
        identity,
        title=f"Undo run {run_id} of {shown['name']}?",
        project=project,
        run=shown,
    )


@router.post(f"{RUN}/undo", needs=ADMIN)
def undo(
    context: Context,
    identity: Identity,
    project: str,
    set_id: int,
    run_id: int,
    form: dict[str, str],
) -> HTTPResponse:
    try:
        with context.database.transaction() as conn:
            action_runs.undo(conn, project, set_id, run_id, identity)
    except AppError as error:
        return refused(context, error, identity, project, set_id, run_id)
    context.signals_waiting.set()
    return respond.redirect(context, f"{_path(project, set_id, run_id)}?done=undo")


@router.post(f"{RUN}/cancel-restore", needs=ADMIN)
def cancel(
    context: Context,
    identity: Identity,
    project: str,
    set_id: int,
    run_id: int,
    form: dict[str, str],
) -> HTTPResponse:
    try:
        with context.database.transaction() as conn:
            action_runs.cancel_auto_revert(conn, project, set_id, run_id, identity)
    except AppError as error:
        return refused(context, error, identity, project, set_id, run_id)
    return respond.redirect(context, f"{_path(project, set_id, run_id)}?done=cancelled")


# What was clicked came too late: the run as it is now says why.
def refused(
    context: Context, error: AppError, identity: Identity, project: str, set_id: int, run_id: int
) -> HTTPResponse:
    if error.status != 409:
        raise error
    problem: dict[str, Any] = {"status": error.status, "problems": error.details}
    return show(context, identity, project, set_id, run_id, title="Problem: Run", **problem)


# Where a refused form leaves the browser.
@router.get(f"{RUN}/cancel-restore", needs=ADMIN)
def again(
    context: Context, identity: Identity, project: str, set_id: int, run_id: int
) -> HTTPResponse:
    return respond.redirect(context, _path(project, set_id, run_id))


def _path(project: str, set_id: int, run_id: int) -> str:
    return f"/admin/projects/{project}/actions/{set_id}/runs/{run_id}"


def _names(rows: list[Row]) -> dict[str, str]:
    return {str(row["id"]): row["name"] for row in rows}


def _shown(run: Row, names: dict[str, str]) -> dict[str, Any]:
    """A run with its actions in words."""
    copy = msgspec.json.decode(run["action_set"])
    signal = msgspec.json.decode(run["signal"]) if run["signal"] else {}
    acts = [_act(item, names) for item in copy["actions"]]
    finished = run["finished_at"]
    is_done = finished and run["state"] != "suppressed"
    seconds = (finished - run["created_at"]).total_seconds() if is_done else None
    undoable = (
        run["cause"] == "signal"
        and run["state"] in ("success", "failed")
        and not run["dry_run"]
        and run["restored_by_run_id"] is None
        and any(act["changes"] for act in acts)
    )
    return {
        "id": run["id"],
        "set_id": run["action_set_id"],
        "name": copy["name"],
        "state": run["state"],
        "dry_run": run["dry_run"],
        "cause": CAUSES[run["cause"]],
        "reason": run["reason"],
        "created_at": run["created_at"],
        "took": f"{seconds * 1000:.0f} ms" if seconds is not None else "",
        "signal_id": run["signal_id"],
        "source_id": signal.get("sourceId"),
        "restores_run_id": run["restores_run_id"],
        "restored_by_run_id": run["restored_by_run_id"],
        "restore_due_at": run["restore_due_at"],
        "acts": acts,
        "undoable": undoable,
    }


def _act(item: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    changes = [action_summaries.describe_change(change) for change in item["changes"]]
    return {
        "words": action_summaries.describe_action(item, names),
        "state": item["state"],
        "details": item["details"] or "",
        "changes": changes[:SHOWN_CHANGES],
        "more": max(0, len(changes) - SHOWN_CHANGES),
    }


def _payload(run: Row) -> str:
    """The copy of the signal's payload, as it was sent."""
    if not run["signal"]:
        return ""
    raw = msgspec.json.decode(run["signal"], type=dict[str, msgspec.Raw])["payload"]
    return msgspec.json.format(bytes(raw).decode(), indent=2)[:SHOWN_PAYLOAD]
