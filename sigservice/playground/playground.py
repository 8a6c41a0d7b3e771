"""Selects flags of projects in an environment for the playground, and explains them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sigservice.db import Connection
from sigservice.delivery.flag_state import FlagState
from sigservice.errors import require_found
from sigservice.evaluation.fields import Fields
from sigservice.playground.explanation import Explanation, explain
from sigservice.repository.flags import feature_strategies
from sigservice.repository.flags import segments as segment_rows
from sigservice.repository.projects import environments
from sigservice.repository.projects import projects as project_rows
from sigservice.services.flags import strategies
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.problems import Problems

Json = dict[str, Any]


def check_scope(conn: Connection, environment: str, projects: Sequence[str]) -> None:
    """Raises BadDataError for an unknown environment or project (`*`: all)."""
    problems = Problems()
    if environments.find(conn, environment) is None:
        problems.add("environment", f"Environment {environment} not found.")
    ids = project_rows.list_ids(conn) | {"*"}
    for n, project in enumerate(projects):
        if project not in ids:
            problems.add(f"projects[{n}]", f"Project {project} not found.")
    problems.raise_if_any()


def select_flags(state: FlagState, projects: Sequence[str], text: str = "") -> list[Json]:
    """Returns the flags of these projects (`*`: all) whose names contain `text`, by name, in the
    format of the client API."""
    return [
        msgspec.json.decode(flag.text)
        for flag in state.flags
        if ("*" in projects or flag.project in projects) and text.lower() in flag.name.lower()
    ]


def explain_draft(
    conn: Connection,
    state: FlagState,
    target: FeatureEnvironment,
    draft: Json,
    strategy_id: str | None,
    context: Fields,
) -> Explanation:
    """Explains the flag as if it were enabled in the environment and had `draft`, a strategy in
    the format of the admin API, in the place of a strategy or after the others. Raises
    NotFoundError, BadDataError."""
    saved = strategies.list_strategies(conn, target)
    if strategy_id is None:
        saved.append(draft)
    else:
        saved = [draft if strategy["id"] == strategy_id else strategy for strategy in saved]
    active = [strategy for strategy in saved if not strategy["disabled"]]
    flag = require_found(state.flags.find(target.feature), f"Flag {target.feature} is archived.")
    flags = [msgspec.json.decode(flag.text) | {"enabled": True, "strategies": active}]
    (explanation,) = explain_flags(conn, state, flags, context, {target.feature: saved})
    return explanation


def explain_flags(
    conn: Connection,
    state: FlagState,
    flags: Sequence[Json],
    context: Fields,
    drafts: Mapping[str, list[Json]] | None = None,
) -> list[Explanation]:
    """Explains flags of `state`; `drafts` are strategies of flags that replace the stored ones.
    Raises BadDataError when they have too many parts."""
    names = {flag["name"] for flag in flags}
    parent_names = {parent["feature"] for flag in flags for parent in flag.get("dependencies", ())}
    parents = [
        msgspec.json.decode(parent.text)
        for name in sorted(parent_names - names)
        if (parent := state.flags.find(name))
    ]
    by_flag: dict[str, list[Json]] = defaultdict(list)
    for row in feature_strategies.list_by_features(conn, list(names), state.environment):
        by_flag[row["feature"]].append(strategies.to_json(row))
    by_flag.update(drafts or {})
    segments = {id: msgspec.json.decode(text) for id, text in state.segments.items()}
    saved = [strategy for own in by_flag.values() for strategy in own]
    # The state has the segments of active strategies only.
    ids = {id for strategy in saved for id in strategy["segments"]} - segments.keys()
    for row in segment_rows.list_by_id(conn, sorted(ids)) if ids else []:
        constraints = msgspec.json.decode(row["constraints"])
        segments[row["id"]] = {"id": row["id"], "name": row["name"], "constraints": constraints}
    for strategy in saved:  # without the segments that were deleted between the reads
        strategy["segments"] = [id for id in strategy["segments"] if id in segments]
    return explain(flags, parents, segments, by_flag, context)
