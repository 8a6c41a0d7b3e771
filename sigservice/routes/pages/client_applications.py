"""Applications, pages: all of them, and one with its instances and flags.

One is asked for as `?name=`: a name may be any text, which a path can't hold.
"""

from __future__ import annotations

from urllib.parse import urlencode

import msgspec
from bottle import Bottle, HTTPResponse, request

from sigservice.context import Context
from sigservice.repository import client_applications as repository
from sigservice.repository import client_metrics
from sigservice.services import client_applications
from sigservice.services.identity import VIEW, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.body import read_query
from sigservice.web.doors import PageDoor
from sigservice.web.paging import paging

PATH = "/admin/applications"
SHOWN = 50
SHOWN_INSTANCES = 100


def build(context: Context) -> Bottle:
    area = new_area(context, PageDoor(context))

    @area.get(PATH, needs=VIEW)
    def show(identity: Identity) -> HTTPResponse:
        query = read_query(request.environ)
        if query.get("name"):
            return show_one(identity, query["name"])
        text, offset = query.get("query", "").strip(), paging(query).offset
        pattern = client_applications.like(text)
        with context.database.transaction() as conn:
            rows = repository.list_page(conn, pattern=pattern, limit=SHOWN + 1, offset=offset)
            total = repository.count(conn, pattern=pattern)
        kept = {"query": text} if text else {}
        more = urlencode(kept | {"offset": offset + SHOWN}) if len(rows) > SHOWN else ""
        return respond.page(
            context,
            "client_applications/list",
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

    def show_one(identity: Identity, name: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            row = client_applications.get(conn, name)
            environments = repository.summarise_instances(conn, name)
            instances = repository.list_instances(
                conn, name, environment=None, limit=SHOWN_INSTANCES
            )
            features = client_metrics.list_features(conn, [name])
        return respond.page(
            context,
            "client_applications/show",
            identity,
            title=f"Application {name}",
            application=row | {"strategies": msgspec.json.decode(row["strategies"])},
            count=sum(environment["instances"] for environment in environments),
            instances=instances,
            features=features,
        )

    return area
