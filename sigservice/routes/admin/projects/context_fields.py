"""Admin API: context fields, their legal values, and the strategies that use them."""

import msgspec

from sigservice.repository.projects import context_fields as context_field_rows
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.projects import context_fields
from sigservice.services.projects.context_fields import (
    ContextField,
    ContextFieldChanges,
    LegalValue,
)
from sigservice.web import AdminGuard, Context, HTTPResponse, Router, respond

PATH = "/api/admin/context"


class ContextFieldNameBody(msgspec.Struct):
    name: str


router = Router(AdminGuard)


@router.get(PATH, needs=VIEW)
def list_context_fields(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = context_field_rows.list_with_uses(conn)
    return respond.json([context_fields.to_json(row) for row in rows])


@router.post(PATH, needs=EDIT, takes=ContextField)
def create_context_field(context: Context, identity: Identity, body: ContextField) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = context_fields.create(conn, body, identity)
    location = f"{context.prefix}{PATH}/{body.name}"
    return respond.json(context_fields.to_json(row), 201, location=location)


@router.post(f"{PATH}/validate", needs=VIEW, takes=ContextFieldNameBody)
def validate_context_field_name(
    context: Context, identity: Identity, body: ContextFieldNameBody
) -> HTTPResponse:
    with context.database.autocommit() as conn:
        context_fields.KIND.check_key_available(conn, body.name)
    return respond.empty()


@router.get(f"{PATH}/<name>", needs=VIEW)
def get_context_field(context: Context, identity: Identity, name: str) -> HTTPResponse:
    with context.database.autocommit() as conn:
        row = context_fields.get(conn, name)
    return respond.json(context_fields.to_json(row))


@router.put(f"{PATH}/<name>", needs=EDIT, takes=ContextFieldChanges)
def update_context_field(
    context: Context, identity: Identity, name: str, body: ContextFieldChanges
) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = context_fields.update(conn, name, body, identity)
    return respond.json(context_fields.to_json(row))


@router.delete(f"{PATH}/<name>", needs=EDIT)
def delete_context_field(context: Context, identity: Identity, name: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        context_fields.delete(conn, name, identity)
    return respond.empty()


@router.get(f"{PATH}/<name>/strategies", needs=VIEW)
def list_strategies_of_context_field(
    context: Context, identity: Identity, name: str
) -> HTTPResponse:
    with context.database.transaction() as conn:
        context_fields.get(conn, name)
        rows = context_field_rows.list_strategies(conn, name)
    strategies = [
        {
            "id": row["id"],
            "projectId": row["project"],
            "featureName": row["feature"],
            "strategyName": row["strategy"],
            "environment": row["environment"],
        }
        for row in rows
    ]
    return respond.json({"strategies": strategies})


@router.post(f"{PATH}/<name>/legal-values", needs=EDIT, takes=LegalValue)
def set_legal_value(
    context: Context, identity: Identity, name: str, body: LegalValue
) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = context_fields.put_legal_value(conn, name, body, identity)
    return respond.json(context_fields.to_json(row))


@router.delete(f"{PATH}/<name>/legal-values/<value:path>", needs=EDIT)
def delete_legal_value(context: Context, identity: Identity, name: str, value: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        context_fields.delete_legal_value(conn, name, value, identity)
    return respond.empty()
