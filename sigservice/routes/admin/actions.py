"""Action sets of a project, JSON: list, create, replace, delete, switch, arm; their kinds."""

from __future__ import annotations

from typing import Literal

import msgspec
from bottle import Bottle, HTTPResponse

from sigservice.context import Context
from sigservice.services import action_sets
from sigservice.services.action_choices import definitions
from sigservice.services.action_filters import Filter
from sigservice.services.action_sets import Action, Fields, Settings, limits_of
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.payload_paths import LONGEST_PATH
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.doors import AdminDoor

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


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))
    limits = limits_of(context.config)

    @area.get(SETS, needs=ADMIN)
    def list_all(identity: Identity, project: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            rows = action_sets.list_of_project(conn, project)
        return respond.json({"actions": [action_sets.to_json(row) for row in rows]})

    @area.post(SETS, needs=ADMIN, takes=ActionSetBody)
    def create(identity: Identity, project: str, body: ActionSetBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            row = action_sets.create(conn, project, body.fields(), identity, limits)
        location = f"{context.prefix}/api/admin/projects/{project}/actions/{row['id']}"
        return respond.json(action_sets.to_json(row), 201, location=location)

    @area.get(f"{SETS}/config", needs=ADMIN)
    def config(identity: Identity, project: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            return respond.json(definitions(conn, project))

    @area.get(SET, needs=ADMIN)
    def read(identity: Identity, project: str, id: int) -> HTTPResponse:
        with context.database.transaction() as conn:
            return respond.json(action_sets.to_json(action_sets.get(conn, project, id)))

    @area.put(SET, needs=ADMIN, takes=ActionSetBody)
    def replace(identity: Identity, project: str, id: int, body: ActionSetBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            row = action_sets.update(conn, project, id, body.fields(), identity, limits)
        return respond.json(action_sets.to_json(row))

    @area.delete(SET, needs=ADMIN)
    def delete(identity: Identity, project: str, id: int) -> HTTPResponse:
        with context.database.transaction() as conn:
            action_sets.delete(conn, project, id, identity)
        return respond.empty()

    @area.post(f"{SET}/on", needs=ADMIN)
    def switch_on(identity: Identity, project: str, id: int) -> HTTPResponse:
        with context.database.transaction() as conn:
            row = action_sets.switch(conn, project, id, True, identity)
        return respond.json(action_sets.to_json(row))

    @area.post(f"{SET}/off", needs=ADMIN)
    def switch_off(identity: Identity, project: str, id: int) -> HTTPResponse:
        with context.database.transaction() as conn:
            row = action_sets.switch(conn, project, id, False, identity)
        return respond.json(action_sets.to_json(row))

    @area.post(f"{SET}/arm", needs=ADMIN)
    def arm(identity: Identity, project: str, id: int) -> HTTPResponse:
        with context.database.transaction() as conn:
            return respond.json(action_sets.to_json(action_sets.arm(conn, project, id, identity)))

    return area
