"""The playground, page: how flags evaluate for a context, and why. The URL holds the input."""

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
from sigservice.web.forms import Field, make_choices
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

MAX_FLAGS = 100
CONTEXT_FIELDS = {
    "userId": ("User ID", ""),
    "sessionId": ("Session ID", ""),
    "appName": ("Application", ""),
    "remoteAddress": ("Remote address", "e.g. 192.0.2.7"),
    "currentTime": ("Time", "e.g. 2030-01-31T12:00:00Z. Default: now."),
}


router = Router(PageGuard)


@router.get("/admin/playground", needs=VIEW)
def show_playground(context: Context, identity: Identity) -> HTTPResponse:
    query = read_query(request.environ)
    names = ("environment", "project", "flag", "properties", *CONTEXT_FIELDS)
    values = {name: query.get(name, "").strip() for name in names}
    flags: list[Reasons] | None = None
    total, error = 0, None
    if values["environment"]:
        try:
            flags, total = _explain(context, values)
        except AppError as problem:
            if problem.status != 400:
                raise
            error = problem
    with context.database.transaction() as conn:
        environment_names = [
            row["name"]
            for row in environments.list_all(conn)
            if row["enabled"] or row["name"] == values["environment"]
        ]
        project_choices = [(row["id"], row["name"]) for row in projects.list_all(conn)]
    return respond.page(
        context,
        "flags/playground/show",
        identity,
        status=error.status if error else 200,
        title="Problem: Playground" if error else "Playground",
        problems=_to_form_problems(error) if error else [],
        fields=_make_fields(values, environment_names, project_choices),
        properties=Field(
            "properties",
            "Custom context",
            values["properties"],
            type="textarea",
            hint="One key=value per line, e.g. country=DE",
        ),
        values=values,
        flags=flags,
        total=total,
        flag_path=flag_path,
    )


def _make_fields(
    values: dict[str, str], environment_names: list[str], project_choices: list[tuple[str, str]]
) -> list[Field]:
    return [
        Field(
            "environment",
            "Environment",
            values["environment"],
            type="select",
            choices=make_choices(environment_names),
        ),
        Field(
            "project",
            "Project",
            values["project"],
            type="select",
            choices=[("", "All projects"), *project_choices],
        ),
        Field("flag", "Flag", values["flag"], hint="Optional. Part of its name."),
        *(
            Field(name, label, values[name], hint=hint)
            for name, (label, hint) in CONTEXT_FIELDS.items()
        ),
    ]


def _explain(context: Context, values: dict[str, str]) -> tuple[list[Reasons], int]:
    """The first flags and the number of all that match. Raises BadDataError."""
    environment, project = values["environment"], values["project"] or "*"
    fields: dict[str, Any] = {name: values[name] for name in CONTEXT_FIELDS}
    fields["properties"] = _parse_properties(values["properties"])
    evaluation_context = build_context(fields, environment)
    with context.database.transaction() as conn:
        selection = select_flags(conn, environment, [project], values["flag"])
        explanations = explain_flags(conn, selection, evaluation_context, MAX_FLAGS)
    reasons = [build_reasons(explanation, environment) for explanation in explanations]
    return reasons, len(selection.flags)


def _parse_properties(text: str) -> dict[str, str]:
    """Raises BadDataError for a line that isn't `key=value`."""
    properties = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, sign, value = line.partition("=")
        if not (sign and name.strip()):
            raise BadDataError(f'"{line[:100]}" must be in the form key=value.', path="properties")
        properties[name.strip()] = value.strip()
    return properties


def _to_form_problems(error: AppError) -> list[dict[str, str]]:
    """Problems under the names of the form's fields."""
    problems = []
    for detail in error.details:
        path = detail.get("path", "").partition(".")[0].partition("[")[0]
        path = path.replace("projects", "project")
        problems.append({"message": detail["message"], "path": path})
    return problems
