"""Pages of projects and their environments."""

from operator import itemgetter

from sigservice.repository.projects import context_fields
from sigservice.repository.projects import environments as environment_rows
from sigservice.repository.projects import projects as project_rows
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.projects import (
    environments,
    project_environments,
    project_settings,
    projects,
)
from sigservice.services.projects.projects import NewProject, ProjectChanges
from sigservice.web import Connection, Page, PageGuard, Router, Row
from sigservice.web.form_pages import (
    Confirmation,
    ask_first,
    confirms,
    make_form_page,
    shows_errors_in,
)
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, make_choices, read, to_form
from sigservice.web.resource_limits import explain_limit, make_limit_page
from sigservice.web.tables import Cell, Column, make_list_page, make_table
from sigservice.wording import plural

PATH = "/admin/projects"
ONE = f"{PATH}/<project>"
NOTICES = {
    "created": "The project was created.",
    "saved": "The project was saved.",
    "deleted": "The project was deleted.",
    "on": "The environment is enabled in this project.",
    "default-strategy": "The default strategy was saved.",
    "off": "The environment is disabled in this project, and so are its flags there.",
}
BREADCRUMBS = [("Projects", PATH)]
CONFIRMATION = "Ask before a flag is enabled or disabled in a production environment"
ID_HINT = (
    "Optional, generated from the name by default. Used in tokens and scripts; can't be changed"
    " later. Letters, numbers, - . _ ~"
)
STICKINESS_HINT = "Preselected for new strategies. default: userId → sessionId → random."
COLUMNS = (
    Column(
        "Name",
        lambda row: Cell(
            row["name"], f"{PATH}/{row['id']}/overview", hint=row["description"] or ""
        ),
    ),
    Column("ID", lambda row: Cell(row["id"])),
    Column("Flags", lambda row: Cell(str(row["feature_count"]))),
    Column(
        "Marked as stale",
        lambda row: Cell(
            str(row["stale_feature_count"]), f"/admin/features?project={row['id']}&state=remove"
        ),
    ),
    Column("Created", lambda row: Cell(at=row["created_at"])),
)

router = Router(PageGuard, notices=NOTICES)


@router.get(PATH, needs=VIEW, autocommit=True)
def list_projects(conn: Connection, identity: Identity) -> Page:
    rows = project_rows.list_all(conn)
    is_admin = identity.has_permission(ADMIN)

    def make_links(row: Row) -> list[tuple[str, str]]:
        path, links = f"{PATH}/{row['id']}", [("Edit", f"{PATH}/{row['id']}/edit")]
        if is_admin:
            links.append(("Automation of", f"/admin/automation?project={row['id']}"))
        if is_admin and row["id"] != projects.DEFAULT:
            links.append(("Delete", f"{path}/delete"))
        return links

    can_edit = identity.has_permission(EDIT)
    return make_list_page(
        [make_table("projects", COLUMNS, rows, make_links if can_edit else None, itemgetter("id"))],
        title="Projects",
        hint="Group flags by team or product.",
        new=("New project", f"{PATH}/new") if is_admin else None,
    )


@router.get(f"{PATH}/new", needs=ADMIN, autocommit=True)
def show_new_project(conn: Connection, identity: Identity, entry: Entry = NO_ENTRY) -> Page:
    fields = _make_fields(conn)
    count = len(project_rows.list_ids(conn))
    if not entry.form and count >= projects.MAX_PROJECTS:
        text = explain_limit("project", projects.MAX_PROJECTS)
        return make_limit_page("New project", text, ("Projects", PATH))
    fields.insert(1, Field("id", "ID", hint=ID_HINT))
    return make_form_page(
        fill(fields, entry.form),
        title="New project",
        breadcrumbs=BREADCRUMBS,
        button="Create project",
    )


@router.post(f"{PATH}/new", needs=ADMIN)
@shows_errors_in(show_new_project)
def create_project(conn: Connection, identity: Identity, form: Form) -> str:
    row = projects.create(conn, read(form, NewProject), identity)
    return f"{PATH}/{row['id']}/edit?done=created"


