"""Action sets of a project, JSON: list, create, replace, delete, switch, arm; their kinds."""

from __future__ import annotations

from typing import Literal

import msgspec
from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.services.actions import action_sets
from sigservice.services.actions.action_choices import definitions
from sigservice.services.actions.action_filters import Filter
from sigservice.services.actions.action_sets import Action, Fields, Settings, limits_of
from sigservice.services.actions.payload_paths import LONGEST_PATH
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import respond
from sigservice.web.guards import AdminGuard
from sigservice.web.router import Router

SETS = "/api/admin/projects/<project>/actions"
SET = f"{SETS}/<id:id>"


class PayloadFilter(msgspec.Struct):
    """A filter of the compared server's map, whose key is the path."""

    operator: str
    value: str | int | float | bool | None = None
    values: list[str | int | float | bool] | None = None
    inverted: bool = False
    caseInsensitive: bool = False


class Match(msgspec.Struct):
    """`payload` has one filter a path; `filters` what that can't say. Both hold."""

    source: Literal["signal-endpoint"]
    sourceId: int
    payload: dict[str, PayloadFilter] = {}
    filters: list[Filter] = []


class ActionSetBody(msgspec.Struct):
    name: str
    actorId: int
    match: Match
    actions: list[Action]
    enabled: bool | None = None
    description: str | None = None
    options: Settings = msgspec.field(default_factory=Settings)

    def fields(self) -> Fields:
        mapped = [
            Filter(
                path=path,
                operator=f.operator,
                value=f.value,
                values=f.values if f.values else None,
                inverted=f.inverted,
                caseInsensitive=f.caseInsensitive,
            )
            for path, f in self.match.payload.items()
        ]
        places = [f"match.payload.{path[:LONGEST_PATH]}" for path in self.match.payload]
        places += [f"match.filters[{n}]" for n in range(len(self.match.filters))]
        return Fields(
            self.name.strip(),
            (self.description or "").strip() or None,
            self.enabled,
            self.actorId,
            self.match.sourceId,
            [*mapped, *self.match.filters],
            self.actions,
            self.options,
            places,
        )


router = Router(AdminGuard)


@router.get(SETS, needs=ADMIN)
def list_all(context: Context, identity: Identity, project: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        rows = action_sets.list_of_project(conn, project)
    return respond.json({"actions": [action_sets.to_json(row) for row in rows]})


@router.post(SETS, needs=ADMIN, takes=ActionSetBody)
def create(context: Context, identity: Identity, project: str, body: ActionSetBody) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = action_sets.create(conn, project, body.fields(), identity, limits_of(context.config))
    location = f"{context.prefix}/api/admin/projects/{project}/actions/{row['id']}"
    return respond.json(action_sets.to_json(row), 201, location=location)


@router.get(f"{SETS}/config", needs=ADMIN)
def config(context: Context, identity: Identity, project: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        return respond.json(definitions(conn, project))


@router.get(SET, needs=ADMIN)
def read(context: Context, identity: Identity, project: str, id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        return respond.json(action_sets.to_json(action_sets.get(conn, project, id)))


@router.put(SET, needs=ADMIN, takes=ActionSetBody)
def replace(
    context: Context, identity: Identity, project: str, id: int, body: ActionSetBody
) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = action_sets.update(
            conn, project, id, body.fields(), identity, limits_of(context.config)
        )
    return respond.json(action_sets.to_json(row))


@router.delete(SET, needs=ADMIN)
def delete(context: Context, identity: Identity, project: str, id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        action_sets.delete(conn, project, id, identity)
    return respond.empty()


@router.post(f"{SET}/on", needs=ADMIN)
def switch_on(context: Context, identity: Identity, project: str, id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = action_sets.switch(conn, project, id, True, identity)
    return respond.json(action_sets.to_json(row))


@router.post(f"{SET}/off", needs=ADMIN)
def switch_off(context: Context, identity: Identity, project: str, id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = action_sets.switch(conn, project, id, False, identity)
    return respond.json(action_sets.to_json(row))


@router.post(f"{SET}/arm", needs=ADMIN)
def arm(context: Context, identity: Identity, project: str, id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        return respond.json(action_sets.to_json(action_sets.arm(conn, project, id, identity)))
