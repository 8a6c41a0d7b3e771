"""Context fields, JSON: list, create, update, delete, legal values, and who asks for a field."""

from __future__ import annotations

from typing import Annotated

import msgspec
from bottle import Bottle, HTTPResponse
from msgspec import UNSET, UnsetType

from sigservice.context import Context
from sigservice.repository import context_fields as repository
from sigservice.services import context_fields
from sigservice.services.context_fields import LegalValue
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.doors import AdminDoor

PATH = "/api/admin/context"
SortOrder = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]


class ContextFieldBody(msgspec.Struct):
    name: str
    description: str | None = None
    stickiness: bool = False
    sortOrder: SortOrder = 10
    legalValues: list[LegalValue] = []


class UpdateBody(msgspec.Struct):
    """What is absent stays as it is."""

    description: str | UnsetType | None = UNSET
    stickiness: bool | None = None
    sortOrder: SortOrder | None = None
    legalValues: list[LegalValue] | None = None


class NameBody(msgspec.Struct):
    name: str


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))

    @area.get(PATH, needs=VIEW)
    def list_all(identity: Identity) -> HTTPResponse:
        with context.database.autocommit() as conn:
            rows = repository.list_all(conn)
        return respond.json([context_fields.to_json(row) for row in rows])

    @area.post(PATH, needs=EDIT, takes=ContextFieldBody)
    def create(identity: Identity, body: ContextFieldBody) -> HTTPResponse:
        fields = context_fields.fields(
            body.description, body.stickiness, body.sortOrder, body.legalValues
        )
        with context.database.transaction() as conn:
            row = context_fields.create(conn, body.name, fields, identity)
        location = f"{context.prefix}{PATH}/{body.name}"
        return respond.json(context_fields.to_json(row), 201, location=location)

    @area.post(f"{PATH}/validate", needs=VIEW, takes=NameBody)
    def validate(identity: Identity, body: NameBody) -> HTTPResponse:
        with context.database.autocommit() as conn:
            context_fields.check_free(conn, body.name)
        return respond.empty()

    @area.get(f"{PATH}/<name>", needs=VIEW)
    def read(identity: Identity, name: str) -> HTTPResponse:
        with context.database.autocommit() as conn:
            row = context_fields.get(conn, name)
        return respond.json(context_fields.to_json(row))

    @area.put(f"{PATH}/<name>", needs=EDIT, takes=UpdateBody)
    def update(identity: Identity, name: str, body: UpdateBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            row = context_fields.update(
                conn,
                name,
                identity,
                description=body.description,
                stickiness=body.stickiness,
                sort_order=body.sortOrder,
                legal_values=body.legalValues,
            )
        return respond.json(context_fields.to_json(row))

    @area.delete(f"{PATH}/<name>", needs=EDIT)
    def delete(identity: Identity, name: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            context_fields.delete(conn, name, identity)
        return respond.empty()

    @area.get(f"{PATH}/<name>/strategies", needs=VIEW)
    def list_strategies(identity: Identity, name: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            context_fields.get(conn, name)
            rows = repository.list_strategies(conn, name)
        shown = [
            {
                "id": row["id"],
                "projectId": row["project"],
                "featureName": row["feature"],
                "strategyName": row["strategy"],
                "environment": row["environment"],
            }
            for row in rows
        ]
        return respond.json({"strategies": shown})

    @area.post(f"{PATH}/<name>/legal-values", needs=EDIT, takes=LegalValue)
    def put_legal_value(identity: Identity, name: str, body: LegalValue) -> HTTPResponse:
        with context.database.transaction() as conn:
            row = context_fields.put_legal_value(conn, name, body, identity)
        return respond.json(context_fields.to_json(row))

    @area.delete(f"{PATH}/<name>/legal-values/<value:path>", needs=EDIT)
    def delete_legal_value(identity: Identity, name: str, value: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            context_fields.delete_legal_value(conn, name, value, identity)
        return respond.empty()

    return area
