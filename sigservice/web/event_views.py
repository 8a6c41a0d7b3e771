"""The views of events on pages."""

import re
from typing import Any

import msgspec

from sigservice.db import Row
from sigservice.services.identity import ADMIN_TOKEN_ID, name_actor
from sigservice.services.system.event_sentences import describe_event, has_subject
from sigservice.services.system.events import RELEASE_EVENTS
from sigservice.web.helpers import join_path
from sigservice.web.links import flag_path

# The pages of objects, by the words of the event types before -created and -updated. All readers of
# an event may open its page: viewers get a list where the page of the object is a form.
PATHS = {
    "segment": "/admin/segments",
    "signal-endpoint": "/admin/signals/{}/log",
    "user": "/admin/users/{}",
    "addon-config": "/admin/integrations/{}",
}

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


def make_event_view(row: Row, own_path: str = "") -> Row:
    """The event with its sentence, whether an API token made the change, and the run, action set
    and signal that did. The page at `own_path` has no link to itself."""
    data = msgspec.json.decode(row["data"] or "{}")
    data = data if isinstance(data, dict) else {}
    parts = [(text, "" if path == own_path else path) for text, path in _split_sentence(row, data)]
    return row | {
        "label": format_event_type(row["type"]),
        "sentence": "".join(text for text, _ in parts),
        "parts": parts,
        "has_subject": has_subject(row),
        "run": data.get("actionRun"),
        "release_path": _find_release_path(row, data),
        "actor": name_actor(row["created_by"], row["created_by_user_id"]),
        "is_by_token": row["created_by_user_id"] == ADMIN_TOKEN_ID,
    }


def _split_sentence(row: Row, data: dict[str, Any]) -> list[tuple[str, str]]:
    """(text, path) of the parts of the sentence; the path of a part without a link is ""."""
    links: list[tuple[str, str]] = []

    def mark(part: str, text: str) -> str:
        links.append((text, _find_path(row, data, part, text)))
        return f"\0{len(links) - 1}\0"  # PostgreSQL stores no NUL, so no text contains one

    texts = describe_event(row, mark).split("\0")
    return [
        links[int(text)] if number % 2 else (text, "") for number, text in enumerate(texts) if text
    ]


def _find_path(row: Row, data: dict[str, Any], part: str, text: str) -> str:
    """The page of an object that the sentence names, "" if the object was deleted or has no
    page."""
    if row["type"].endswith("-deleted"):
        return ""
    if part == "flag":
        return flag_path(text)
    if part == "project":
        return join_path("/admin/projects", text, "overview")
    family = re.sub("-(created|updated)$", "", row["type"])
    if part != "name" or family == row["type"] or not isinstance(data.get("id"), int):
        return ""
    if family == "actions" and row["project"]:
        return join_path("/admin/projects", row["project"], "actions", data["id"])
    path = PATHS.get(family, "")
    return path.format(data["id"])


def _find_release_path(row: Row, data: dict[str, Any]) -> str:
    if not row["type"].startswith(RELEASE_EVENTS) or not data.get("releaseId"):
        return ""
    place = (row["feature_name"], "environments", row["environment"], "releases")
    return join_path("/admin/features", *place, data["releaseId"])


def format_event_type(type: str) -> str:
    """An event type in words, for example "Flag created"."""
    return LABELS.get(type, type).replace("feature", "flag").replace("-", " ").capitalize()
