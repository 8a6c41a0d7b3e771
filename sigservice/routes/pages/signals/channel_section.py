"""Recipients of notifications: integrations with checkboxes, and others as rows of fields."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from sigservice.db import Row
from sigservice.services import outbox
from sigservice.services.channels import INTEGRATION, MAX_CHANNELS, describe_channel
from sigservice.web.forms import Field, Form, fill
from sigservice.web.growing_forms import GrowingSection, list_rows, make_section, replace_rows

TELL = "tell"

_FIELDS = [
    Field(
        "type",
        "Channel",
        type="select",
        choices=[("apprise", "Chat, email or pager (Apprise)"), ("webhook", "Webhook")],
    ),
    Field(
        "url",
        "URL",
        hint="e.g. slack://token/…, mailto://… or https://example.com/hook",
        is_required=True,
    ),
    Field("secret", "Signing secret", hint="Webhooks only (Standard Webhooks)."),
]


class NamedChannel(NamedTuple):
    """An integration with a checkbox for each event; `at` begins the names of its fields."""

    at: str
    name: str
    provider: str
    is_enabled: bool
    fields: Sequence[Field]


def split_channels(form: Form, name: str) -> Form:
    """Moves the rows of integrations from the list `name` to a list of their own."""
    rows = list_rows(form, name)
    own = [row for row in rows if row.get("type") == INTEGRATION]
    others = [row for row in rows if row.get("type") != INTEGRATION]
    return replace_rows(replace_rows(form, name, others), TELL, own)


def join_channels(form: Form, name: str) -> Form:
    """The opposite of `split_channels`: integrations with a checked box follow the others."""
    rows = [row | {"type": INTEGRATION} for row in list_rows(form, TELL) if _has_event(row)]
    others = replace_rows(form, TELL, [])
    return replace_rows(others, name, [*list_rows(form, name), *rows])


def make_named_channels(
    form: Form, integrations: Sequence[Row], events: Mapping[str, str]
) -> list[NamedChannel]:
    """`integrations` are all that have a name."""
    rows = {row.get("name", ""): row for row in list_rows(form, TELL)}
    channels = []
    for number, one in enumerate(integrations):
        at = f"{TELL}.{number}"
        texts = {f"{at}.{key}": text for key, text in rows.get(one["name"], {}).items()}
        fields = fill(_make_boxes(events), texts, f"{at}.")
        channels.append(NamedChannel(at, one["name"], one["provider"], one["enabled"], fields))
    return channels


def _has_event(row: Form) -> bool:
    return any(key.startswith("on.") for key in row)


def _make_boxes(events: Mapping[str, str]) -> list[Field]:
    return [Field(f"on.{event}", label, type="checkbox") for event, label in events.items()]


def make_channel_section(
    form: Form, name: str, hint: str, events: Mapping[str, str], blank: Form
) -> GrowingSection:
    """`events` are the labels of what a recipient can be notified of."""
    return make_section(
        form,
        name,
        "Notifications",
        "notification",
        hint,
        [*_FIELDS, *_make_boxes(events)],
        blank=blank,
        max_rows=MAX_CHANNELS,
        boxes_legend="Send when",
    )


def describe_notification(row: Row) -> dict[str, Any]:
    """A message of the outbox about a change of a state, for partials/last_notifications.tpl."""
    message = msgspec.json.decode(row["payload"])
    return row | {
        "change": message["state"],
        "channel": describe_channel(msgspec.json.decode(row["target"])),
        "state": outbox.describe_state(row),
    }
