"""Pages of environments."""

from operator import itemgetter

from sigservice.errors import BadDataError
from sigservice.repository.projects import environments as environment_rows
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.projects import environments
from sigservice.services.projects.environments import EnvironmentState, NewEnvironment
from sigservice.web import Connection, Page, PageGuard, Router, Row
from sigservice.web.form_pages import Body, Confirmation, confirms, make_form_page, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, make_choices, read
from sigservice.web.resource_limits import explain_limit, make_limit_page
from sigservice.web.tables import Cell, Column, make_list_page, make_table
from sigservice.wording import plural

PATH = "/admin/environments"
ONE = f"{PATH}/<environment>"
NOTICES = {
    "created": "Environment created. Add it to a project to use it.",
    "deleted": "The environment was deleted.",
    "on": "The environment is enabled.",
    "off": "The environment is disabled and hidden in the UI; SDKs keep working.",
    "moved": "Order saved.",
}
STEPS = {"up": -1, "down": 1}
NAME_HINT = "Used in API tokens; can't be changed later. Letters, numbers, - . _ ~"
FIELDS = [
    Field("name", "Name", hint=NAME_HINT, is_required=True),
    Field("type", "Type", type="select", choices=make_choices(environments.TYPES)),
]
DEFAULT_HINT = (
    "Used by what names no environment: tokens for all, requests without a token, the legacy API"
)
COLUMNS = (
    Column(
        "Name", lambda row: Cell(row["name"], hint=DEFAULT_HINT if row["name"] == "default" else "")
    ),
    Column("Type", lambda row: Cell(badges=[row["type"]] if row["type"] != row["name"] else [])),
    Column("Projects", lambda row: Cell(str(row["project_count"]))),
    Column("Enabled flags", lambda row: Cell(str(row["enabled_toggle_count"]))),
    Column("API tokens", lambda row: Cell(str(row["api_token_count"]))),
)
VIEW_COLUMNS = (
    *COLUMNS,
    Column("State", lambda row: Cell("Enabled" if row["enabled"] else "Disabled")),
)
ADMIN_COLUMNS = (
    *COLUMNS,
    Column("Order", lambda _: Cell(template="projects/environments/order_cell.tpl")),
    Column("State", lambda _: Cell(template="projects/environments/switch_cell.tpl")),
)

router = Router(PageGuard, notices=NOTICES)


@router.get(PATH, needs=VIEW, autocommit=True)
def list_environments(conn: Connection, identity: Identity) -> Page:
    rows = environment_rows.list_all(conn)
    last = len(rows) - 1
    page_rows = [
        row | {"moves": ["up"] * (n > 0) + ["down"] * (n < last)} for n, row in enumerate(rows)
    ]
    is_admin = identity.has_permission(ADMIN)
    table = make_table(
        "environments",
        ADMIN_COLUMNS if is_admin else VIEW_COLUMNS,
        page_rows,
        _make_links if is_admin else None,
        itemgetter("name"),
    )
    can_create = is_admin and len(rows) < environments.MAX_ENVIRONMENTS
    return make_list_page(
        [table],
        title="Environments",
        hint="Flags are configured per environment. Disabling one hides it from the UI; SDKs keep"
        " working.",
        new=("New environment", f"{PATH}/new") if can_create else None,
    )


def _make_links(row: Row) -> list[tuple[str, str]]:
    return [] if row["protected"] else [("Delete", f"{PATH}/{row['name']}/delete")]


@router.get(f"{PATH}/new", needs=ADMIN, autocommit=True)
def show_new_environment(conn: Connection, identity: Identity, entry: Entry = NO_ENTRY) -> Page:
    count = len(environment_rows.list_all(conn))
    if not entry.form and count >= environments.MAX_ENVIRONMENTS:
        text = explain_limit("environment", environments.MAX_ENVIRONMENTS)
        return make_limit_page("New environment", text, ("Environments", PATH))
    return make_form_page(
        fill(FIELDS, entry.form or {"type": "production"}),
        title="New environment",
        breadcrumbs=[("Environments", PATH)],
        button="Create environment",
    )


@router.post(f"{PATH}/new", needs=ADMIN)
@shows_errors_in(show_new_environment)
def create_environment(conn: Connection, identity: Identity, form: Form) -> str:
    environments.create(conn, read(form, NewEnvironment, enabled=True), identity)
    return f"{PATH}?done=created"


@router.post(f"{ONE}/<is_enabled:switch>", needs=ADMIN)
def switch_environment(
    conn: Connection, identity: Identity, environment: str, is_enabled: bool, form: Form
) -> str:
    environments.update(conn, environment, EnvironmentState(is_enabled), identity)
    return f"{PATH}?done={'on' if is_enabled else 'off'}"


@router.post(f"{ONE}/move", needs=ADMIN)
def move_environment(conn: Connection, identity: Identity, environment: str, form: Form) -> str:
    if form.get("to") not in STEPS:
        raise BadDataError("to must be up or down.", path="to")
    environments.move(conn, environment, STEPS[form["to"]], identity)
    return f"{PATH}?done=moved"


@confirms(router, f"{ONE}/delete", needs=ADMIN)
def delete_environment(conn: Connection, identity: Identity, environment: str) -> Confirmation:
    row = environments.get(conn, environment)
    tokens, flags, obstacle = row["api_token_count"], row["enabled_toggle_count"], ""
    if row["protected"]:
        obstacle = "Built-in environments can't be deleted."
    elif tokens:
        verb = "uses" if tokens == 1 else "use"
        obstacle = f"Can't delete: {plural(tokens, 'API token')} {verb} it."
    state = f"{plural(flags, 'flag')} {'is' if flags == 1 else 'are'} enabled"
    consequences = [
        f"the state of all flags in it: {state}",
        "all strategies and releases of flags in it",
        f"the environment in {plural(row['project_count'], 'project')}",
    ]
    body: Body = [
        "This permanently deletes:",
        [(text, "") for text in consequences],
        "To hide it without losing data, disable it instead.",
    ]
    return Confirmation(
        f"Delete the environment {environment}?",
        [obstacle] if obstacle else body,
        "" if obstacle else "Delete environment",
        "/admin/api-tokens" if tokens else PATH,
        lambda: environments.delete(conn, environment, identity),
        f"{PATH}?done=deleted",
        cancel="View API tokens" if tokens else "Cancel",
        breadcrumbs=[("Environments", PATH)],
    )
