"""Pages of environments."""

from sigservice.db.pool import Connection
from sigservice.errors import BadDataError
from sigservice.repository.projects import environments as environment_rows
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.projects import environments
from sigservice.services.projects.environments import EnvironmentState, NewEnvironment
from sigservice.web import Context, HTTPResponse, PageGuard, Router, respond
from sigservice.web.form_pages import Body, Confirmation, confirms, render_form, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, make_choices, read
from sigservice.web.resource_limits import explain_limit, render_limit
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

router = Router(PageGuard)


@router.get(PATH, needs=VIEW)
def list_environments(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = environment_rows.list_all(conn)
    last = len(rows) - 1
    page_rows = [
        row | {"moves": ["up"] * (n > 0) + ["down"] * (n < last)} for n, row in enumerate(rows)
    ]
    return respond.page(
        context,
        "projects/environments/list",
        identity,
        title="Environments",
        environments=page_rows,
        limit=environments.MAX_ENVIRONMENTS,
        notice=respond.find_notice(NOTICES),
    )


@router.get(f"{PATH}/new", needs=ADMIN)
def show_new_environment(
    context: Context, identity: Identity, entry: Entry = NO_ENTRY
) -> HTTPResponse:
    with context.database.autocommit() as conn:
        count = len(environment_rows.list_all(conn))
    if not entry.form and count >= environments.MAX_ENVIRONMENTS:
        text = explain_limit("environment", environments.MAX_ENVIRONMENTS)
        return render_limit(context, identity, "New environment", text, ("Environments", PATH))
    return render_form(
        context,
        identity,
        fill(FIELDS, entry.form or {"type": "production"}),
        entry=entry,
        title="New environment",
        breadcrumbs=[("Environments", PATH)],
        button="Create environment",
    )


@router.post(f"{PATH}/new", needs=ADMIN)
@shows_errors_in(show_new_environment)
def create_environment(context: Context, identity: Identity, form: Form) -> HTTPResponse:
    with context.database.transaction() as conn:
        environments.create(conn, read(form, NewEnvironment, enabled=True), identity)
    return respond.redirect(context, f"{PATH}?done=created")


@router.post(f"{ONE}/<is_enabled:switch>", needs=ADMIN)
def switch_environment(
    context: Context, identity: Identity, environment: str, is_enabled: bool, form: Form
) -> HTTPResponse:
    with context.database.transaction() as conn:
        environments.update(conn, environment, EnvironmentState(is_enabled), identity)
    return respond.redirect(context, f"{PATH}?done={'on' if is_enabled else 'off'}")


@router.post(f"{ONE}/move", needs=ADMIN)
def move_environment(
    context: Context, identity: Identity, environment: str, form: Form
) -> HTTPResponse:
    if form.get("to") not in STEPS:
        raise BadDataError("to must be up or down.", path="to")
    with context.database.transaction() as conn:
        environments.move(conn, environment, STEPS[form["to"]], identity)
    return respond.redirect(context, f"{PATH}?done=moved")


@confirms(router, f"{ONE}/delete", needs=ADMIN)
def delete_environment(
    _context: Context, conn: Connection, identity: Identity, environment: str
) -> Confirmation:
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
        "all strategies of flags in it",
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
    )
