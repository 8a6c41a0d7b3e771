"""Pages that export the flags of a project, and import flags after showing what would change."""

from typing import Any

from sigservice import payload
from sigservice.errors import BadDataError
from sigservice.repository.projects import environments
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.projects import projects
from sigservice.services.transfer import feature_export, feature_import
from sigservice.services.transfer.snapshot_import import ImportLimits
from sigservice.web import Context, Page, PageGuard, Router, ShownOnce, read_query, request, respond
from sigservice.web.form_pages import shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, make_choices

PROJECT = "/admin/projects/<project>"
# An export of 5 MB, which the API takes, is longer in a form: quotes and braces have 3 characters.
FORM_LIMIT = 10 * 1024 * 1024
DATA_FIELD = Field(
    "data",
    "Export",
    type="textarea",
    hint="The JSON of an export of this or another server.",
    attributes={"rows": 8},
)

router = Router(PageGuard)


@router.get(f"{PROJECT}/export", needs=VIEW)
def show_export(context: Context, identity: Identity, project: str) -> Page:
    """The form, or the file if the query names an environment."""
    row, names = _find_project(context, project)
    if environment := read_query(request.environ).get("environment"):
        with context.database.transaction(is_slow=True, snapshot=True) as conn:
            document = feature_export.export_features(conn, environment, project=project)
        name = f"flags-{project}-{environment}-{context.clock.now():%Y-%m-%d}.json"
        return respond.json(document, content_disposition=f'attachment; filename="{name}"')
    return Page(
        "transfer/project_transfer/export",
        title=f"Export flags of {row['name']}",
        breadcrumbs=_list_breadcrumbs(row),
        project=row,
        fields=[_make_environment_field(names)],
    )


@router.get(f"{PROJECT}/import", needs=EDIT)
def show_import(
    context: Context, identity: Identity, project: str, entry: Entry = NO_ENTRY, **more: Any
) -> Page:
    row, names = _find_project(context, project)
    for detail in entry.error.details if entry.error else []:
        if detail.get("path", "").startswith("data"):
            detail |= {"path": "data", "message": f"{detail['message']} ({detail['path']})"}
    return Page(
        "transfer/project_transfer/import",
        title=f"Import flags into {row['name']}",
        breadcrumbs=_list_breadcrumbs(row),
        project=row,
        fields=fill([_make_environment_field(names), DATA_FIELD], entry.form),
        **{"entries": None, "is_done": False} | more,
    )


@router.post(f"{PROJECT}/import", needs=EDIT, form_limit=FORM_LIMIT)
@shows_errors_in(show_import)
def import_into_project(
    context: Context, identity: Identity, project: str, form: Form
) -> Page | ShownOnce:
    """Shows the difference; writes it if the button of that page was pressed."""
    environment, is_confirmed = form.get("environment", ""), form.get("do") == "import"
    limits = ImportLimits.from_config(context.config)
    _find_project(context, project)
    document = feature_import.parse_document(_parse_json(form.get("data", "")))
    with context.database.transaction() as conn:
        changes = feature_import.import_features(
            conn, project, environment, document, identity, limits
        )
        if not is_confirmed:
            conn.rollback()
    notice = "Flags imported." if is_confirmed else ""
    page = show_import(
        context,
        identity,
        project,
        NO_ENTRY if is_confirmed else Entry(form),
        entries=changes.entries,
        is_done=is_confirmed,
        notice=notice,
    )
    return ShownOnce(page, f"/admin/projects/{project}/import") if is_confirmed else page


def _find_project(context: Context, project: str) -> tuple[dict[str, Any], list[str]]:
    """The project and the names of its environments. Raises NotFoundError."""
    with context.database.transaction() as conn:
        row = projects.get(conn, project)
        links = environments.list_by_project(conn, project)
    return row, [link["name"] for link in links if link["visible"]]


def _list_breadcrumbs(row: dict[str, Any]) -> list[tuple[str, str]]:
    return [("Projects", "/admin/projects"), (row["name"], f"/admin/projects/{row['id']}/overview")]


def _make_environment_field(names: list[str]) -> Field:
    return Field("environment", "Environment", type="select", choices=make_choices(names))


def _parse_json(text: str) -> dict[str, Any]:
    """Raises BadDataError."""
    value = payload.parse_field(text, "data")
    if not isinstance(value, dict):
        raise BadDataError("The export must be a JSON object.", path="data")
    return value
