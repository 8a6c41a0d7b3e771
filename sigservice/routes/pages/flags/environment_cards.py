"""What the page of a flag shows of an environment: the answer, strategies, what is planned."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from sigservice.db import Connection, Row
from sigservice.repository.flags import segments
from sigservice.repository.projects import project_environments
from sigservice.routes.pages.flags.flag_answers import make_answer, name_alert
from sigservice.routes.pages.release_sentences import find_end
from sigservice.services import strategy_summaries
from sigservice.web.helpers import join_path

ROLLOUT_TYPE = "flexibleRollout"
EVERYONE = "100% of users"


def make_card(
    feature: dict[str, Any],
    environment: dict[str, Any],
    segment_names: Mapping[int, str],
    now: datetime,
    *,
    alerts: Sequence[Row],
    switches: Sequence[Row],
    release: Mapping[str, Any] | None,
    scheduled: Sequence[Row],
    parents: Sequence[str],
    default: str,
) -> dict[str, Any]:
    """`alerts` are the runs that keep the flag on or off for an alert, newest first; `switches` the
    newest events that switched it; `scheduled` are the views of what is due,
    `parents` those that keep the flag from its users, and `default` who gets a flag that is turned
    on without an active strategy."""
    path, name = join_path("/admin/features", feature["name"], "environments"), environment["name"]
    moved_id = release["strategyId"] if release and release["state"] == "running" else None
    alert = next((row for row in alerts if row["environment"] == name), None)
    card = environment | {
        "strategies": [
            strategy
            | {
                "sentence": strategy_summaries.describe_strategy(strategy, segment_names),
                "variant_text": " · ".join(
                    f"{variant['weight'] / 10:.3g}% {variant['name']}"
                    for variant in strategy["variants"]
                ),
                "label": f"strategy {number} in {name}",
                "copies": [
                    other["name"] for other in feature["environments"] if other["name"] != name
                ],
                "path": join_path(path, name, "strategies", strategy["id"]),
                "is_moving": strategy["id"] == moved_id,
                "is_first": number == 1,
                "is_last": number == len(environment["strategies"]),
            }
            for number, strategy in enumerate(environment["strategies"], 1)
        ],
        "variants": strategy_summaries.summarize_variants(environment["variants"]),
        "scheduled": [
            item | {"conflict": _find_conflict(item, release, now)}
            for item in scheduled
            if name in item["environments"]
        ],
        "alert": alert,
        "alert_name": name_alert(alert) if alert else "",
        "release": release,
        "default": "Everyone" if default == EVERYONE else default,
        "change": _find_change(environment, switches),
        "path": join_path(path, name),
        "release_form": join_path(path, name, "releases", "new"),
    }
    return card | {
        "answer": make_answer(
            card,
            alert=alert,
            release=release,
            parents=parents,
            is_archived=feature["archived"],
            now=now,
        )
    }


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
