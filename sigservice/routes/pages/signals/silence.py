"""Silence of an endpoint, page: its state, the rule, the last notifications."""

from sigservice.repository import channels
from sigservice.repository import outbox as message_rows
from sigservice.routes.pages.signals.channel_section import (
    describe_notification,
    join_channels,
    make_channel_section,
    make_named_channels,
    split_channels,
)
from sigservice.routes.pages.signals.cron_field import CRON_HINT, add_next_times
from sigservice.routes.pages.signals.endpoint_tabs import ONE, find_endpoint, make_tab_page
from sigservice.services.channel_delivery import DeliverySettings
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signal_endpoints
from sigservice.services.signals.endpoint_options import parse_options
from sigservice.services.signals.silence_changes import KIND
from sigservice.services.signals.silence_rules import SilenceRule, mask_rule
from sigservice.web import Connection, Context, Page, PageGuard, Router
from sigservice.web.form_pages import shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, read, to_form
from sigservice.web.growing_forms import GROWING_FORM

PATH = f"{ONE}/silence"
MAX_LISTED = 20
NOTICES = {"saved": "Saved. The state follows within five seconds."}
AT = "options.silence."
_EVENTS = {"late": "Late", "down": "Down", "up": "Up again"}
_SCHEDULES = [("none", "No"), ("every", "Within an interval"), ("cron", "At certain times")]
_NUMERIC = {"inputmode": "numeric"}
_SCHEDULE_FIELD = Field("schedule", "Expects signals", type="radio", choices=_SCHEDULES)
_FIELDS = [
    Field(
        f"{AT}everySeconds",
        "Interval (seconds)",
        hint="A little longer than the interval of the sender.",
        attributes=_NUMERIC,
    ),
    Field(
        f"{AT}cron",
        "Times (cron expression)",
        hint=CRON_HINT,
    ),
    Field(f"{AT}timezone", "Time zone of the times", hint="e.g. UTC or Europe/Berlin"),
    Field(
        f"{AT}graceSeconds",
        "Grace (seconds)",
        hint="The endpoint is late, then down after this time. 0 = down at once.",
        attributes=_NUMERIC,
    ),
]

router = Router(PageGuard, notices=NOTICES)


@router.get(PATH, needs=ADMIN)
def show_silence(conn: Connection, identity: Identity, id: int, entry: Entry = NO_ENTRY) -> Page:
    endpoint = find_endpoint(conn, id)
    rows = message_rows.list_newest(conn, KIND, id, limit=MAX_LISTED)
    form = entry.form or _make_form(parse_options(endpoint["options"]).silence)
    (schedule,) = fill([_SCHEDULE_FIELD], form)
    return make_tab_page(
        "signals/silence/form",
        endpoint,
        "silence",
        notifications=[describe_notification(row) for row in rows],
        schedule=schedule,
        fields=add_next_times(fill(_FIELDS, form), form, AT),
        recipients=make_named_channels(form, channels.list_all(conn), _EVENTS),
        section=make_channel_section(
            form,
            f"{AT}notifications",
            "Sent when the state changes.",
            _EVENTS,
            {"type": "apprise", "on.down": "on", "on.up": "on"},
        ),
    )


@router.post(PATH, needs=ADMIN, **GROWING_FORM)
@shows_errors_in(show_silence)
def update_silence(context: Context, identity: Identity, id: int, form: Form) -> str:
    policy = DeliverySettings.from_config(context.config).policy
    rule = _read_rule(form)
    with context.database.transaction() as conn:
        signal_endpoints.set_silence(conn, id, rule, identity, policy=policy)
    return f"/admin/signals/{id}/silence?done=saved"


def _make_form(rule: SilenceRule | None) -> Form:
    """The texts of a stored rule, without secrets."""
    schedule = "none" if rule is None else "cron" if rule.cron else "every"
    masked = mask_rule(rule or SilenceRule())
    form = to_form({"options": {"silence": masked}}) | {"schedule": schedule}
    return split_channels(form, f"{AT}notifications")


def _read_rule(form: Form) -> SilenceRule | None:
    """None if no signals are expected. Raises BadDataError."""
    schedule, members = form.get("schedule"), {}
    if schedule == "every":
        members = {"cron": None, "timezone": "UTC"}
        form = form | {f"{AT}everySeconds": form.get(f"{AT}everySeconds", "").strip() or "0"}
    elif schedule == "cron":
        members = {"everySeconds": None, "cron": form.get(f"{AT}cron", "").strip()}
    else:
        return None
    form = join_channels(form, f"{AT}notifications")
    return read(form, SilenceRule, AT, **members)
