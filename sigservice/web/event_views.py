"""The views of events on pages."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from sigservice.db import Connection, Row
from sigservice.repository.system.link_targets import Target, list_existing
from sigservice.services.identity import ADMIN_TOKEN_ID, name_actor
from sigservice.services.system.event_sentences import describe_event, has_subject
from sigservice.services.system.events import RELEASE_EVENTS, RUN_EVENTS
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

# Members of views: the pages of what caused the event.
_ORIGINS = ("release_path", "run_path", "signal_path")
# Event types whose own words would mislead.
LABELS = {
    "actions-created": "automation-created",
    "actions-deleted": "automation-deleted",
    "actions-updated": "automation-updated",
    "feature-environment-disabled": "flag-turned-off",
    "feature-environment-enabled": "flag-turned-on",
    "feature-environment-variants-updated": "variants-updated",
    "feature-metadata-updated": "flag-updated",
    "feature-strategy-add": "strategy-added",
    "feature-strategy-remove": "strategy-removed",
    "feature-strategy-update": "strategy-updated",
    "pat-created": "personal-token-created",
    "pat-deleted": "personal-token-deleted",
}


class Link(NamedTuple):
    """The page of an object, which may have been deleted; no link without a path."""

    path: str = ""
    target: Target = ("", "")


_NO_LINK = Link()


def list_event_views(conn: Connection, rows: Iterable[Row], own_path: str = "") -> list[Row]:
    """The views, in which each `Link` is its path, "" if its object doesn't exist. The page at
    `own_path` has no link to itself."""
    views = [make_event_view(row) for row in rows]
    links = {link for view in views for _, link in view["parts"]}
    links |= {view[name] for view in views for name in _ORIGINS}
    existing = list_existing(conn, [link.target for link in links if link.path])
    paths = {link: link.path for link in links if link.target in existing}
    paths = {link: path for link, path in paths.items() if path != own_path}
    return [
        view
        | {"parts": [(text, paths.get(link, "")) for text, link in view["parts"]]}
        | {name: paths.get(view[name], "") for name in _ORIGINS}
        for view in views
    ]


def make_event_view(row: Row) -> Row:
    """The event with its sentence, whether an API token made the change, and the run, action set
    and signal that did. `parts` of the sentence are texts with a `Link`."""
    data = msgspec.json.decode(row["data"] or "{}")
    data = data if isinstance(data, dict) else {}
    parts, run = _split_sentence(row, data), data.get("actionRun")
    if row["type"].startswith(RUN_EVENTS) and data.get("runId"):
        run = {"id": data["runId"], "actionSetId": data["actionSetId"], "actionSet": ""}
    return row | {
        "label": format_event_type(row["type"]),
        "sentence": "".join(text for text, _ in parts),
        "parts": parts,
        "has_subject": has_subject(row),
        "run": run,
        "is_of_run": "actionRun" in data,
        "release_path": _find_release(row, data),
        "run_path": _find_run(row, run) if run else _NO_LINK,
        "signal_path": _find_signal(run) if run and "signalId" in run else _NO_LINK,
        "actor": name_actor(row["created_by"], row["created_by_user_id"]),
        "is_by_token": row["created_by_user_id"] == ADMIN_TOKEN_ID,
    }


def _split_sentence(row: Row, data: dict[str, Any]) -> list[tuple[str, Link]]:
    """The parts of the sentence."""
    links: list[tuple[str, Link]] = []

    def mark(part: str, text: str) -> str:
        links.append((text, _find_object(row, data, part, text)))
        return f"\0{len(links) - 1}\0"  # PostgreSQL stores no NUL, so no text contains one

    texts = describe_event(row, mark).split("\0")
    return [
        links[int(text)] if number % 2 else (text, _NO_LINK)
        for number, text in enumerate(texts)
        if text
    ]


def _find_object(row: Row, data: dict[str, Any], part: str, text: str) -> Link:
    """The object that the sentence names."""
    if part == "flag":
        return Link(flag_path(text), ("flag", text))
    if part == "project":
        return Link(join_path("/admin/projects", text, "overview"), ("project", text))
    family, id = re.sub("-(created|updated)$", "", row["type"]), data.get("id")
    if part != "name" or family == row["type"] or not isinstance(id, int):
        return _NO_LINK
    if family == "actions" and row["project"]:
        path = join_path("/admin/projects", row["project"], "actions", id)
        return Link(path, (family, str(id)))
    path = PATHS.get(family, "")
    return Link(path.format(id), (family, str(id))) if path else _NO_LINK


def _find_release(row: Row, data: dict[str, Any]) -> Link:
    id = data.get("releaseId")
    if not row["type"].startswith(RELEASE_EVENTS) or not id:
        return _NO_LINK
    place = (row["feature_name"], "environments", row["environment"], "releases")
    return Link(join_path("/admin/features", *place, id), ("release", str(id)))


def _find_run(row: Row, run: Mapping[str, Any]) -> Link:
    place = (row["project"], "actions", run["actionSetId"], "runs", run["id"])
    return Link(join_path("/admin/projects", *place), ("run", str(run["id"])))


def _find_signal(run: Mapping[str, Any]) -> Link:
    place = (run["signalEndpointId"], "log", run["signalId"])
    target = f"{run['signalEndpointId']}/{run['signalId']}"
    return Link(join_path("/admin/signals", *place), ("signal", target))


def format_event_type(type: str) -> str:
    """An event type in words, for example "Flag created"."""
    return LABELS.get(type, type).replace("feature", "flag").replace("-", " ").capitalize()
