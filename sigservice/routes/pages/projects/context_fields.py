"""Context fields and types, pages: the lists; new, edit and delete for fields."""

from __future__ import annotations

from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.repository.projects import context_fields as repository
from sigservice.repository.projects import feature_types, strategy_types, tag_types
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.projects import context_fields
from sigservice.services.projects.context_fields import LegalValue
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

NOTICES = {
    "created": "The context field was created.",
    "saved": "The context field was saved.",
    "deleted": "The context field was deleted.",
}
SORT_ORDER = 10


router = Router(PageGuard)


@router.get("/admin/context", needs=VIEW)
def show_list(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.transaction() as conn:
        fields = repository.list_all(conn)
        types = {
            "Strategies": [
                (row["name"], row["description"], "deprecated" if row["deprecated"] else "")
                for row in strategy_types.list_all(conn)
            ],
            "Flag types": [
                (row["id"], row["description"], "") for row in feature_types.list_all(conn)
            ],
            "Tag types": [
                (row["name"], row["description"], "") for row in tag_types.list_all(conn)
            ],
        }
    shown = [
        row | {"values": [v.value for v in context_fields.legal_values_of(row)]} for row in fields
    ]
    return respond.page(
        context,
        "projects/context_fields/list",
        identity,
        title="Context and types",
        fields=shown,
        types=types,
        notice=NOTICES.get(read_query(request.environ).get("done", ""), ""),
    )


def form_page(
    context: Context, identity: Identity, values: dict[str, str], **more: Any
) -> HTTPResponse:
    page = {"title": "New context field", "field": None} | more
    return respond.page(context, "projects/context_fields/form", identity, values=values, **page)


@router.get("/admin/context/new", needs=EDIT)
def new(context: Context, identity: Identity) -> HTTPResponse:
    return form_page(context, identity, _values({}))


@router.post("/admin/context/new", needs=EDIT)
def create(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
    values = _values(form)
    try:
        fields = context_fields.fields(
            values["description"], bool(values["stickiness"]), SORT_ORDER, _legal(values)
        )
        with context.database.transaction() as conn:
            context_fields.create(conn, values["name"], fields, identity)
    except AppError as error:
        if error.status not in (400, 409):
            raise
        problem = {"status": error.status, "problems": _beside_fields(error)}
        return form_page(context, identity, values, title="Problem: New context field", **problem)
    return respond.redirect(context, "/admin/context?done=created")


@router.get("/admin/context/<field>/edit", needs=EDIT)
def edit(context: Context, identity: Identity, field: str) -> HTTPResponse:
    with context.database.autocommit() as conn:
        row = context_fields.get(conn, field)
    values = {
        "name": field,
        "description": row["description"] or "",
        "stickiness": "on" if row["stickiness"] else "",
        "values": "\n".join(legal.value for legal in context_fields.legal_values_of(row)),
    }
    return form_page(context, identity, values, field=row, title=f"Context field {field}")


@router.post("/admin/context/<field>/edit", needs=EDIT)
def save(context: Context, identity: Identity, field: str, form: dict[str, str]) -> HTTPResponse:
    values = _values(form) | {"name": field}
    with context.database.autocommit() as conn:
        row = context_fields.get(conn, field)
    described = {legal.value: legal for legal in context_fields.legal_values_of(row)}
    legal = [described.get(legal.value, legal) for legal in _legal(values)]
    try:
        with context.database.transaction() as conn:
            context_fields.update(
                conn,
                field,
                identity,
                description=values["description"],
                stickiness=bool(values["stickiness"]),
                legal_values=legal,
            )
    except AppError as error:
        if error.status != 400:
            raise
        problem = {"status": error.status, "problems": _beside_fields(error)}
        return form_page(
            context, identity, values, field=row, title="Problem: Context field", **problem
        )
    return respond.redirect(context, "/admin/context?done=saved")


@router.get("/admin/context/<field>/delete", needs=EDIT)
def confirm_delete(context: Context, identity: Identity, field: str, **more: Any) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = context_fields.get(conn, field)
        strategies = repository.list_strategies(conn, field)
    flags = list(dict.fromkeys(strategy["feature"] for strategy in strategies))
    page = {"title": f"Delete the context field {field}?"} | more
    return respond.page(
        context, "projects/context_fields/delete", identity, field=row, flags=flags, **page
    )


@router.post("/admin/context/<field>/delete", needs=EDIT)
def delete(context: Context, identity: Identity, field: str, form: dict[str, str]) -> HTTPResponse:
    try:
        with context.database.transaction() as conn:
            context_fields.delete(conn, field, identity)
    except AppError as error:
        if error.status != 403:
            raise
        problem = {"status": error.status, "problems": error.details}
        title = "Problem: Delete a context field"
        return confirm_delete(context, identity, field, title=title, **problem)
    return respond.redirect(context, "/admin/context?done=deleted")


def _values(form: dict[str, str]) -> dict[str, str]:
    names = ("name", "description", "stickiness", "values")
    return {name: form.get(name, "").strip() for name in names}


def _legal(values: dict[str, str]) -> list[LegalValue]:
    """One a line."""
    lines = [line.strip() for line in values["values"].splitlines()]
    return [LegalValue(line) for line in lines if line]


def _beside_fields(error: AppError) -> list[dict[str, Any]]:
    """Problems of single legal values stand at the field that holds them all."""
    return [
        detail | ({"path": "values"} if detail.get("path", "").startswith("legalValues") else {})
        for detail in error.details
    ]
