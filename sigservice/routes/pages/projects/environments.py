"""Environments, pages: list in their order, new, on and off, move, delete."""

from __future__ import annotations

from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.repository.projects import environments as repository
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.projects import environments
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

NOTICES = {
    "created": "The environment was created. Projects have to be linked to it before it is used.",
    "deleted": "The environment was deleted.",
    "on": "The environment is on.",
    "off": "The environment is off: hidden where flags are shown. SDKs are answered as before.",
    "moved": "The environments have a new order.",
}


router = Router(PageGuard)


@router.get("/admin/environments", needs=VIEW)
def show_list(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = repository.list_all(conn)
    return respond.page(
        context,
        "projects/environments/list",
        identity,
        title="Environments",
        environments=rows,
        limit=environments.MAX_ENVIRONMENTS,
        notice=NOTICES.get(read_query(request.environ).get("done", ""), ""),
    )


def new_page(
    context: Context, identity: Identity, values: dict[str, str], **more: Any
) -> HTTPResponse:
    page = {"title": "New environment", "types": environments.TYPES} | more
    return respond.page(context, "projects/environments/form", identity, values=values, **page)


@router.get("/admin/environments/new", needs=ADMIN)
def new(context: Context, identity: Identity) -> HTTPResponse:
    return new_page(context, identity, {"name": "", "type": "production"})


@router.post("/admin/environments/new", needs=ADMIN)
def create(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
    values = {name: form.get(name, "").strip() for name in ("name", "type")}
    try:
        with context.database.transaction() as conn:
            environments.create(conn, name=values["name"], type=values["type"], by=identity)
    except AppError as error:
        if error.status not in (400, 409):
            raise
        problem = {"status": error.status, "problems": error.details}
        return new_page(context, identity, values, title="Problem: New environment", **problem)
    return respond.redirect(context, "/admin/environments?done=created")


def switch(context: Context, identity: Identity, environment: str, enabled: bool) -> HTTPResponse:
    with context.database.transaction() as conn:
        environments.update(conn, environment, identity, enabled=enabled)
    return respond.redirect(context, f"/admin/environments?done={'on' if enabled else 'off'}")


@router.post("/admin/environments/<environment>/on", needs=ADMIN)
def switch_on(
    context: Context, identity: Identity, environment: str, form: dict[str, str]
) -> HTTPResponse:
    return switch(context, identity, environment, True)


@router.post("/admin/environments/<environment>/off", needs=ADMIN)
def switch_off(
    context: Context, identity: Identity, environment: str, form: dict[str, str]
) -> HTTPResponse:
    return switch(context, identity, environment, False)


def move(context: Context, identity: Identity, environment: str, step: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        environments.move(conn, environment, step, identity)
    return respond.redirect(context, "/admin/environments?done=moved")


@router.post("/admin/environments/<environment>/up", needs=ADMIN)
def move_up(
    context: Context, identity: Identity, environment: str, form: dict[str, str]
) -> HTTPResponse:
    return move(context, identity, environment, -1)


@router.post("/admin/environments/<environment>/down", needs=ADMIN)
def move_down(
    context: Context, identity: Identity, environment: str, form: dict[str, str]
) -> HTTPResponse:
    return move(context, identity, environment, 1)


@router.get("/admin/environments/<environment>/delete", needs=ADMIN)
def confirm_delete(
    context: Context, identity: Identity, environment: str, **more: Any
) -> HTTPResponse:
    with context.database.autocommit() as conn:
        row = environments.get(conn, environment)
    page = {"title": f"Delete the environment {environment}?"} | more
    return respond.page(context, "projects/environments/delete", identity, environment=row, **page)


@router.post("/admin/environments/<environment>/delete", needs=ADMIN)
def delete(
    context: Context, identity: Identity, environment: str, form: dict[str, str]
) -> HTTPResponse:
    try:
        with context.database.transaction() as conn:
            environments.delete(conn, environment, identity)
    except AppError as error:
        if error.status not in (403, 409):
            raise
        problem = {"status": error.status, "problems": error.details}
        title = "Problem: Delete an environment"
        return confirm_delete(context, identity, environment, title=title, **problem)
    return respond.redirect(context, "/admin/environments?done=deleted")
