"""Silence of an endpoint, page: its state and its rule."""

from sigservice.routes.pages.signals.cron_field import CRON_HINT, add_next_times
from sigservice.routes.pages.signals.endpoint_tabs import ONE, find_endpoint, make_tab_page
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signal_endpoints
from sigservice.services.signals.endpoint_options import parse_options
from sigservice.services.signals.silence_rules import SilenceRule
from sigservice.web import Connection, Page, PageGuard, Router
from sigservice.web.form_pages import shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, read, to_form

PATH = f"{ONE}/silence"
NOTICES = {"saved": "Saved. The state follows within five seconds."}
AT = "options.silence."
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
    form = entry.form or _make_form(parse_options(endpoint["options"]).silence)
    (schedule,) = fill([_SCHEDULE_FIELD], form)
    return make_tab_page(
        "signals/silence/form",
        endpoint,
        "silence",
        schedule=schedule,
        fields=add_next_times(fill(_FIELDS, form), form, AT),
    )


@router.post(PATH, needs=ADMIN)
@shows_errors_in(show_silence)
def update_silence(conn: Connection, identity: Identity, id: int, form: Form) -> str:
    signal_endpoints.set_silence(conn, id, _read_rule(form), identity)
    return f"/admin/signals/{id}/silence?done=saved"


def _make_form(rule: SilenceRule | None) -> Form:
    schedule = "none" if rule is None else "cron" if rule.cron else "every"
    return to_form({"options": {"silence": rule or SilenceRule()}}) | {"schedule": schedule}


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
    return read(form, SilenceRule, AT, **members)
