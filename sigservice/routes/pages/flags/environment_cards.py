"""What the page of a flag shows for each environment: strategies, variants and usage."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import msgspec

from sigservice.db import Connection, Row
from sigservice.repository.flags import segments
from sigservice.repository.projects import project_environments
from sigservice.routes.pages.release_sentences import find_end
from sigservice.services import strategy_summaries
from sigservice.web.helpers import join_path
from sigservice.web.usage_charts import Mark, Usage

ROLLOUT_TYPE = "flexibleRollout"
EVERYONE = "100% of users"


def make_cards(
    feature: dict[str, Any],
    segment_names: Mapping[int, str],
    usage: Usage,
    now: datetime,
    *,
    alerts: Sequence[Row],
    switches: Sequence[Row],
    marks: Sequence[Mark],
    newest_releases: Mapping[str, dict[str, Any]],
    scheduled: Sequence[Row],
    defaults: Mapping[str, str],
) -> list[dict[str, Any]]:
    """`alerts` are the runs that keep the flag on or off for an alert; `switches` are the newest
    events that switched it, newest first; `newest_releases` are the views of releases by
    environment, `scheduled` the views of what is due, `defaults` what
    `summarize_defaults` returns."""
    cards = []
    path = join_path("/admin/features", feature["name"], "environments")
    for environment in feature["environments"]:
        name = environment["name"]
        release = newest_releases.get(name)
        is_moving = release and release["state"] == "running"
        mover = release if is_moving else None
        moved_id = mover["strategyId"] if mover else None
        query = urlencode({"flag": feature["name"], "environment": name})
        cards.append(
            environment
            | {
                "strategies": [
                    strategy
                    | {
                        "chips": strategy_summaries.list_strategy_chips(strategy, segment_names),
                        "label": f"strategy {number} in {name}",
                        "copies": [
                            other["name"]
                            for other in feature["environments"]
                            if other["name"] != name
                        ],
                        "path": join_path(path, name, "strategies", strategy["id"]),
                        "release": mover if strategy["id"] == moved_id else None,
                        "is_first": number == 1,
                        "is_last": number == len(environment["strategies"]),
                    }
                    for number, strategy in enumerate(environment["strategies"], 1)
                ],
                "variants": strategy_summaries.summarize_variants(environment["variants"]),
                "default": defaults.get(name, EVERYONE),
                "scheduled": [
                    item | {"conflict": _find_conflict(item, release, now)}
                    for item in scheduled
                    if name in item["environments"]
                ],
                "alerts": [alert for alert in alerts if alert["environment"] == name],
                "release": release,
                "rollouts": _list_rollouts(environment["strategies"]),
                "change": _find_change(environment, switches),
                "release_form": join_path(path, name, "releases", "new"),
                "chart": usage.make_chart(name, now, [m for m in marks if m.environment == name]),
                "playground": f"/admin/playground?{query}",
            }
        )
    return cards


def summarize_defaults(conn: Connection, project: str) -> dict[str, str]:
    """Who gets a flag of the project that is enabled without an active strategy, by environment."""
    empty = {
        "name": ROLLOUT_TYPE,
        "parameters": {},
        "constraints": [],
        "segments": [],
        "variants": [],
    }
    strategies = {}
    for row in project_environments.list_by_project(conn, project):
        strategy = empty | msgspec.json.decode(row["default_strategy"] or "{}")
        if strategy["name"] == ROLLOUT_TYPE:
            strategy["parameters"] = {"rollout": "100"} | strategy["parameters"]
        strategies[row["environment"]] = strategy
    ids = {id for strategy in strategies.values() for id in strategy["segments"]}
    names = {row["id"]: row["name"] for row in segments.list_by_id(conn, [*ids])} if ids else {}
    return {
        environment: strategy_summaries.summarize_strategy(strategy, names)
        for environment, strategy in strategies.items()
    }


def _find_change(environment: Mapping[str, Any], switches: Sequence[Row]) -> Row | None:
    """The newest event that switched the flag there, None if its state has another cause: it was
    archived and revived, or its project stopped using the environment."""
    type = f"feature-environment-{'enabled' if environment['enabled'] else 'disabled'}"
    newest = next((row for row in switches if row["environment"] == environment["name"]), None)
    return newest if newest and newest["type"] == type else None


def _find_conflict(
    item: Row, release: Mapping[str, Any] | None, now: datetime
) -> dict[str, Any] | None:
    """{id, until} of the release under way that the scheduled change would disturb; `until` is None
    if a person decides when it ends."""
    if not (release and release["is_active"] and item["disturbs"]):
        return None
    until = find_end(release, now)
    if until is not None and until < item["due_at"]:
        return None
    return {"id": release["id"], "until": until}


def _list_rollouts(strategies: Sequence[Mapping[str, Any]]) -> list[str]:
    """The percentages of the gradual rollouts, with those first that a release can raise."""
    rollouts = [
        f"{strategy['parameters'].get('rollout', 0)}%"
        for strategy in strategies
        if strategy["name"] == ROLLOUT_TYPE and not strategy["disabled"]
    ]
    return sorted(rollouts, key="100%".__eq__)
