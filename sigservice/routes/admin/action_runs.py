"""Runs of action sets, JSON: history, undo, scheduled restoring, and the tester."""

from __future__ import annotations

from typing import Any

import msgspec
from bottle import Bottle, HTTPResponse, request

from sigservice.context import Context
from sigservice.repository import action_runs as repository
from sigservice.services import action_runs, action_sets, action_trial, signals
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.body import read_query
from sigservice.web.doors import AdminDoor
from sigservice.web.paging import paging

SET = "/api/admin/projects/<project>/actions/<id:id>"
RUN = f"{SET}/events/<run_id:id>"


class TrialBody(msgspec.Struct):
    """A stored signal by its id, or a payload."""

    signalId: int | None = None
    payload: Any = msgspec.UNSET


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))

    @area.get(f"{SET}/events", needs=ADMIN)
    def list_all(identity: Identity, project: str, id: int) -> HTTPResponse:
        asked = paging(read_query(request.environ))
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

    @area.get(RUN, needs=ADMIN)
    def read(identity: Identity, project: str, id: int, run_id: int) -> HTTPResponse:
        with context.database.transaction() as conn:
            return respond.json(action_runs.to_json(action_runs.get(conn, project, id, run_id)))

    @area.post(f"{RUN}/undo", needs=ADMIN)
    def undo(identity: Identity, project: str, id: int, run_id: int) -> HTTPResponse:
        with context.database.transaction() as conn:
            new = action_runs.undo(conn, project, id, run_id, identity)
        context.signals_waiting.set()
        return respond.json({"id": new}, 202)

    @area.post(f"{RUN}/cancel-restore", needs=ADMIN)
    def cancel(identity: Identity, project: str, id: int, run_id: int) -> HTTPResponse:
        with context.database.transaction() as conn:
            action_runs.cancel_restore(conn, project, id, run_id, identity)
        return respond.empty()

    @area.post(f"{SET}/test", needs=ADMIN, takes=TrialBody)
    def test(identity: Identity, project: str, id: int, body: TrialBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            row = action_sets.get(conn, project, id)
            payload = body.payload
            if body.signalId is not None:
                stored = signals.get(conn, row["source_id"], body.signalId)
                payload = msgspec.json.decode(stored["payload"])
            elif payload is msgspec.UNSET:
                payload = {}
            trial = action_trial.try_out(conn, row, payload)
        return respond.json(trial)

    return area
