"""The list of flags: its filters, columns, and the cells that say who gets a flag."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from sigservice.clock import parse_iso
from sigservice.db import Connection, Row
from sigservice.repository.actions import alerts
from sigservice.repository.flags import feature_strategies, segments
from sigservice.repository.flags import features as feature_rows
from sigservice.repository.projects import favorites
from sigservice.repository.releases import releases
from sigservice.services import strategy_summaries
from sigservice.services.flags import strategies
from sigservice.services.flags.removal import Removal
from sigservice.services.identity import name_actor
from sigservice.web.links import flag_path

FILTERS = ("query", "project", "type", "tag", "state", "life")
STATES = {
    "alert": "Off by alert",
    "remove": "Ready to be removed",
    "releasing": "Releasing",
    "favorites": "Favorites",
}
COLUMNS = {"type": "Type", "created": "Created", "owner": "Owner", "stale": "Stale"}
MAX_ALERTS = 1000
Json = dict[str, Any]


class Causes(NamedTuple):
    """What decides about flags besides their strategies, by flag and environment: alerts that
    switched them off, and releases under way."""

    alerts: Collection[tuple[str, str]]
    releases: Mapping[tuple[str, str], Row]


def read_causes(conn: Connection) -> Causes:
    rows = alerts.list_held_flags(conn, limit=MAX_ALERTS, features=None, payloads=False)
    release_rows = releases.list_moving_states(conn)
    return Causes(
        {(row["feature"], row["environment"]) for row in rows if not row["enabled"]},
        {(row["feature"], row["environment"]): row for row in release_rows},
    )


def list_names_by_state(
    conn: Connection,
    causes: Causes,
    removable: Collection[str],
    project: str,
    user_id: int,
) -> dict[str, list[str]]:
    """The flags of the project, or of all, that each filter of `STATES` shows; `removable` are
    those of the project that are ready to be removed."""
    names = {
        "alert": {feature for feature, _ in causes.alerts},
        "releasing": {feature for feature, _ in causes.releases},
        "favorites": favorites.list_features(conn, user_id),
    }
    active = feature_rows.list_active_names(conn, set().union(*names.values()), project or None)
    names = {state: active & features for state, features in names.items()}
    return {state: sorted(names.get(state, removable)) for state in STATES}


def make_filters(names: Mapping[str, Sequence[str]], page: Mapping[str, str]) -> list[Json]:
    """The links that filter by a state; `page` is the query of the list without its offset."""
    return [
        {"label": label, "count": len(names[state]), "link": urlencode({**page, "state": state})}
        for state, label in STATES.items()
        if names[state] and page.get("state") != state
    ]


def make_active_filters(page: Mapping[str, str], types: Mapping[str, str]) -> list[Json]:
    """The filters of the page, each with the query of the list without it."""
    filters = []
    for name in FILTERS:
        if not (value := page.get(name)):
            continue
        labels = {
            "query": f"“{value}”",
            "type": f"Type {types.get(value, value)}",
            "state": STATES.get(value, value),
            "life": "Archived",
        }
        others = {key: other for key, other in page.items() if key != name}
        label = labels.get(name, f"{name.title()} {value}")
        filters.append({"label": label, "link": urlencode(others)})
    return filters


def order_environments(features: Sequence[Json]) -> list[str]:
    """The names of the columns: those that a flag of the page uses."""
    states = [state for feature in features for state in feature["environments"]]
    return [name for _, name in sorted({(state["sortOrder"], state["name"]) for state in states})]


def make_rows(
    conn: Connection,
    features: Sequence[Json],
    environments: Sequence[str],
    causes: Causes,
    removals: Mapping[str, Removal],
    projects: Mapping[str, str],
) -> list[Json]:
    by_state: dict[tuple[str, str], list[Json]] = defaultdict(list)
    for row in feature_strategies.list_by_features(conn, [flag["name"] for flag in features]):
        by_state[row["feature"], row["environment"]].append(strategies.to_json(row))
    ids = {id for rows in by_state.values() for item in rows for id in item["segments"]}
    segment_names = {row["id"]: row["name"] for row in segments.list_by_id(conn, [*ids])}
    rows = []
    for flag in features:
        states = {state["name"]: state for state in flag["environments"]}
        cells = [
            make_cell(
                flag, states[name], by_state.get((flag["name"], name), []), causes, segment_names
            )
            if name in states
            else None
            for name in environments
        ]
        first = next((cell for cell in cells if cell), None)
        rows.append(
            flag
            | {
                "path": flag_path(flag["name"]),
                "created_at": parse_iso(flag["createdAt"]),
                "last_seen_at": parse_iso(flag["lastSeenAt"]) if flag["lastSeenAt"] else None,
                "owner": name_actor(flag["createdBy"]["name"], flag["createdBy"]["id"]),
                "project_name": projects.get(flag["project"], flag["project"]),
                "tag_texts": [f"{tag['type']}:{tag['value']}" for tag in flag["tags"]],
                "more_tags": f" +{len(flag['tags']) - 1}" if len(flag["tags"]) > 1 else "",
                "cells": cells,
                "first": first,
                "more": sum(cell is not None for cell in cells) - 1,
                "removal": removals.get(flag["name"]),
            }
        )
    return rows


def make_cell(
    flag: Json,
    state: Json,
    items: Sequence[Json],
    causes: Causes,
    segment_names: Mapping[int, str],
) -> Json:
    """{text, state, title, label, is_on, path}; `state` is the class of its color."""
    name, environment, is_on = flag["name"], state["name"], state["enabled"]
    release = causes.releases.get((name, environment))
    reach = strategy_summaries.describe_reach(items)
    title = (
        ""
        if reach == "100%"
        else "; ".join(
            strategy_summaries.summarize_strategy(item, segment_names) for item in items[:5]
        )
    )
    if not is_on and (name, environment) in causes.alerts:
        text, color, title = "✕ alert", "broken", "Off by an alert"
    elif release and not is_on:
        text, color, title = "▲ off", "waits", "Off, so its release reaches nobody"
    elif release and release["state"] == "held":
        text, color = f"‖ {release['rollout']}%", "waits"
    elif release:
        text, color = f"▶ {release['rollout']}%", "runs"
    elif is_on:
        text, color = f"● {reach}", "waits" if reach == "0%" else "gets"
    else:
        text, color, title = "○ off", "off", ""
    return {
        "environment": environment,
        "text": text,
        "state": color,
        "title": title,
        "label": f"{name} in {environment}",
        "is_on": is_on,
        "path": ("/admin/features", name, "environments", environment, "off" if is_on else "on"),
    }


def make_columns(page: Mapping[str, str]) -> tuple[list[str], list[tuple[str, str]]]:
    """(the further columns that the query chooses, the links that add or remove one)."""
    columns = [name for name in page.get("cols", "").split(",") if name in COLUMNS]
    links = []
    for name, label in COLUMNS.items():
        others = [other for other in COLUMNS if (other in columns) != (other == name)]
        text = f"✓ {label}" if name in columns else label
        links.append((text, urlencode({**page, "cols": ",".join(others)})))
    return columns, links


def make_heads(
    environments: Sequence[str],
    columns: Sequence[str],
    sort: str,
    is_descending: bool,
    page: Mapping[str, str],
    *,
    shows_reasons: bool,
) -> list[Json]:
    """{label, link, order} of the columns; those without a link don't sort, `order` is the value of
    aria-sort. Times and states begin with the newest and the flags that are on."""

    def make(key: str, label: str) -> Json:
        return _make_head(key, label, sort, is_descending, page)

    if shows_reasons:
        return [make("name", "Name"), {"label": "Reason"}, {"label": "Keep"}, {"label": ""}]
    further = [
        make("createdAt", "Created") if name == "created" else {"label": COLUMNS[name]}
        for name in columns
    ]
    return [
        make("name", "Name"),
        *(make(f"state:{name}", name) for name in environments),
        make("lastSeenAt", "Evaluated"),
        {"label": "Project"},
        {"label": "Tags"},
        *further,
    ]


def _make_head(
    key: str, label: str, sort: str, is_descending: bool, page: Mapping[str, str]
) -> Json:
    is_sorted = key == sort
    descends = not is_descending if is_sorted else key != "name"
    order = {True: "descending", False: "ascending"}[is_descending] if is_sorted else ""
    link = urlencode({**page, "sort": key, "order": "desc" if descends else "asc"})
    return {"label": label, "link": link, "order": order}
