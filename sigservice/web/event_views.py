"""What pages show of an event."""

import msgspec

from sigservice.db.statements import Row
from sigservice.services.identity import ADMIN_TOKEN_ID
from sigservice.services.system.event_sentences import describe_event

# Event types whose own words would mislead.
LABELS = {
    "actions-created": "action-set-created",
    "actions-deleted": "action-set-deleted",
    "actions-updated": "action-set-updated",
    "feature-environment-disabled": "flag-disabled",
    "feature-environment-enabled": "flag-enabled",
    "feature-environment-variants-updated": "variants-updated",
    "feature-metadata-updated": "flag-updated",
    "feature-strategy-add": "strategy-added",
    "feature-strategy-remove": "strategy-removed",
    "feature-strategy-update": "strategy-updated",
    "pat-created": "personal-token-created",
    "pat-deleted": "personal-token-deleted",
}


def make_event_view(row: Row) -> Row:
    """The event with its sentence, whether an API token made the change, and the run, action set
    and signal that did."""
    data = msgspec.json.decode(row["data"] or "{}")
    run = data.get("actionRun") if isinstance(data, dict) else None
    return row | {
        "label": format_event_type(row["type"]),
        "sentence": describe_event(row),
        "run": run,
        "is_by_token": row["created_by_user_id"] == ADMIN_TOKEN_ID,
    }


def format_event_type(type: str) -> str:
    """An event type in words, for example "Flag created"."""
    return LABELS.get(type, type).replace("feature", "flag").replace("-", " ").capitalize()
