"""The form of the rule of an endpoint that expects signals: its values and its fields."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from sigservice.services.channels import MAX_CHANNELS
from sigservice.services.signals.silence_rules import EVENTS, SilenceChannel, SilenceRule, mask_rule
from sigservice.web.forms import Field, Form, read_whole_number
from sigservice.web.growing_forms import (
    FieldRow,
    FormRow,
    GrowingSection,
    change_rows,
    find_rows,
)

BLANK_CHANNEL: FormRow = {"type": "apprise", "url": "", "secret": "", "on": {"down", "up"}}
_CHANNELS = [("apprise", "Chat, email or pager (Apprise)"), ("webhook", "Webhook")]
_EVENT_LABELS = {"late": "Late", "down": "Down", "up": "Up again"}
_INDEX = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True)
class FormValues:
    schedule: str = "none"
    every: str = ""
    cron: str = ""
    timezone: str = "UTC"
    grace: str = "0"
    notifications: Sequence[FormRow] = ()


def read_form(form: Form) -> FormValues:
    def text(name: str) -> str:
        return form.get(name, "").strip()

    return FormValues(
        schedule=text("schedule"),
        every=text("everySeconds"),
        cron=text("cron"),
        timezone=text("timezone"),
        grace=text("graceSeconds"),
        notifications=[
            {
                "type": text(f"{at}.type"),
                "url": text(f"{at}.url"),
                "secret": text(f"{at}.secret"),
                "on": {event for event in EVENTS if f"{at}.on.{event}" in form},
            }
            for at in find_rows(form, "notifications")
        ],
    )


def change_form(values: FormValues, button: str) -> FormValues:
    """The values after a button that adds or removes a notification."""
    rows = change_rows(values.notifications, "notifications", BLANK_CHANNEL, button)
    return replace(values, notifications=rows)


def from_rule(rule: SilenceRule | None) -> FormValues:
    """The values of a stored rule, without secrets."""
    if rule is None:
        return FormValues()
    return FormValues(
        schedule="cron" if rule.cron else "every",
        every=str(rule.everySeconds or ""),
        cron=rule.cron or "",
        timezone=rule.timezone,
        grace=str(rule.graceSeconds),
        notifications=[
            {"secret": "", **msgspec.to_builtins(channel)}
            for channel in mask_rule(rule).notifications
        ],
    )


def to_rule(values: FormValues) -> SilenceRule | None:
    """None if no signals are expected. A number that can't be read becomes one that is rejected."""
    if values.schedule not in ("every", "cron"):
        return None
    is_cron = values.schedule == "cron"
    return SilenceRule(
        everySeconds=None if is_cron else read_whole_number(values.every, -1),
        cron=values.cron if is_cron else None,
        timezone=values.timezone if is_cron else "UTC",
        graceSeconds=read_whole_number(values.grace, 0),
        notifications=[
            SilenceChannel(
                type="webhook" if row["type"] == "webhook" else "apprise",
                url=row["url"],
                secret=row["secret"],
                on=[event for event in ("late", "down", "up") if event in row["on"]],
            )
            for row in values.notifications
        ],
    )


def name_fields(problems: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The problems with the names of the fields."""
    return [
        {**problem, "path": _INDEX.sub(r".\1", problem["path"].removeprefix("options.silence."))}
        if "path" in problem
        else dict(problem)
        for problem in problems
    ]


def make_schedule_field(values: FormValues) -> Field:
    return Field(
        "schedule",
        "Expects signals",
        values.schedule if values.schedule in ("every", "cron") else "none",
        "radio",
        choices=[("none", "No"), ("every", "Within an interval"), ("cron", "At certain times")],
    )


def make_fields(values: FormValues) -> list[Field]:
    numeric = {"inputmode": "numeric"}
    return [
        Field(
            "everySeconds",
            "Interval (seconds)",
            values.every,
            hint="A little longer than that of the sender.",
            attributes=numeric,
        ),
        Field(
            "cron",
            "Times (cron expression)",
            values.cron,
            hint="Minute, hour, day of the month, month, day of the week, e.g. 30 2 * * MON-FRI",
        ),
        Field(
            "timezone", "Time zone of the times", values.timezone, hint="e.g. UTC or Europe/Berlin"
        ),
        Field(
            "graceSeconds",
            "Grace (seconds)",
            values.grace,
            hint="The endpoint is late, then down after this time. 0 = down at once.",
            attributes=numeric,
        ),
    ]


def make_channel_section(values: FormValues) -> GrowingSection:
    return GrowingSection(
        "notifications",
        "Notifications",
        "notification",
        "Sent when the state changes.",
        [
            _make_row(f"notifications.{number}", row)
            for number, row in enumerate(values.notifications)
        ],
        max_rows=MAX_CHANNELS,
    )


def _make_row(name: str, row: FormRow) -> FieldRow:
    return FieldRow(
        [
            Field(f"{name}.type", "Channel", row["type"], "select", choices=_CHANNELS),
            Field(
                f"{name}.url",
                "URL",
                row["url"],
                hint="e.g. slack://token/…, mailto://… or https://example.com/hook",
                is_required=True,
            ),
            Field(
                f"{name}.secret",
                "Signing secret",
                row["secret"],
                hint="Webhooks only (Standard Webhooks).",
            ),
        ],
        [
            Field(f"{name}.on.{event}", label, event in row["on"], "checkbox")
            for event, label in _EVENT_LABELS.items()
        ],
    )
