"""Projects, pages: list, new, edit, environments, delete."""

from __future__ import annotations

from typing import Any

from bottle import Bottle, HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.repository import context_fields
from sigservice.repository import environments as environment_rows
from sigservice.repository import projects as repository
from sigservice.services import environments, project_environments, projects
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.body import read_query
from sigservice.web.doors import PageDoor

NOTICES = {
    "created": "The project was created.",
    "saved": "The project was saved.",
    "deleted": "The project was deleted.",
    "linked": "The project uses the environment from now on.",
    "unlinked": "The project's flags are off in that environment.",
}


def build(context: Context) -> Bottle:
    area = new_area(context, PageDoor(context))

    def notice() -> str:
        return NOTICES.get(read_query(request.environ).get("done", ""), "")

    def stickiness() -> list[str]:
        with context.database.autocommit() as conn:
            rows = context_fields.list_all(conn)
        return ["default", "random", *(row["name"] for row in rows if row["stickiness"])]

    @area.get("/admin/projects", needs=VIEW)
    def show_list(identity: Identity) -> HTTPResponse:
        with context.database.autocommit() as conn:
            rows = repository.list_all(conn)
        return respond.page(
            context, "projects/list", identity, title="Projects", projects=rows, notice=notice()
        )

    def new_page(identity: Identity, values: dict[str, str], **more: Any) -> HTTPResponse:
        page = {"title": "New project", "project": None, "stickiness": stickiness()} | more
        return respond.page(context, "projects/form", identity, values=values, **page)

    @area.get("/admin/projects/new", needs=ADMIN)
    def new(identity: Identity) -> HTTPResponse:
        return new_page(identity, _values({"default_stickiness": "default"}))

    @area.post("/admin/projects/new", needs=ADMIN)
    def create(identity: Identity, form: dict[str, str]) -> HTTPResponse:
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
            return new_page(identity, values, title="Problem: New project", **problem)
        return respond.redirect(context, f"/admin/projects/{row['id']}/edit?done=created")

    def edit_page(
        identity: Identity, id: str, values: dict[str, str] | None = None, **more: Any
    ) -> HTTPResponse:
        with context.database.transaction() as conn:
            row = projects.get(conn, id)
            links = environment_rows.list_of_project(conn, id)
        stored = {name: row[name] or "" for name in ("id", "name", "description")}
        stored["default_stickiness"] = row["default_stickiness"]
        offered = list(dict.fromkeys([*stickiness(), row["default_stickiness"]]))
        page = {"title": f"Project {row['name']} ({id})", "project": row, "links": links} | more
        return respond.page(
            context,
            "projects/form",
            identity,
            values=stored | (values or {}),
            stickiness=offered,
            **page,
        )

    @area.get("/admin/projects/<project>/edit", needs=EDIT)
    def edit(identity: Identity, project: str) -> HTTPResponse:
        return edit_page(identity, project, notice=notice())

    @area.post("/admin/projects/<project>/edit", needs=EDIT)
    def save(identity: Identity, project: str, form: dict[str, str]) -> HTTPResponse:
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
            return edit_page(identity, project, values, title="Problem: Project", **problem)
        return respond.redirect(context, f"/admin/projects/{project}/edit?done=saved")

    @area.post("/admin/projects/<project>/environments/<environment>/link", needs=EDIT)
    def link(
        identity: Identity, project: str, environment: str, form: dict[str, str]
    ) -> HTTPResponse:
        with context.database.transaction() as conn:
            environments.get(conn, environment)
            project_environments.link(conn, project, environment, identity)
        return respond.redirect(context, f"/admin/projects/{project}/edit?done=linked")

    @area.post("/admin/projects/<project>/environments/<environment>/unlink", needs=EDIT)
    def unlink(
        identity: Identity, project: str, environment: str, form: dict[str, str]
    ) -> HTTPResponse:
        with context.database.transaction() as conn:
            environments.get(conn, environment)
            project_environments.unlink(conn, project, environment, identity)
        return respond.redirect(context, f"/admin/projects/{project}/edit?done=unlinked")

    @area.get("/admin/projects/<project>/delete", needs=ADMIN)
    def confirm_delete(identity: Identity, project: str, **more: Any) -> HTTPResponse:
        with context.database.transaction() as conn:
            row = projects.get(conn, project)
            segments = repository.list_segments(conn, project)
        page = {"title": f"Delete {row['name']} ({project})?"} | more
        return respond.page(
            context, "projects/delete", identity, project=row, segments=segments, **page
        )

    @area.post("/admin/projects/<project>/delete", needs=ADMIN)
    def delete(identity: Identity, project: str, form: dict[str, str]) -> HTTPResponse:
        try:
            with context.database.transaction() as conn:
                projects.delete(conn, project, identity)
        except AppError as error:
            if error.status not in (403, 409):
                raise
            problem = {"status": error.status, "problems": error.details}
            return confirm_delete(identity, project, title="Problem: Delete a project", **problem)
        return respond.redirect(context, "/admin/projects?done=deleted")

    return area


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
