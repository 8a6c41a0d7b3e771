"""Schedules one change of a flag, page: an action set that runs once."""

from sigservice.repository.projects import environments
from sigservice.routes.pages.actions.action_form_fields import make_actor_field
from sigservice.routes.pages.flag_questions import REASON_FIELD
from sigservice.routes.pages.flags.feature_page import card_path, find_feature
from sigservice.routes.pages.flags.plan_fields import (
    AT_FIELD,
    DEFAULTS,
    ZONE_FIELD,
    list_accounts,
    plan,
)
from sigservice.services.actions.action_kinds.table import KINDS
from sigservice.services.actions.action_set_options import ActionSetOptions
from sigservice.services.actions.action_sets import Action
from sigservice.services.identity import EDIT, Identity
from sigservice.web import Connection, Context, Page, PageGuard, Router, read_query, request
from sigservice.web.form_pages import make_form_page, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, make_choices, read
from sigservice.web.links import flag_path

PATH = "/admin/features/<name>/schedule"
PARAMS = "actions.0.executionParams."
CHOICES = [
    ("TOGGLE_FEATURE_ON", "Enable"),
    ("TOGGLE_FEATURE_OFF", "Disable"),
    ("SET_FEATURE_ROLLOUT", "Set the percentage"),
]
SWITCHES = {"on": "TOGGLE_FEATURE_ON", "off": "TOGGLE_FEATURE_OFF"}  # of the query
ACTION_FIELD = Field("actions.0.action", "Change", type="select", choices=CHOICES)
ROLLOUT_FIELD = Field(
    f"{PARAMS}rollout",
    "Percentage",
    type="number",
    hint="Of all gradual rollouts of the flag. Only for “Set the percentage”.",
    attributes={"min": 0, "max": 100, "step": 1},
)
REVERT_FIELD = Field(
    "options.restoreAfterMinutes",
    "Revert after (minutes)",
    type="number",
    hint="Empty = never.",
    attributes={"min": 1, "max": 43_200, "step": 1},
)

router = Router(PageGuard)


@router.get(PATH, needs=EDIT)
def show_schedule_form(
    conn: Connection, identity: Identity, name: str, entry: Entry = NO_ENTRY
) -> Page:
    row = find_feature(conn, name)
    links = environments.list_by_project(conn, row["project"])
    accounts = list_accounts(conn, identity)
    names = [link["name"] for link in links if link["visible"] and link["enabled"]]
    environment_field = Field(
        f"{PARAMS}environment", "Environment", type="select", choices=make_choices(names)
    )
    query = read_query(request.environ)
    form = entry.form or {
        **DEFAULTS,
        "actions.0.action": SWITCHES.get(query.get("change", ""), ""),
        f"{PARAMS}environment": query.get("environment", ""),
        "actorId": accounts[0][0] if len(accounts) == 1 else "",
    }
    when = [ACTION_FIELD, ROLLOUT_FIELD, environment_field, AT_FIELD, ZONE_FIELD, REVERT_FIELD]
    return make_form_page(
        [*fill([*when, REASON_FIELD], form), make_actor_field(form, accounts)],
        title=f"Schedule a change of {name}",
        breadcrumbs=[("Flags", "/admin/features"), (name, flag_path(name))],
        intro="Creates an action set that runs once, as a service account with the role Editor.",
        button="Schedule change",
        cancel_path=flag_path(name),
    )


@router.post(PATH, needs=EDIT)
@shows_errors_in(show_schedule_form)
def schedule_change(context: Context, identity: Identity, name: str, form: Form) -> str:
    with context.database.transaction() as conn:
        project = find_feature(conn, name)["project"]
        action = _read_action(form, project, name)
        kind = KINDS.get(action.action)
        is_complete = kind is not None and all(action.executionParams.values())
        text = kind.describe(action.executionParams) if kind and is_complete else name
        revert_after = read(form, ActionSetOptions, "options.").restoreAfterMinutes
        settings = ActionSetOptions(restoreAfterMinutes=revert_after)  # only admins set others
        plan(context, conn, identity, project, form, action, text, settings)
    return card_path(name, action.executionParams.get("environment", ""), form, done="scheduled")


def _read_action(form: Form, project: str, name: str) -> Action:
    kind = form.get("actions.0.action", "")
    texts = {
        "project": project,
        "featureName": name,
        "environment": form.get(f"{PARAMS}environment", ""),
        "rollout": form.get(f"{PARAMS}rollout", "").strip(),
    }
    names = [parameter.name for parameter in KINDS[kind].parameters] if kind in KINDS else []
    return Action(
        kind, 1, {parameter: texts[parameter] for parameter in names if parameter in texts}
    )
