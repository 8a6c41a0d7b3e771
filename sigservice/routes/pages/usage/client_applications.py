"""Applications, pages: all of them, and one with its instances and flags.

One is asked for as `?name=`: a name may be any text, which a path can't hold.
"""

from __future__ import annotations

from urllib.parse import urlencode

import msgspec
from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.repository.usage import client_applications as repository
from sigservice.repository.usage import client_metrics
from sigservice.services.identity import VIEW, Identity
from sigservice.services.usage import client_applications
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.guards import PageGuard
from sigservice.web.paging import read_paging
from sigservice.web.router import Router

PATH = "/admin/applications"
SHOWN = 50
SHOWN_INSTANCES = 100


router = Router(PageGuard)


@router.get(PATH, needs=VIEW)
def show(context: Context, identity: Identity) -> HTTPResponse:
    query = read_query(request.environ)
    if query.get("name"):
        return show_one(context, identity, query["name"])
    text, offset = query.get("query", "").strip(), read_paging(query).offset
    pattern = client_applications.like(text)
    with context.database.transaction() as conn:
        rows = repository.list_page(conn, pattern=pattern, limit=SHOWN + 1, offset=offset)
        total = repository.count(conn, pattern=pattern)
    kept = {"query": text} if text else {}
    more = urlencode(kept | {"offset": offset + SHOWN}) if len(rows) > SHOWN else ""
    return respond.page(
        context,
        "usage/client_applications/list",
        identity,
        title="Applications",
        applications=[
            row | {"address": urlencode({"name": row["app_name"]})} for row in rows[:SHOWN]
        ],
        total=total,
        query=text,
        more=more,
        first=urlencode(kept) if offset else None,
    )


def show_one(context: Context, identity: Identity, name: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = client_applications.get(conn, name)
        environments = repository.summarise_instances(conn, name)
        instances = repository.list_instances(conn, name, environment=None, limit=SHOWN_INSTANCES)
        features = client_metrics.list_features(conn, [name])
    return respond.page(
        context,
        "usage/client_applications/show",
        identity,
        title=f"Application {name}",
        application=row | {"strategies": msgspec.json.decode(row["strategies"])},
        count=sum(environment["instances"] for environment in environments),
        instances=instances,
        features=features,
    )
