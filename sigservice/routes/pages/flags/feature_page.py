"""The page of one flag, which every form on it comes back to."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec
from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import AppError, NotFoundError
from sigservice.repository.flags import features as repository
from sigservice.repository.flags import segments
from sigservice.repository.system import events
from sigservice.repository.system.events import EventFilter
from sigservice.repository.usage import client_metrics
from sigservice.services.flags import dependencies, feature_view, strategy_summaries
from sigservice.services.flags.features import Metadata
from sigservice.services.identity import Identity
from sigservice.services.system import events as event_service
from sigservice.web import respond
from sigservice.web.sparkline import HOURS, yes_and_no

SHOWN_EVENTS = 10
OFFERED_PARENTS = 200
NOTICES = {
    "created": "The flag was created. It is off everywhere: switch it on where it is wanted.",
    "saved": "The flag was saved.",
    "cloned": "The flag was cloned. The clone is off everywhere.",
    "on": "The flag was switched on.",
    "off": "The flag was switched off.",
    "archived": "The flag was archived.",
    "revived": "The flag is back. It is off everywhere.",
    "deleted": "The flag was deleted for good.",
    "strategy-saved": "Strategy saved.",
    "strategy-removed": "Strategy removed.",
    "tagged": "The tag was added.",
    "untagged": "The tag was removed.",
    "parent": "The parent was set.",
    "no-parent": "The parent was removed.",
}


def said(query: dict[str, str]) -> str:
    """The notice after a form that worked."""
    return NOTICES.get(query.get("done", ""), "")


def find_feature(conn: Connection, name: str) -> Row:
    """The flag of that name in whichever project. Raises NotFoundError."""
    row = repository.find(conn, name)
    if row is None:
        raise NotFoundError(f"There is no flag {name}.")
    return row


def flag_path(name: str) -> str:
    """The flag's page; /admin/features/new is the form."""
    return f"/admin/features/{name}" + ("/flag" if name == "new" else "")


def list_path(back: str, done: str) -> str:
    """The list as it was filtered when a form was sent; `back` is its query string."""
    kept = dict(parse_qsl(back[:2000])) | {"done": done}
    return f"/admin/features?{urlencode(kept)}"


def feature_page(
    context: Context,
    identity: Identity,
    name: str,
    values: dict[str, Any] | None = None,
    *,
    error: AppError | None = None,
    what: str = "",
    notice: str = "",
) -> HTTPResponse:
    """`values` are what was submitted if that was wrong; `error` tells how, `what` where."""
    with context.database.transaction() as conn:
        row = find_feature(conn, name)
        feature = feature_view.build_view(conn, row["project"], name)
        usage = client_metrics.list_hours(conn, name, HOURS)
        wanted = event_service.restrict_to_readable(identity, EventFilter(features=[name]))
        latest = events.list_newest(conn, wanted, limit=SHOWN_EVENTS)
        used = [
            id for e in feature["environments"] for s in e["strategies"] for id in s["segments"]
        ]
        names = {s["id"]: s["name"] for s in segments.list_by_id(conn, sorted(set(used)))}
        parents = [] if row["archived_at"] else _parents(conn, row, feature)
        types = repository.list_types(conn)
    charts = _charts(usage, context.clock.now())
    metadata = Metadata(row["type"], row["description"], row["impression_data"], row["stale"])
    kept = {"metadata": metadata, "clone_name": "", "tag": "", "parent": "", "state": "on"}
    return respond.page(
        context,
        "flags/features/show",
        identity,
        status=error.status if error else 200,
        title=f"Problem: {what} {name}" if error else f"Flag {name}",
        problems=error.details if error else [],
        what=what if error else "",
        notice=notice,
        row=row,
        feature=feature,
        flag_path=flag_path,
        may_edit=identity.has_permission("EDIT") and not row["archived_at"],
        environments=[
            environment
            | {
                "chart": charts.get(environment["name"]),
                "strategies": [
                    strategy | {"words": strategy_summaries.summarize_strategy(strategy, names)}
                    for strategy in environment["strategies"]
                ],
                "variants": strategy_summaries.summarize_variants(environment["variants"]),
            }
            for environment in feature["environments"]
        ],
        parent=next(iter(feature["dependencies"]), None),
        parent_words=[strategy_summaries.summarize_parent(d) for d in feature["dependencies"]],
        parents=parents,
        types=types,
        events=[row | {"run": _run(row)} for row in latest],
        values=kept | (values or {}),
    )


def _run(event: Row) -> dict[str, Any] | None:
    """The run of an action set that made the change."""
    run: dict[str, Any] | None = msgspec.json.decode(event["data"] or "{}").get("actionRun")
    return run


def _parents(conn: Connection, row: Row, feature: dict[str, Any]) -> list[str]:
    """The first that can be one, to choose from; none for a flag that is a parent itself."""
    if feature["children"]:
        return []
    return dependencies.list_possible_parents(conn, row["project"], row["name"])[:OFFERED_PARENTS]


def _charts(usage: list[Row], now: datetime) -> dict[str, dict[str, Any]]:
    """By environment: bars, sums and the hours of a table."""
    hours: dict[str, dict[int, tuple[int, int]]] = defaultdict(dict)
    rows: dict[str, list[Row]] = defaultdict(list)
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    for row in usage:
        ago = int((this_hour - row["hour"]).total_seconds() // 3600)
        hours[row["environment"]][ago] = (row["yes"], row["no"])
        rows[row["environment"]].append(row)
    return {
        name: {
            "bars": yes_and_no(pairs),
            "yes": sum(pair[0] for pair in pairs.values()),
            "no": sum(pair[1] for pair in pairs.values()),
            "hours": rows[name],
        }
        for name, pairs in hours.items()
    }
