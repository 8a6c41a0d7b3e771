"""Pages of environments."""

from typing import Any

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.repository.projects import environments as repository
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.projects import environments
from sigservice.services.projects.environments import EnvironmentState, NewEnvironment
from sigservice.web import respond
from sigservice.web.forms import Field, make_choices
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

NOTICES = {
    "created": "Environment created. Add it to a project to use it.",
    "deleted": "The environment was deleted.",
    "on": "The environment is enabled.",
    "off": "The environment is disabled and hidden in the UI; SDKs keep working.",
    "moved": "Order saved.",
}

router = Router(PageGuard)


@router.get("/admin/environments", needs=VIEW)
def list_environments(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = repository.list_all(conn)
    last = len(rows) - 1
    page_rows = [
        row | {"moves": ["up"] * (n > 0) + ["down"] * (n < last)} for n, row in enumerate(rows)
    ]
    return respond.page(
        context,
        "projects/environments/list",
        identity,
        title="Environments",
        environments=page_rows,
        limit=environments.MAX_ENVIRONMENTS,
        notice=respond.find_notice(NOTICES),
    )


def _render_new(
    context: Context, identity: Identity, values: dict[str, str], **more: Any
) -> HTTPResponse:
    hint = "Used in API tokens; can't be changed later. Letters, numbers, - . _ ~"
    types = make_choices(environments.TYPES)
    fields = [
        Field("name", "Name", values["name"], hint=hint, is_required=True),
        Field("type", "Type", values["type"], type="select", choices=types),
    ]
    page = {"title": "New environment"} | more
    return respond.page(context, "projects/environments/form", identity, fields=fields, **page)


@router.get("/admin/environments/new", needs=ADMIN)
def show_new_environment(context: Context, identity: Identity) -> HTTPResponse:
    return _render_new(context, identity, {"name": "", "type": "production"})


@router.post("/admin/environments/new", needs=ADMIN)
def create_environment(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
    values = {name: form.get(name, "").strip() for name in ("name", "type")}
    try:
        with context.database.transaction() as conn:
            environments.create(conn, NewEnvironment(values["name"], values["type"]), identity)
    except AppError as error:
        if error.status not in (400, 409):
            raise
        problem = {"status": error.status, "problems": error.details}
        return _render_new(context, identity, values, title="Problem: New environment", **problem)
    return respond.redirect(context, "/admin/environments?done=created")


def _set_enabled(
    context: Context, identity: Identity, environment: str, enabled: bool
) -> HTTPResponse:
    with context.database.transaction() as conn:
        environments.update(conn, environment, EnvironmentState(enabled), identity)
    return respond.redirect(context, f"/admin/environments?done={'on' if enabled else 'off'}")


@router.post("/admin/environments/<environment>/on", needs=ADMIN)
def enable_environment(
    context: Context, identity: Identity, environment: str, form: dict[str, str]
) -> HTTPResponse:
    return _set_enabled(context, identity, environment, True)


@router.post("/admin/environments/<environment>/off", needs=ADMIN)
def disable_environment(
    context: Context, identity: Identity, environment: str, form: dict[str, str]
) -> HTTPResponse:
    return _set_enabled(context, identity, environment, False)


def _move_environment(
    context: Context, identity: Identity, environment: str, step: int
) -> HTTPResponse:
    with context.database.transaction() as conn:
        environments.move(conn, environment, step, identity)
    return respond.redirect(context, "/admin/environments?done=moved")


@router.post("/admin/environments/<environment>/up", needs=ADMIN)
def move_environment_up(
    context: Context, identity: Identity, environment: str, form: dict[str, str]
) -> HTTPResponse:
    return _move_environment(context, identity, environment, -1)


@router.post("/admin/environments/<environment>/down", needs=ADMIN)
def move_environment_down(
    context: Context, identity: Identity, environment: str, form: dict[str, str]
) -> HTTPResponse:
    return _move_environment(context, identity, environment, 1)


@router.get("/admin/environments/<environment>/delete", needs=ADMIN)
def confirm_environment_deletion(
    context: Context, identity: Identity, environment: str, **more: Any
) -> HTTPResponse:
    with context.database.autocommit() as conn:
        row = environments.get(conn, environment)
    page = {"title": f"Delete the environment {environment}?"} | more
    return respond.page(context, "projects/environments/delete", identity, environment=row, **page)


@router.post("/admin/environments/<environment>/delete", needs=ADMIN)
def delete_environment(
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
        return confirm_environment_deletion(context, identity, environment, title=title, **problem)
    return respond.redirect(context, "/admin/environments?done=deleted")
