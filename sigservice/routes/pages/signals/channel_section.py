"""Recipients of notifications, as rows of fields."""

from collections.abc import Mapping

from sigservice.services.channels import MAX_CHANNELS
from sigservice.web.forms import Field, Form
from sigservice.web.growing_forms import GrowingSection, make_section

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


def make_channel_section(
    form: Form, name: str, hint: str, events: Mapping[str, str], blank: Form
) -> GrowingSection:
    """`events` are the labels of what a recipient can be notified of."""
    boxes = [Field(f"on.{event}", label, type="checkbox") for event, label in events.items()]
    return make_section(
        form,
        name,
        "Notifications",
        "notification",
        hint,
        [*_FIELDS, *boxes],
        blank=blank,
        max_rows=MAX_CHANNELS,
        boxes_legend="Send when",
    )
