"""Pages of context fields."""

from typing import Any

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import AppError
from sigservice.repository.projects import context_fields as repository
from sigservice.services import revisions
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.projects import context_fields
from sigservice.services.projects.context_fields import (
    ContextField,
    ContextFieldChanges,
    LegalValue,
)
from sigservice.web import respond
from sigservice.web.forms import Field
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

NOTICES = {
    "created": "The context field was created.",
    "saved": "The context field was saved.",
    "deleted": "The context field was deleted.",
}
MAX_LISTED_VALUES = 10


router = Router(PageGuard)


@router.get("/admin/context", needs=VIEW)
def list_context_fields(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.transaction() as conn:
        fields = repository.list_with_uses(conn)
    with_values = [row | {"values": _format_values(row)} for row in fields]
    return respond.page(
        context,
        "projects/context_fields/list",
        identity,
        title="Context fields",
        fields=with_values,
        notice=respond.find_notice(NOTICES),
    )


def _render_form(
    context: Context, identity: Identity, values: dict[str, str], **more: Any
) -> HTTPResponse:
    page = {"title": "New context field", "context_field": None} | more
    name_hint = "As SDKs send it. Letters, numbers, - . _ ~"
    name = Field("name", "Name", values["name"], hint=name_hint, is_required=True)
    fields = [
        Field("description", "Description", values["description"]),
        Field("stickiness", "Allow as stickiness field", values["stickiness"], type="checkbox"),
        Field(
            "values",
            "Legal values",
            values["values"],
            type="textarea",
            hint="Optional. Suggested values, one per line.",
            attributes={"rows": 6},
        ),
    ]
    page["fields"] = fields if page["context_field"] else [name, *fields]
    return respond.page(context, "projects/context_fields/form", identity, **page)


@router.get("/admin/context/new", needs=EDIT)
def show_new_context_field(context: Context, identity: Identity) -> HTTPResponse:
    return _render_form(context, identity, _values({}))


@router.post("/admin/context/new", needs=EDIT)
def create_context_field(
    context: Context, identity: Identity, form: dict[str, str]
) -> HTTPResponse:
    values = _values(form)
    try:
        new = ContextField(
            values["name"],
            values["description"],
            bool(values["stickiness"]),
            legal_values=_parse_lines(values),
        )
        with context.database.transaction() as conn:
            context_fields.create(conn, new, identity)
    except AppError as error:
        if error.status not in (400, 409):
            raise
        problem = {"status": error.status, "problems": _map_problem_paths(error)}
        return _render_form(
            context, identity, values, title="Problem: New context field", **problem
        )
    return respond.redirect(context, "/admin/context?done=created")


@router.get("/admin/context/<field>/edit", needs=EDIT)
def show_context_field(context: Context, identity: Identity, field: str) -> HTTPResponse:
    with context.database.autocommit() as conn:
        row = context_fields.get(conn, field)
    values = {
        "name": field,
        "description": row["description"] or "",
        "stickiness": "on" if row["stickiness"] else "",
        "values": "\n".join(legal.value for legal in context_fields.parse_legal_values(row)),
    }
    return _render_form(
        context, identity, values, context_field=row, title=f"Context field {field}"
    )


@router.post("/admin/context/<field>/edit", needs=EDIT)
def update_context_field(
    context: Context, identity: Identity, field: str, form: dict[str, str]
) -> HTTPResponse:
    values = _values(form) | {"name": field}
    try:
        with context.database.transaction() as conn:
            revisions.lock(conn)  # descriptions, which the form has no fields for, must not change
            row = context_fields.get(conn, field)
            existing = {legal.value: legal for legal in context_fields.parse_legal_values(row)}
            changes = ContextFieldChanges(
                values["description"],
                bool(values["stickiness"]),
                legal_values=[existing.get(legal.value, legal) for legal in _parse_lines(values)],
            )
            context_fields.update(conn, field, changes, identity)
    except AppError as error:
        if error.status != 400:
            raise
        problem = {"status": error.status, "problems": _map_problem_paths(error)}
        return _render_form(
            context, identity, values, context_field=row, title="Problem: Context field", **problem
        )
    return respond.redirect(context, "/admin/context?done=saved")


@router.get("/admin/context/<field>/delete", needs=EDIT)
def confirm_context_field_deletion(
    context: Context, identity: Identity, field: str, **more: Any
) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = context_fields.get(conn, field)
        strategies = repository.list_strategies(conn, field)
    flags = list(dict.fromkeys(strategy["feature"] for strategy in strategies))
    page = {"title": f"Delete the context field {field}?"} | more
    return respond.page(
        context, "projects/context_fields/delete", identity, field=row, flags=flags, **page
    )


@router.post("/admin/context/<field>/delete", needs=EDIT)
def delete_context_field(
    context: Context, identity: Identity, field: str, form: dict[str, str]
) -> HTTPResponse:
    try:
        with context.database.transaction() as conn:
            context_fields.delete(conn, field, identity)
    except AppError as error:
        if error.status != 403:
            raise
        problem = {"status": error.status, "problems": error.details}
        title = "Problem: Delete a context field"
        return confirm_context_field_deletion(context, identity, field, title=title, **problem)
    return respond.redirect(context, "/admin/context?done=deleted")


def _values(form: dict[str, str]) -> dict[str, str]:
    names = ("name", "description", "stickiness", "values")
    return {name: form.get(name, "").strip() for name in names}


def _parse_lines(values: dict[str, str]) -> list[LegalValue]:
    """The legal values, one per line."""
    lines = [line.strip() for line in values["values"].splitlines()]
    return [LegalValue(line) for line in lines if line]


def _format_values(row: Row) -> str:
    values = [legal.value for legal in context_fields.parse_legal_values(row)]
    return ", ".join(values[:MAX_LISTED_VALUES] + ["…"] * (len(values) > MAX_LISTED_VALUES))


def _map_problem_paths(error: AppError) -> list[dict[str, Any]]:
    """The problems, with those of single legal values at the field of all legal values."""
    return [
        detail | ({"path": "values"} if detail.get("path", "").startswith("legalValues") else {})
        for detail in error.details
    ]
