"""Flags with their environments, strategies, tags and dependencies, for pages and the API."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec

from sigservice.clock import format_optional
from sigservice.db import Connection, Row
from sigservice.errors import BadDataError
from sigservice.repository.flags import (
    feature_dependencies,
    feature_environments,
    feature_strategies,
    feature_tags,
    features,
)
from sigservice.repository.flags.features import FeatureFilter
from sigservice.repository.projects import favorites
from sigservice.services.flags import dependencies, strategies
from sigservice.services.flags import features as service

MAX_WORDS = 100  # of a search: each is compared with all flags


def build_view(conn: Connection, project: str, name: str, user_id: int) -> dict[str, Any]:
    """A flag with all its details, for this user. Raises NotFoundError."""
    row = service.get(conn, project, name)
    links = feature_dependencies.list_related(conn, [name])
    by_environment: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for strategy in feature_strategies.list_by_features(conn, [name]):
        by_environment[strategy["environment"]].append(strategies.to_json(strategy))
    environments = [
        state_to_json(state)
        | {
            "variants": msgspec.json.decode(state["variants"]),
            "strategies": by_environment[state["environment"]],
        }
        for state in feature_environments.list_states(conn, [name])
        if state["is_visible"]
    ]
    tags = feature_tags.list_by_features(conn, [name])
    return service.to_json(row) | {
        "environments": environments,
        "tags": [{"type": tag["type"], "value": tag["value"]} for tag in tags],
        "dependencies": [dependencies.to_json(d) for d in links if d["child"] == name],
        "children": [d["child"] for d in links if d["parent"] == name],
        "variants": environments[0]["variants"] if environments else [],
        "links": [],
        "collaborators": {"users": []},
        "favorite": name in favorites.list_features(conn, user_id, [name]),
        "managed": msgspec.json.decode(row["managed"]) if row["managed"] else None,
    }


def search(
    conn: Connection, filter: FeatureFilter, user_id: int
) -> tuple[list[dict[str, Any]], int]:
    """A page of flags with tags and the state in each environment, for this user, and the total.
    Raises BadDataError for a text of too many words."""
    if len((filter.text or "").split()) > MAX_WORDS:
        raise BadDataError(f"A search can have at most {MAX_WORDS} words.", path="query")
    rows = features.search(conn, filter)
    is_only_page = not filter.offset and len(rows) != filter.limit
    total = len(rows) if is_only_page else features.count_matches(conn, filter)
    return build_summaries(conn, rows, user_id), total


def build_summaries(conn: Connection, rows: Sequence[Row], user_id: int) -> list[dict[str, Any]]:
    names = [row["name"] for row in rows]
    favorite_names = favorites.list_features(conn, user_id, names)
    states: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for state in feature_environments.list_states(conn, names):
        if state["is_visible"]:
            states[state["feature"]].append(state_to_json(state))
    tags: dict[str, list[dict[str, str]]] = defaultdict(list)
    for tag in feature_tags.list_by_features(conn, names):
        tags[tag["feature"]].append({"type": tag["type"], "value": tag["value"]})
    kinds: dict[str, str] = {}
    for link in feature_dependencies.list_related(conn, names):
        kinds[link["child"]] = "child"
        kinds[link["parent"]] = "parent"
    return [
        service.to_json(row)
        | {
            "environments": states[row["name"]],
            "tags": tags[row["name"]],
            "dependencyType": kinds.get(row["name"]),
            "favorite": row["name"] in favorite_names,
        }
        for row in rows
    ]


def state_to_json(state: Row) -> dict[str, Any]:
    """A flag's state in an environment, without the strategies themselves."""
    return {
        "name": state["environment"],
        "environment": state["environment"],
        "featureName": state["feature"],
        "type": state["type"],
        "enabled": state["enabled"],
        "sortOrder": state["sort_order"],
        "lastSeenAt": format_optional(state["last_seen_at"]),
        "variantCount": len(msgspec.json.decode(state["variants"])),
        "hasStrategies": state["strategies"] > 0,
        "hasEnabledStrategies": state["active_strategies"] > 0,
    }
