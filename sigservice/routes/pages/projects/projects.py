"""Projects, pages: list, new, edit, environments, delete."""

from __future__ import annotations

from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.repository.projects import context_fields
from sigservice.repository.projects import environments as environment_rows
from sigservice.repository.projects import projects as repository
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.projects import environments, project_environments, projects
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

NOTICES = {
    "created": "The project was created.",
    "saved": "The project was saved.",
    "deleted": "The project was deleted.",
    "linked": "The project uses the environment from now on.",
    "unlinked": "The project's flags are off in that environment.",
}


router = Router(PageGuard)


def notice() -> str:
    return NOTICES.get(read_query(request.environ).get("done", ""), "")


def stickiness(context: Context) -> list[str]:
    with context.database.autocommit() as conn:
        rows = context_fields.list_all(conn)
    return ["default", "random", *(row["name"] for row in rows if row["stickiness"])]


@router.get("/admin/projects", needs=VIEW)
def show_list(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = repository.list_all(conn)
    return respond.page(
        context,
        "projects/projects/list",
        identity,
        title="Projects",
        projects=rows,
        notice=notice(),
    )


def new_page(
    context: Context, identity: Identity, values: dict[str, str], **more: Any
) -> HTTPResponse:
    page = {"title": "New project", "project": None, "stickiness": stickiness(context)} | more
    return respond.page(context, "projects/projects/form", identity, values=values, **page)


@router.get("/admin/projects/new", needs=ADMIN)
def new(context: Context, identity: Identity) -> HTTPResponse:
    return new_page(context, identity, _values({"default_stickiness": "default"}))


@router.post("/admin/projects/new", needs=ADMIN)
def create(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
    values = _values(form)
    try:
        fields = projects.fields(
            values["name"], values["description"], "open", values["default_stickiness"]
        )
        with context.database.transaction() as conn:
            row = projects.create(conn, values["id"] or None, fields, identity)
    except AppError as error:
        if error.status not in (400, 409):
            raise
        problem = {"status": error.status, "problems": _beside_fields(error)}
        return new_page(context, identity, values, title="Problem: New project", **problem)
    return respond.redirect(context, f"/admin/projects/{row['id']}/edit?done=created")


def edit_page(
    context: Context, identity: Identity, id: str, values: dict[str, str] | None = None, **more: Any
) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = projects.get(conn, id)
        links = environment_rows.list_of_project(conn, id)
    stored = {name: row[name] or "" for name in ("id", "name", "description")}
    stored["default_stickiness"] = row["default_stickiness"]
    offered = list(dict.fromkeys([*stickiness(context), row["default_stickiness"]]))
    page = {"title": f"Project {row['name']} ({id})", "project": row, "links": links} | more
    return respond.page(
        context,
        "projects/projects/form",
        identity,
        values=stored | (values or {}),
        stickiness=offered,
        **page,
    )


@router.get("/admin/projects/<project>/edit", needs=EDIT)
def edit(context: Context, identity: Identity, project: str) -> HTTPResponse:
    return edit_page(context, identity, project, notice=notice())


@router.post("/admin/projects/<project>/edit", needs=EDIT)
def save(context: Context, identity: Identity, project: str, form: dict[str, str]) -> HTTPResponse:
    values = _values(form) | {"id": project}
    try:
        with context.database.transaction() as conn:
            projects.update(
                conn,
                project,
                identity,
                name=values["name"],
                description=values["description"],
                default_stickiness=values["default_stickiness"],
            )
    except AppError as error:
        if error.status != 400:
            raise
        problem = {"status": error.status, "problems": _beside_fields(error)}
        return edit_page(context, identity, project, values, title="Problem: Project", **problem)
    return respond.redirect(context, f"/admin/projects/{project}/edit?done=saved")


@router.post("/admin/projects/<project>/environments/<environment>/link", needs=EDIT)
def link(
    context: Context, identity: Identity, project: str, environment: str, form: dict[str, str]
) -> HTTPResponse:
    with context.database.transaction() as conn:
        environments.get(conn, environment)
        project_environments.link(conn, project, environment, identity)
    return respond.redirect(context, f"/admin/projects/{project}/edit?done=linked")


@router.post("/admin/projects/<project>/environments/<environment>/unlink", needs=EDIT)
def unlink(
    context: Context, identity: Identity, project: str, environment: str, form: dict[str, str]
) -> HTTPResponse:
    with context.database.transaction() as conn:
        environments.get(conn, environment)
        project_environments.unlink(conn, project, environment, identity)
    return respond.redirect(context, f"/admin/projects/{project}/edit?done=unlinked")


@router.get("/admin/projects/<project>/delete", needs=ADMIN)
def confirm_delete(context: Context, identity: Identity, project: str, **more: Any) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = projects.get(conn, project)
        segments = repository.list_segments(conn, project)
    page = {"title": f"Delete {row['name']} ({project})?"} | more
    return respond.page(
        context, "projects/projects/delete", identity, project=row, segments=segments, **page
    )


@router.post("/admin/projects/<project>/delete", needs=ADMIN)
def delete(
    context: Context, identity: Identity, project: str, form: dict[str, str]
) -> HTTPResponse:
    try:
        with context.database.transaction() as conn:
            projects.delete(conn, project, identity)
    except AppError as error:
        if error.status not in (403, 409):
            raise
        problem = {"status": error.status, "problems": error.details}
        return confirm_delete(
            context, identity, project, title="Problem: Delete a project", **problem
        )
    return respond.redirect(context, "/admin/projects?done=deleted")


def _values(form: dict[str, str]) -> dict[str, str]:
    names = ("id", "name", "description", "default_stickiness")
    return {name: form.get(name, "").strip() for name in names}


def _beside_fields(error: AppError) -> list[dict[str, Any]]:
    """Problems under the names that the form's fields have."""
    names = {"defaultStickiness": "default_stickiness"}
    return [
        detail | {key: names.get(path, path) for key, path in detail.items() if key == "path"}
        for detail in error.details
    ]
