"""The project that lists show: the chosen one, unless the address names one."""

from typing import Any
from urllib.parse import quote

from sigservice.context import Context
from sigservice.repository.projects import projects
from sigservice.web.body import read_query
from sigservice.web.session import read_project

FOLLOWING = {
    "/",
    "/admin/features",
    "/admin/segments",
    "/admin/releases",
    "/admin/automation",
    "/admin/alerts",
    "/admin/applications",
    "/admin/events",
}


def apply_choice(context: Context, environ: dict[str, Any]) -> None:
    """Adds the chosen project to the query of a list that names none."""
    project = read_project(context, environ)
    query = environ.get("QUERY_STRING", "")
    if project and environ["PATH_INFO"] in FOLLOWING and "project=" not in query:
        environ["QUERY_STRING"] = f"{query}&project={quote(project)}".removeprefix("&")


def list_choices(context: Context, environ: dict[str, Any]) -> list[dict[str, Any]]:
    """{id, name, is_current} of all projects, all of them first; nothing with one project."""
    with context.database.autocommit() as conn:
        rows = projects.list_names(conn)
    if len(rows) < 2:
        return []
    current = read_query(environ).get("project", "") if environ["PATH_INFO"] in FOLLOWING else ""
    current = current or read_project(context, environ)
    if current not in {row["id"] for row in rows}:
        current = ""
    choices = [{"id": "", "name": "All projects"}, *rows]
    return [choice | {"is_current": choice["id"] == current} for choice in choices]
