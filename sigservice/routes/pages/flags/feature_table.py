"""The table of flags: its columns, rows, links that sort and chips that remove a filter."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from sigservice.clock import parse_iso
from sigservice.db import Connection, Row
from sigservice.repository.flags import feature_strategies
from sigservice.services import strategy_summaries
from sigservice.services.actions import held_flags
from sigservice.services.flags import strategies
from sigservice.services.identity import Identity
from sigservice.web.links import flag_path

MAX_PREVIEW = 200
FILTERS = ("query", "project", "type", "tag", "state", "life")
CLASSES = {"createdAt": "created", "lastSeenAt": "evaluated"}  # columns that narrow pages hide
MAX_ALERTS = 1000
FlagState = tuple[str, str]  # a flag and its environment
Json = dict[str, Any]


class Reasons(NamedTuple):
    """Why flags are on or off: the alert that holds the state, and percentages. `rollouts` has
    no entry without strategies."""

    alerts: Mapping[FlagState, Row]
    rollouts: Mapping[FlagState, str]


def read_reasons(conn: Connection, by: Identity, names: Sequence[str]) -> Reasons:
    """Of the flags of one page, in as many statements as for one flag."""
    rows = held_flags.list_held_flags(conn, by, limit=MAX_ALERTS, features=[*names])
    alerts: dict[FlagState, Row] = {}
    for row in rows:  # newest first
        alerts.setdefault((row["feature"], row["environment"]), row)
    by_state: dict[FlagState, list[Json]] = defaultdict(list)
    for row in feature_strategies.list_by_features(conn, [*names]):
        by_state[row["feature"], row["environment"]].append(strategies.to_json(row))
    return Reasons(
        alerts,
        {state: strategy_summaries.summarize_rollouts(rows) for state, rows in by_state.items()},
    )


def order_environments(features: Sequence[Json]) -> list[str]:
    """The names of the columns."""
    states = [state for feature in features for state in feature["environments"]]
    return [name for _, name in sorted({(state["sortOrder"], state["name"]) for state in states})]


def make_row(
    feature: Json,
    environments: Sequence[str],
    page: dict[str, str],
    reasons: Reasons,
) -> Json:
    """`page` is the query of the list without its place."""
    states = {state["name"]: state for state in feature["environments"]}
    return feature | {
        "path": flag_path(feature["name"]),
        "preview": (feature["description"] or "")[:MAX_PREVIEW],
        "created_at": parse_iso(feature["createdAt"]),
        "last_seen_at": parse_iso(feature["lastSeenAt"]) if feature["lastSeenAt"] else None,
        "tags": [_make_tag(tag, page) for tag in feature["tags"]],
        "project_link": urlencode(page | {"project": feature["project"]}),
        "cells": [
            _make_cell(feature["name"], states[name], reasons) if name in states else None
            for name in environments
        ],
    }


def _make_tag(tag: Json, page: dict[str, str]) -> Json:
    text = f"{tag['type']}:{tag['value']}"
    return {"text": text, "link": urlencode(page | {"tag": text})}


def _make_cell(name: str, state: Json, reasons: Reasons) -> Json:
    environment, is_on = state["name"], state["enabled"]
    return {
        "label": f"{name} in {environment}",
        "is_on": is_on,
        "path": ("/admin/features", name, "environments", environment, "off" if is_on else "on"),
        "rollout": reasons.rollouts.get((name, environment), "100%") if is_on else "",
        "alert": reasons.alerts.get((name, environment)),
    }


def make_heads(
    environments: Sequence[str], sort: str, is_descending: bool, page: dict[str, str]
) -> list[Json]:
    """{label, link, order, class} of the columns that sort; `order` is the value of aria-sort, ""
    for a column that doesn't sort the page. Times and states begin with the newest and the
    enabled."""
    heads = []
    for key, label in (
        ("name", "Name"),
        ("createdAt", "Created"),
        ("lastSeenAt", "Last evaluated"),
        *((f"state:{name}", name) for name in environments),
    ):
        is_sorted, is_descending_first = key == sort, key != "name"
        descends = not is_descending if is_sorted else is_descending_first
        order = {True: "descending", False: "ascending"}[is_descending] if is_sorted else ""
        link = urlencode(page | {"sort": key, "order": "desc" if descends else "asc"})
        heads.append({"label": label, "link": link, "order": order, "class": CLASSES.get(key, "")})
    return heads
