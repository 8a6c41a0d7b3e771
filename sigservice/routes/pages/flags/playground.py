"""The playground, page: what flags say for a context, and why; its address is the question."""

from __future__ import annotations

from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import AppError, BadDataError
from sigservice.flags.playground import build_context, explain_flags, select_flags
from sigservice.flags.reasons import Reasons, build_reasons
from sigservice.repository.projects import environments, projects
from sigservice.routes.pages.flags.feature_page import flag_path
from sigservice.services.identity import VIEW, Identity
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

SHOWN = 100
FIELDS = ("userId", "sessionId", "appName", "remoteAddress", "currentTime")


router = Router(PageGuard)


@router.get("/admin/playground", needs=VIEW)
def show(context: Context, identity: Identity) -> HTTPResponse:
    query = read_query(request.environ)
    names = ("environment", "project", "flag", "properties", *FIELDS)
    values = {name: query.get(name, "").strip() for name in names}
    answer: dict[str, Any] = {"title": "Playground", "result": None}
    if values["environment"]:
        try:
            answer["result"] = explain(context, values)
        except AppError as error:
            if error.status != 400:
                raise
            problems = {"status": 400, "problems": _beside_fields(error)}
            answer |= problems | {"title": "Problem: Playground"}
    with context.database.transaction() as conn:
        rows = environments.list_all(conn)
        places = [r["name"] for r in rows if r["enabled"] or r["name"] == values["environment"]]
        owners = [(row["id"], row["name"]) for row in projects.list_all(conn)]
    return respond.page(
        context,
        "flags/playground/show",
        identity,
        values=values,
        environments=[(name, name) for name in places],
        projects=[("", "all"), *owners],
        flag_path=flag_path,
        **answer,
    )


def explain(context: Context, values: dict[str, str]) -> tuple[list[Reasons], int]:
    """Those that are shown, and how many there are. Raises BadDataError."""
    given = {name: values[name] for name in FIELDS}
    properties = _properties(values["properties"])
    environment, project = values["environment"], values["project"] or "*"
    meant = build_context(given | {"properties": properties}, environment)
    with context.database.transaction() as conn:
        selection = select_flags(conn, environment, [project], values["flag"])
        found = explain_flags(conn, selection, meant, SHOWN)
    return [build_reasons(it, environment) for it in found], len(selection.flags)


def _properties(text: str) -> dict[str, str]:
    """Raises BadDataError for a line that is no `name=value`."""
    properties = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, sign, value = line.partition("=")
        if not (sign and name.strip()):
            raise BadDataError(
                f"A property looks like name=value, unlike {line[:100]}", path="properties"
            )
        properties[name.strip()] = value.strip()
    return properties


def _beside_fields(error: AppError) -> list[dict[str, str]]:
    """Paths as the form's fields are called."""
    problems = []
    for detail in error.details:
        path = detail.get("path", "").partition(".")[0].partition("[")[0]
        path = path.replace("projects", "project")
        problems.append({"message": detail["message"], "path": path})
    return problems