@router.get(f"{ONE}/edit", needs=EDIT)
def show_project(
    conn: Connection, identity: Identity, project: str, entry: Entry = NO_ENTRY
) -> Page:
    row = projects.get(conn, project)
    links = environment_rows.list_by_project(conn, project)
    fields = _make_fields(conn, row["default_stickiness"])
    existing = to_form(projects.KIND.build_event_data(row))
    existing |= to_form({"confirmsProduction": row["confirms_production"]})
    is_admin = identity.has_permission(ADMIN)
    can_delete = is_admin and project != projects.DEFAULT
    return make_form_page(
        fill(
            [*fields, Field("confirmsProduction", CONFIRMATION, type="checkbox")],
            entry.form or existing,
        ),
        title=f"Project {row['name']} ({project})",
        heading=row["name"],
        intro=f"ID: {project}",
        breadcrumbs=[*BREADCRUMBS, (row["name"], f"{PATH}/{project}/overview")],
        button="Save",
        rest="projects/projects/environments.tpl",
        project=row,
        links=links,
        is_admin=is_admin,
        deletion=("Delete this project", f"{PATH}/{project}/delete") if can_delete else None,
    )


@router.post(f"{ONE}/edit", needs=EDIT)
@shows_errors_in(show_project)
def update_project(conn: Connection, identity: Identity, project: str, form: Form) -> str:
    stickiness = form.get("defaultStickiness", "")  # an empty one is an error here
    changes = read(form, ProjectChanges, defaultStickiness=stickiness)
    projects.update(conn, project, changes, identity)
    is_confirming = "confirmsProduction" in form
    project_settings.set_confirmation(conn, project, is_confirming, identity)
    return f"{PATH}/{project}/edit?done=saved"


@router.post(f"{ONE}/environments/<environment>/<is_used:switch>", needs=EDIT)
def switch_environment_of_project(
    conn: Connection, identity: Identity, project: str, environment: str, is_used: bool, form: Form
) -> str:
    """Asks before it disables flags."""
    change = project_environments.link if is_used else project_environments.unlink
    environments.get(conn, environment)
    links = environment_rows.list_by_project(conn, project)
    counts = {row["name"]: row["enabled_toggle_count"] for row in links}
    if not is_used and (count := counts[environment]):
        question = Confirmation(
            f"Disable {environment} in the project {project}?",
            [
                f"Disables {plural(count, 'flag')} there at once. Strategies are kept, but the"
                " flags stay disabled when the project uses the environment again."
            ],
            f"Disable {environment}",
            f"{PATH}/{project}/edit",
            breadcrumbs=BREADCRUMBS,
        )
        ask_first(form, question)
    change(conn, project, environment, identity)
    return f"{PATH}/{project}/edit?done={'on' if is_used else 'off'}"


@confirms(router, f"{ONE}/delete", needs=ADMIN)
def delete_project(conn: Connection, identity: Identity, project: str) -> Confirmation:
    row = projects.get(conn, project)
    segments, flags, obstacle = project_rows.list_segments(conn, project), row["feature_count"], ""
    if project == projects.DEFAULT:
        obstacle = "The default project can't be deleted."
    elif flags or segments:
        obstacle = (
            f"Can't delete: the project has {plural(flags, 'flag')} and "
            f"{plural(len(segments), 'segment')}. Archive the flags and delete or move the "
            "segments first."
        )
    return Confirmation(
        f"Delete {row['name']} ({project})?",
        [
            obstacle
            or f"Permanently deletes the project {project}, its archived flags and its action "
            "sets. Tokens scoped only to it stop working."
        ],
        "" if obstacle else "Delete project",
        PATH,
        lambda: projects.delete(conn, project, identity),
        f"{PATH}?done=deleted",
        breadcrumbs=[*BREADCRUMBS, (row["name"], f"{PATH}/{project}/overview")],
    )


def _make_fields(conn: Connection, stickiness: str = "default") -> list[Field]:
    """`stickiness` is offered even if no context field has its name any longer."""
    names = [row["name"] for row in context_fields.list_all(conn) if row["stickiness"]]
    choices = make_choices(dict.fromkeys(["default", "random", *names, stickiness]))
    return [
        Field("name", "Name", is_required=True),
        Field("description", "Description", hint="Optional."),
        Field(
            "defaultStickiness",
            "Default stickiness",
            type="select",
            hint=STICKINESS_HINT,
            choices=choices,
        ),
    ]
