"""Strategy types, JSON: list, create, update, deprecate, delete."""

from __future__ import annotations

import msgspec
from bottle import Bottle, HTTPResponse

from sigservice.context import Context
from sigservice.repository import strategy_types as repository
from sigservice.services import strategy_types
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.doors import AdminDoor

PATH = "/api/admin/strategies"


class ParameterBody(msgspec.Struct):
    name: str
    type: str
    description: str = ""
    required: bool = False


class UpdateBody(msgspec.Struct):
    parameters: list[ParameterBody]
    title: str | None = None
    description: str | None = None

    def fields(self) -> strategy_types.Fields:
        parameters = msgspec.to_builtins(self.parameters)
        return strategy_types.fields(self.title, self.description, parameters)


class StrategyTypeBody(UpdateBody, kw_only=True):
    name: str


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))

    @area.get(PATH, needs=VIEW)
    def list_all(identity: Identity) -> HTTPResponse:
        with context.database.autocommit() as conn:
            rows = repository.list_all(conn)
        shown = [strategy_types.to_json(row) for row in rows]
        return respond.json({"version": 1, "strategies": shown})

    @area.get(f"{PATH}/<name>", needs=VIEW)
    def read(identity: Identity, name: str) -> HTTPResponse:
        with context.database.autocommit() as conn:
            row = strategy_types.get(conn, name)
        return respond.json(strategy_types.to_json(row))

    @area.post(PATH, needs=EDIT, takes=StrategyTypeBody)
    def create(identity: Identity, body: StrategyTypeBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            row = strategy_types.create(conn, body.name, body.fields(), identity)
        location = f"{context.prefix}{PATH}/{body.name}"
        return respond.json(strategy_types.to_json(row), 201, location=location)

    @area.put(f"{PATH}/<name>", needs=EDIT, takes=UpdateBody)
    def update(identity: Identity, name: str, body: UpdateBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            row = strategy_types.update(conn, name, body.fields(), identity)
        return respond.json(strategy_types.to_json(row))

    @area.delete(f"{PATH}/<name>", needs=EDIT)
    def delete(identity: Identity, name: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            strategy_types.delete(conn, name, identity)
        return respond.empty()

    def deprecated(identity: Identity, name: str, deprecated: bool) -> HTTPResponse:
        with context.database.transaction() as conn:
            strategy_types.deprecate(conn, name, deprecated, identity)
        return respond.empty()

    @area.post(f"{PATH}/<name>/deprecate", needs=EDIT)
    def deprecate(identity: Identity, name: str) -> HTTPResponse:
        return deprecated(identity, name, True)

    @area.post(f"{PATH}/<name>/reactivate", needs=EDIT)
    def reactivate(identity: Identity, name: str) -> HTTPResponse:
        return deprecated(identity, name, False)

    return area
