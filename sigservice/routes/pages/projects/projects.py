"""Pages of projects and their environments."""

from typing import Any

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.repository.projects import context_fields
from sigservice.repository.projects import environments as environment_rows
from sigservice.repository.projects import projects as repository
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.projects import (
    environments,
    project_environments,
    project_settings,
    projects,
)
from sigservice.services.projects.projects import NewProject, ProjectChanges
from sigservice.web import respond
from sigservice.web.forms import Field, make_choices
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

NOTICES = {
    "created": "The project was created.",
    "saved": "The project was saved.",
    "deleted": "The project was deleted.",
    "linked": "The environment is enabled in this project.",
    "default-strategy": "The default strategy was saved.",
    "unlinked": "The environment is disabled in this project, and so are its flags there.",
}


VALUES = ("id", "name", "description", "default_stickiness")

CONFIRMATION = "Ask before a flag is enabled or disabled in a production environment"

router = Router(PageGuard)


@router.get("/admin/projects", needs=VIEW)
def list_projects(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = repository.list_all(conn)
    return respond.page(
        context,
        "projects/projects/list",
        identity,
        title="Projects",
        projects=rows,
        notice=respond.find_notice(NOTICES),
    )


def _render_new(
    context: Context, identity: Identity, values: dict[str, str], **more: Any
) -> HTTPResponse:
    page = {"title": "New project", "project": None, "fields": _fields(context, values)} | more
    above = [("Projects", "/admin/projects")]
    return respond.page(context, "projects/projects/form", identity, breadcrumbs=above, **page)


@router.get("/admin/projects/new", needs=ADMIN)
def show_new_project(context: Context, identity: Identity) -> HTTPResponse:
    return _render_new(context, identity, _values({"default_stickiness": "default"}))


@router.post("/admin/projects/new", needs=ADMIN)
def create_project(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
    values = _values(form)
    try:
        stickiness = values["default_stickiness"]
        new = NewProject(
            values["name"], values["description"], default_stickiness=stickiness, id=values["id"]
        )
        with context.database.transaction() as conn:
            row = projects.create(conn, new, identity)
    except AppError as error:
        if error.status not in (400, 409):
            raise
        problem = {"status": error.status, "problems": _map_problem_paths(error)}
        return _render_new(context, identity, values, title="Problem: New project", **problem)
    return respond.redirect(context, f"/admin/projects/{row['id']}/edit?done=created")


def _render_edit(
    context: Context, identity: Identity, id: str, values: dict[str, str] | None = None, **more: Any
) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = projects.get(conn, id)
        links = environment_rows.list_by_project(conn, id)
    values = values or {name: row[name] or "" for name in VALUES}
    fields = _fields(context, values, current_stickiness=row["default_stickiness"])
    confirms = row["confirms_production"]
    fields.append(Field("confirms_production", CONFIRMATION, confirms, "checkbox"))
    page = {"title": f"Project {row['name']} ({id})", "project": row, "fields": fields} | more
    above = [("Projects", "/admin/projects"), (row["name"], f"/admin/projects/{id}/overview")]
    return respond.page(
        context, "projects/projects/form", identity, breadcrumbs=above, links=links, **page
    )


@router.get("/admin/projects/<project>/edit", needs=EDIT)
def show_project(context: Context, identity: Identity, project: str) -> HTTPResponse:
    return _render_edit(context, identity, project, notice=respond.find_notice(NOTICES))


@router.post("/admin/projects/<project>/edit", needs=EDIT)
def update_project(
    context: Context, identity: Identity, project: str, form: dict[str, str]
) -> HTTPResponse:
    values = _values(form) | {"id": project}
    try:
        with context.database.transaction() as conn:
            new = {name: values[name] for name in VALUES if name != "id"}
            projects.update(conn, project, ProjectChanges(**new), identity)
            project_settings.set_confirmation(
                conn, project, "confirms_production" in form, identity
            )
    except AppError as error:
        if error.status != 400:
            raise
        problem = {"status": error.status, "problems": _map_problem_paths(error)}
        return _render_edit(context, identity, project, values, title="Problem: Project", **problem)
    return respond.redirect(context, f"/admin/projects/{project}/edit?done=saved")


@router.post("/admin/projects/<project>/environments/<environment>/link", needs=EDIT)
def add_environment_to_project(
    context: Context, identity: Identity, project: str, environment: str, form: dict[str, str]
) -> HTTPResponse:
    with context.database.transaction() as conn:
        environments.get(conn, environment)
        project_environments.link(conn, project, environment, identity)
    return respond.redirect(context, f"/admin/projects/{project}/edit?done=linked")


@router.post("/admin/projects/<project>/environments/<environment>/unlink", needs=EDIT)
def remove_environment_from_project(
    context: Context, identity: Identity, project: str, environment: str, form: dict[str, str]
) -> HTTPResponse:
    with context.database.transaction() as conn:
        environments.get(conn, environment)
        project_environments.unlink(conn, project, environment, identity)
    return respond.redirect(context, f"/admin/projects/{project}/edit?done=unlinked")


@router.get("/admin/projects/<project>/delete", needs=ADMIN)
def confirm_project_deletion(
    context: Context, identity: Identity, project: str, **more: Any
) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = projects.get(conn, project)
        segments = repository.list_segments(conn, project)
    page = {"title": f"Delete {row['name']} ({project})?"} | more
    return respond.page(
        context, "projects/projects/delete", identity, project=row, segments=segments, **page
    )


@router.post("/admin/projects/<project>/delete", needs=ADMIN)
def delete_project(
    context: Context, identity: Identity, project: str, form: dict[str, str]
) -> HTTPResponse:
    try:
        with context.database.transaction() as conn:
            projects.delete(conn, project, identity)
    except AppError as error:
        if error.status not in (403, 409):
            raise
        problem = {"status": error.status, "problems": error.details}
        return confirm_project_deletion(
            context, identity, project, title="Problem: Delete a project", **problem
        )
    return respond.redirect(context, "/admin/projects?done=deleted")


def _fields(context: Context, values: dict[str, str], current_stickiness: str = "") -> list[Field]:
    """The fields of the form; only a new project has the field `id`."""
    with context.database.autocommit() as conn:
        rows = context_fields.list_all(conn)
    names = ["default", "random", *(row["name"] for row in rows if row["stickiness"])]
    if current_stickiness:
        names = list(dict.fromkeys([*names, current_stickiness]))
    id_hint = (
        "Optional, generated from the name by default. Used in tokens and scripts; can't be changed"
        " later. Letters, numbers, - . _ ~"
    )
    fields = [
        Field("name", "Name", values["name"], is_required=True),
        Field("id", "ID", values["id"], hint=id_hint),
        Field("description", "Description", values["description"], hint="Optional."),
        Field(
            "default_stickiness",
            "Default stickiness",
            values["default_stickiness"],
            type="select",
            hint="Preselected for new strategies. default: userId → sessionId → random.",
            choices=make_choices(names),
        ),
    ]
    return [field for field in fields if field.name != "id" or not current_stickiness]


def _values(form: dict[str, str]) -> dict[str, str]:
    return {name: form.get(name, "").strip() for name in VALUES}


def _map_problem_paths(error: AppError) -> list[dict[str, Any]]:
    """The problems with the names of the form's fields as paths."""
    names = {"defaultStickiness": "default_stickiness"}
    return [
        detail | {key: names.get(path, path) for key, path in detail.items() if key == "path"}
        for detail in error.details
    ]
