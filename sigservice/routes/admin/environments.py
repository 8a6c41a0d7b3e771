"""Environments, JSON: list, create, update, order, on and off, delete; those of one project."""

from __future__ import annotations

from typing import Annotated

import msgspec
from bottle import Bottle, HTTPResponse

from sigservice.context import Context
from sigservice.repository import environments as repository
from sigservice.services import environments
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.doors import AdminDoor

PATH = "/api/admin/environments"
SortOrder = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]


class EnvironmentBody(msgspec.Struct):
    name: str
    type: str
    sortOrder: SortOrder | None = None
    enabled: bool = True


class UpdateBody(msgspec.Struct):
    """What is absent stays as it is."""

    type: str | None = None
    sortOrder: SortOrder | None = None


class NameBody(msgspec.Struct):
    name: str


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))

    @area.get(PATH, needs=VIEW)
    def list_all(identity: Identity) -> HTTPResponse:
        with context.database.autocommit() as conn:
            rows = repository.list_all(conn)
        shown = [environments.to_json(row) for row in rows]
        return respond.json({"version": 1, "environments": shown})

    @area.get(f"{PATH}/project/<project>", needs=VIEW)
    def list_of_project(identity: Identity, project: str) -> HTTPResponse:
        with context.database.autocommit() as conn:
            rows = repository.list_of_project(conn, project)
        shown = [environments.of_project_to_json(row) for row in rows]
        return respond.json({"version": 1, "environments": shown})

    @area.get(f"{PATH}/<name>", needs=VIEW)
    def read(identity: Identity, name: str) -> HTTPResponse:
        with context.database.autocommit() as conn:
            row = environments.get(conn, name)
        return respond.json(environments.to_json(row))

    @area.post(PATH, needs=ADMIN, takes=EnvironmentBody)
    def create(identity: Identity, body: EnvironmentBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            row = environments.create(
                conn,
                name=body.name,
                type=body.type,
                sort_order=body.sortOrder,
                enabled=body.enabled,
                by=identity,
            )
        location = f"{context.prefix}{PATH}/{body.name}"
        return respond.json(environments.to_json(row), 201, location=location)

    @area.post(f"{PATH}/validate", needs=VIEW, takes=NameBody)
    def validate(identity: Identity, body: NameBody) -> HTTPResponse:
        with context.database.autocommit() as conn:
            environments.check_free(conn, body.name)
        return respond.empty()

    @area.put(f"{PATH}/sort-order", needs=ADMIN, takes=dict[str, SortOrder])
    def sort(identity: Identity, body: dict[str, int]) -> HTTPResponse:
        with context.database.transaction() as conn:
            environments.sort(conn, body, identity)
        return respond.empty()

    @area.put(f"{PATH}/update/<name>", needs=ADMIN, takes=UpdateBody)
    @area.put(f"{PATH}/<name>", needs=ADMIN, takes=UpdateBody)
    def update(identity: Identity, name: str, body: UpdateBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            row = environments.update(
                conn, name, identity, type=body.type, sort_order=body.sortOrder
            )
        return respond.json(environments.to_json(row))

    def switch(identity: Identity, name: str, enabled: bool) -> HTTPResponse:
        with context.database.transaction() as conn:
            environments.update(conn, name, identity, enabled=enabled)
        return respond.empty(204)

    @area.post(f"{PATH}/<name>/on", needs=ADMIN)
    def switch_on(identity: Identity, name: str) -> HTTPResponse:
        return switch(identity, name, True)

    @area.post(f"{PATH}/<name>/off", needs=ADMIN)
    def switch_off(identity: Identity, name: str) -> HTTPResponse:
        return switch(identity, name, False)

    @area.delete(f"{PATH}/<name>", needs=ADMIN)
    def delete(identity: Identity, name: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            environments.delete(conn, name, identity)
        return respond.empty()

    return area
