"""Trying an action set: against a stored signal or a payload that somebody wrote."""

from __future__ import annotations

from typing import Any

import msgspec
from bottle import HTTPResponse, request

from sigservice import payload
from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import AppError, BadDataError
from sigservice.repository.actions import action_sets as set_rows
from sigservice.repository.signals import signal_endpoints, signals
from sigservice.services.actions import action_sets, action_summaries, dry_runs
from sigservice.services.actions.action_filters import Filter
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signals as signals_service
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

TEST = "/admin/projects/<project>/actions/<set_id:id>/test"
OFFERED, PREVIEW = 20, 60


router = Router(PageGuard)


def test_page(
    context: Context,
    identity: Identity,
    project: str,
    row: Row,
    values: dict[str, str],
    **more: Any,
) -> HTTPResponse:
    with context.database.transaction() as conn:
        endpoint = signal_endpoints.find(conn, row["source_id"])
        newest = signals.list_for_endpoint(conn, row["source_id"], before=None, limit=OFFERED)
    return respond.page(
        context,
        "actions/action_sets/test",
        identity,
        project=project,
        row=row,
        endpoint=endpoint,
        newest=[one | {"preview": one["payload"][:PREVIEW]} for one in newest],
        values=values,
        **({"title": f"Test {row['name']} in {project}", "result": None} | more),
    )


@router.get(TEST, needs=ADMIN)
def show(context: Context, identity: Identity, project: str, set_id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = action_sets.get(conn, project, set_id)
    chosen = read_query(request.environ).get("signal", "")
    return test_page(context, identity, project, row, {"signal": chosen, "payload": ""})


@router.post(
    TEST, needs=ADMIN, form_limit=lambda config: 4 * config["signals"]["payloadLimit"] + 1000
)
def test(
    context: Context, identity: Identity, project: str, set_id: int, form: dict[str, str]
) -> HTTPResponse:
    values = {name: form.get(name, "").strip() for name in ("signal", "payload")}
    with context.database.transaction() as conn:
        row = action_sets.get(conn, project, set_id)
    try:
        with context.database.transaction() as conn:
            value = _wanted(
                conn, row["source_id"], values, context.config["signals"]["payloadLimit"]
            )
            trial = dry_runs.perform_dry_run(conn, row, value)
            names = {str(one["id"]): one["name"] for one in set_rows.list_of_project(conn, project)}
    except AppError as error:
        if error.status not in (400, 413):
            raise
        return test_page(
            context,
            identity,
            project,
            row,
            values,
            status=error.status,
            problems=[{"message": error.message, "path": "payload"}],
            title=f"Problem: Test {row['name']}",
        )
    return test_page(context, identity, project, row, values, result=_in_words(trial, row, names))


def _wanted(conn: Connection, source_id: int, values: dict[str, str], limit: int) -> Any:
    """The chosen signal's payload, else the written one. Raises BadDataError, NotFoundError."""
    if values["signal"]:
        text = values["signal"]
        id = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0
        return msgspec.json.decode(signals_service.get(conn, source_id, id)["payload"])
    data = values["payload"].encode()
    if not data:
        raise BadDataError("Choose a signal, or write a payload.")
    if len(data) > limit:
        raise payload.build_too_large_error(limit)
    return payload.parse(data)


def _in_words(trial: dict[str, Any], row: Row, names: dict[str, str]) -> dict[str, Any]:
    filters = msgspec.json.decode(row["filters"], type=list[Filter])
    return trial | {
        "filters": [
            {
                "words": action_summaries.describe_filter(one),
                "matched": verdict["matched"],
                "inner": [
                    {"words": action_summaries.describe_filter(leaf), **said}
                    for leaf, said in zip(one.any or [], verdict.get("any", []), strict=True)
                ],
                "found": verdict["found"],
            }
            for one, verdict in zip(filters, trial["filters"], strict=True)
        ],
        "actions": [
            item
            | {
                "words": action_summaries.describe_action(item, names),
                "changes": [action_summaries.describe_change(change) for change in item["changes"]],
            }
            for item in trial["actions"]
        ],
    }
