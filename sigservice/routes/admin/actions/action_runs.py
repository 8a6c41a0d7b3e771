"""Runs of action sets, JSON: history, undo, scheduled restoring, and the tester."""

from __future__ import annotations

from typing import Any

import msgspec
from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.repository.actions import action_runs as repository
from sigservice.services.actions import action_runs, action_sets, dry_runs
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signals
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.guards import AdminGuard
from sigservice.web.paging import read_paging
from sigservice.web.router import Router

SET = "/api/admin/projects/<project>/actions/<id:id>"
RUN = f"{SET}/events/<run_id:id>"


class TrialBody(msgspec.Struct):
    """A stored signal by its id, or a payload."""

    signalId: int | None = None
    payload: Any = msgspec.UNSET


router = Router(AdminGuard)


@router.get(f"{SET}/events", needs=ADMIN)
def list_all(context: Context, identity: Identity, project: str, id: int) -> HTTPResponse:
    asked = read_paging(read_query(request.environ))
    with context.database.transaction() as conn:
        action_sets.get(conn, project, id)
        rows = repository.list_newest(
            conn,
            action_set_id=id,
            before=asked.before,
            limit=asked.limit,
            offset=asked.offset,
        )
    return respond.json({"actionSetEvents": [action_runs.to_json(row) for row in rows]})


@router.get(RUN, needs=ADMIN)
def read(context: Context, identity: Identity, project: str, id: int, run_id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        return respond.json(action_runs.to_json(action_runs.get(conn, project, id, run_id)))


@router.post(f"{RUN}/undo", needs=ADMIN)
def undo(context: Context, identity: Identity, project: str, id: int, run_id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        new = action_runs.undo(conn, project, id, run_id, identity)
    context.signals_waiting.set()
    return respond.json({"id": new}, 202)


@router.post(f"{RUN}/cancel-restore", needs=ADMIN)
def cancel(
    context: Context, identity: Identity, project: str, id: int, run_id: int
) -> HTTPResponse:
    with context.database.transaction() as conn:
        action_runs.cancel_restore(conn, project, id, run_id, identity)
    return respond.empty()


@router.post(f"{SET}/test", needs=ADMIN, takes=TrialBody)
def test(
    context: Context, identity: Identity, project: str, id: int, body: TrialBody
) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = action_sets.get(conn, project, id)
        payload = body.payload
        if body.signalId is not None:
            stored = signals.get(conn, row["source_id"], body.signalId)
            payload = msgspec.json.decode(stored["payload"])
        elif payload is msgspec.UNSET:
            payload = {}
        trial = dry_runs.try_out(conn, row, payload)
    return respond.json(trial)
