"""The form of the rule of an endpoint that expects signals."""

from collections.abc import Sequence
from typing import Any

from sigservice.db import Row
from sigservice.routes.pages.signals.channel_section import (
    join_channels,
    make_channel_section,
    make_named_channels,
    split_channels,
)
from sigservice.services.signals.silence_rules import SilenceRule, mask_rule
from sigservice.web.forms import Field, Form, fill, read, to_form

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
        hint="Minute, hour, day of the month, month, day of the week, e.g. 30 2 * * MON-FRI",
    ),
    Field(f"{AT}timezone", "Time zone of the times", hint="e.g. UTC or Europe/Berlin"),
    Field(
        f"{AT}graceSeconds",
        "Grace (seconds)",
        hint="The endpoint is late, then down after this time. 0 = down at once.",
        attributes=_NUMERIC,
    ),
]


def make_form(rule: SilenceRule | None) -> Form:
    """The texts of a stored rule, without secrets."""
    schedule = "none" if rule is None else "cron" if rule.cron else "every"
    masked = mask_rule(rule or SilenceRule())
    form = to_form({"options": {"silence": masked}}) | {"schedule": schedule}
    return split_channels(form, f"{AT}notifications")


def read_rule(form: Form) -> SilenceRule | None:
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


def make_parts(form: Form, integrations: Sequence[Row]) -> dict[str, Any]:
    """What templates/signals/silence/form.tpl prints of the form. `integrations` are all that have
    a name."""
    (schedule,) = fill([_SCHEDULE_FIELD], form)
    return {
        "schedule": schedule,
        "fields": fill(_FIELDS, form),
        "recipients": make_named_channels(form, integrations, _EVENTS),
        "section": make_channel_section(
            form,
            f"{AT}notifications",
            "Sent when the state changes.",
            _EVENTS,
            {"type": "apprise", "on.down": "on", "on.up": "on"},
        ),
    }
