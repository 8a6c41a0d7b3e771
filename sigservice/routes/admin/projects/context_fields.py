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
from sigservice.web import AdminGuard, Connection, Json, Router, respond

PATH = "/api/admin/context"


class ContextFieldNameBody(msgspec.Struct):
    name: str


router = Router(AdminGuard)


@router.get(PATH, needs=VIEW, autocommit=True)
def list_context_fields(conn: Connection, identity: Identity) -> Json:
    """`[field]` in their order."""
    rows = context_field_rows.list_with_uses(conn)
    return [context_fields.to_json(row) for row in rows]


@router.post(PATH, needs=EDIT, takes=ContextField)
def create_context_field(conn: Connection, identity: Identity, body: ContextField) -> Json:
    """Body: `{name, description?, stickiness?, sortOrder?, legalValues?}`. 201 field."""
    row = context_fields.create(conn, body, identity)
    return respond.Created(context_fields.to_json(row), f"{PATH}/{body.name}")


@router.post(f"{PATH}/validate", needs=VIEW, takes=ContextFieldNameBody, autocommit=True)
def validate_context_field_name(
    conn: Connection, identity: Identity, body: ContextFieldNameBody
) -> None:
    """Body: `{name}`. 200; 400 for an invalid name, 409 if it exists."""
    context_fields.KIND.check_key_available(conn, body.name)


@router.get(f"{PATH}/<name>", needs=VIEW, autocommit=True)
def get_context_field(conn: Connection, identity: Identity, name: str) -> Json:
    """Field."""
    return context_fields.to_json(context_fields.get(conn, name))


@router.put(f"{PATH}/<name>", needs=EDIT, takes=ContextFieldChanges)
def update_context_field(
    conn: Connection, identity: Identity, name: str, body: ContextFieldChanges
) -> Json:
    """Body: as create without the name; absent fields stay unchanged."""
    return context_fields.to_json(context_fields.update(conn, name, body, identity))


@router.delete(f"{PATH}/<name>", needs=EDIT)
def delete_context_field(conn: Connection, identity: Identity, name: str) -> None:
    """200, even if strategies use it; 403 for a built-in one."""
    context_fields.delete(conn, name, identity)


@router.get(f"{PATH}/<name>/strategies", needs=VIEW)
def list_strategies_of_context_field(conn: Connection, identity: Identity, name: str) -> Json:
    """`{"strategies": [{id, projectId, featureName, strategyName, environment}]}` that use it, also
    through segments."""
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
    return {"strategies": strategies}


@router.post(f"{PATH}/<name>/legal-values", needs=EDIT, takes=LegalValue)
def set_legal_value(conn: Connection, identity: Identity, name: str, body: LegalValue) -> Json:
    """Body: `{value, description?}`. Adds it or replaces its description."""
    return context_fields.to_json(context_fields.put_legal_value(conn, name, body, identity))


@router.delete(f"{PATH}/<name>/legal-values/<value:path>", needs=EDIT)
def delete_legal_value(conn: Connection, identity: Identity, name: str, value: str) -> None:
    """Deletes one value."""
    context_fields.delete_legal_value(conn, name, value, identity)
