"""Plans a change of a flag for a time: the fields of forms, and the action set that runs once."""

from sigservice.repository.access import service_accounts
from sigservice.services.actions import action_sets
from sigservice.services.actions.action_set_options import ActionSetOptions
from sigservice.services.actions.action_sets import Action, ActionSetFields, read_limits
from sigservice.services.actions.schedules import NO_ENDPOINT, Schedule
from sigservice.services.identity import EDIT, PERMISSIONS, Identity
from sigservice.web import Connection, Context
from sigservice.web.forms import Field, Form, read, read_id

AT_FIELD = Field(
    "match.at", "Time", type="datetime-local", is_required=True, attributes={"step": "any"}
)
ZONE_FIELD = Field("match.timezone", "Time zone", hint="Such as Europe/Berlin", is_required=True)
DEFAULTS = {"match.timezone": "UTC"}
Accounts = list[tuple[str, str]]


def list_accounts(conn: Connection, by: Identity) -> Accounts:
    """The service accounts that can run it and may do no more than the user."""
    return [
        (str(row["id"]), row["username"])
        for row in service_accounts.list_all(conn)
        if {EDIT} <= PERMISSIONS[row["role"]] <= by.permissions
    ]


def plan(
    context: Context,
    conn: Connection,
    identity: Identity,
    project: str,
    form: Form,
    action: Action,
    text: str,
    settings: ActionSetOptions | None = None,
) -> None:
    """Creates the set; its name says what changes when, its description why. Raises BadDataError,
    NameExistsError."""
    actor_id = form.get("actorId", "")
    schedule = read(form, Schedule, "match.", cron=None)
    fields = ActionSetFields(
        name=f"{text}, {(schedule.at or '').replace('T', ' ')} {schedule.zone}"[:255],
        description=form.get("why", "").strip()[:500] or None,
        enabled=True,
        actor_id=read_id(actor_id) if actor_id in dict(list_accounts(conn, identity)) else 0,
        endpoint_id=NO_ENDPOINT,
        filters=[],
        actions=[action],
        settings=settings or ActionSetOptions(),
        schedule=schedule,
    )
    limits = read_limits(context.config)
    action_sets.create(conn, project, fields, identity, limits, context.clock.now())
