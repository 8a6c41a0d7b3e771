"""The playground, page: how flags evaluate for a context, and why. The URL holds the input."""

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from sigservice.errors import AppError, BadDataError
from sigservice.evaluation.fields import Fields
from sigservice.playground.evaluation_context import make_context
from sigservice.playground.playground import check_scope, explain_flags, select_flags
from sigservice.playground.reasons import Reasons, build_reasons
from sigservice.repository.projects import environments, projects
from sigservice.services.identity import VIEW, Identity
from sigservice.web import Context, Page, PageGuard, Router, Row, read_query, request
from sigservice.web.forms import Field, make_choices
from sigservice.web.links import flag_path

MAX_FLAGS = 100
CONTEXT_FIELDS = {
    "userId": ("User ID", ""),
    "sessionId": ("Session ID", ""),
    "appName": ("Application", ""),
    "remoteAddress": ("Remote address", "e.g. 192.0.2.7"),
    "currentTime": ("Time", "A date, with time and zone. Default: now."),
}

router = Router(PageGuard)


@router.get("/admin/playground", needs=VIEW)
def show_playground(context: Context, identity: Identity) -> Page:
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
            error = name_fields(problem)
    with context.database.transaction() as conn:
        environment_rows, project_rows = environments.list_all(conn), projects.list_all(conn)
    return Page(
        "flags/playground/show",
        form_error=error,
        title="Playground",
        fields=_make_fields(values, environment_rows, project_rows),
        properties=make_properties_field(values),
        values=values,
        flags=flags,
        total=total,
        flag_path=flag_path,
    )


def _make_fields(
    values: dict[str, str], environment_rows: list[Row], project_rows: list[Row]
) -> list[Field]:
    """A disabled environment is offered only if the URL names it. Without a name in the URL, the
    environment with the most enabled flags is selected."""
    environment, project = values["environment"], values["project"]
    choices = [row for row in environment_rows if row["enabled"] or row["name"] == environment]
    names = [row["name"] for row in choices]
    if not environment and choices:
        environment = max(choices, key=itemgetter("enabled_toggle_count"))["name"]
    ids = [("", "All projects"), *((row["id"], row["name"]) for row in project_rows)]
    return [
        Field("environment", "Environment", environment, "select", choices=make_choices(names)),
        Field("project", "Project", project, "select", choices=ids),
        Field("flag", "Flag", values["flag"], hint="Optional. Part of its name."),
        *make_context_fields(values),
    ]


def make_context_fields(values: Mapping[str, str]) -> list[Field]:
    return [
        Field(name, label, values[name], hint=hint)
        for name, (label, hint) in CONTEXT_FIELDS.items()
    ]


def make_properties_field(values: Mapping[str, str]) -> Field:
    hint = "One key=value per line, e.g. country=DE"
    return Field("properties", "Custom context", values["properties"], "textarea", hint)


def read_context(values: Mapping[str, str], environment: str) -> Fields:
    """The context that the fields describe. Raises BadDataError."""
    fields: dict[str, Any] = {name: values[name] for name in CONTEXT_FIELDS}
    fields["properties"] = _parse_properties(values["properties"])
    return make_context(fields, environment=environment)


def _explain(context: Context, values: dict[str, str]) -> tuple[list[Reasons], int]:
    """The first flags and the number of all that match. Raises BadDataError."""
    environment, project = values["environment"], values["project"] or "*"
    evaluation_context = read_context(values, environment)
    with context.database.transaction() as conn:
        check_scope(conn, environment, [project])
    state = context.flag_states.get_current(environment)
    flags = select_flags(state, [project], values["flag"])
    with context.database.transaction() as conn:
        explanations = explain_flags(conn, state, flags[:MAX_FLAGS], evaluation_context)
    reasons = [build_reasons(explanation, environment) for explanation in explanations]
    return reasons, len(flags)


def _parse_properties(text: str) -> dict[str, str]:
    """Raises BadDataError for a line that isn't `key=value`."""
    properties = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, sign, value = line.partition("=")
        if not (sign and name.strip()):
            raise BadDataError(f'"{line[:100]}" must be in the form key=value.', path="properties")
        properties[name.strip()] = value.strip()
    return properties


def name_fields(error: AppError) -> AppError:
    """The error with the names of the form's fields as paths."""
    for detail in error.details:
        path = detail.get("path", "").partition(".")[0].partition("[")[0]
        detail["path"] = path.replace("projects", "project")
    return error
