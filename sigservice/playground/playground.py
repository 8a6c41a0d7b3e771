"""Selects flags of projects in an environment for the playground, and explains them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from sigservice.db.pool import Connection
from sigservice.evaluation.fields import Fields
from sigservice.playground.explanation import Explanation, explain
from sigservice.repository.flags import feature_strategies
from sigservice.repository.projects import environments
from sigservice.repository.projects import projects as repository
from sigservice.services.flags import client_features, strategies
from sigservice.services.flags.client_features import Query
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.problems import Problems

Json = dict[str, Any]


@dataclass(frozen=True)
class Selection:
    """Flags of an environment by name; `document` is the client API's, of all flags."""

    environment: str
    flags: list[Json]
    document: Json


def select_flags(
    conn: Connection, environment: str, projects: Sequence[str], text: str = ""
) -> Selection:
    """Returns the flags of these projects (`*`: all) whose names contain `text`. Raises
    BadDataError for an unknown environment or project."""
    problems = Problems()
    if environments.find(conn, environment) is None:
        problems.add("environment", f"Environment {environment} not found.")
    ids = repository.list_ids(conn) | {"*"}
    for n, project in enumerate(projects):
        if project not in ids:
            problems.add(f"projects[{n}]", f"Project {project} not found.")
    problems.raise_if_any()
    document = msgspec.json.decode(client_features.build_document(conn, Query(environment))[1])
    flags = [
        flag
        for flag in document["features"]
        if ("*" in projects or flag["project"] in projects) and text.lower() in flag["name"].lower()
    ]
    return Selection(environment, flags, document)


def explain_draft(
    conn: Connection,
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
    selection = select_flags(conn, target.environment, [target.project], target.feature)
    active = [strategy for strategy in saved if not strategy["disabled"]]
    flags = [
        flag | {"enabled": True, "strategies": active}
        for flag in selection.flags
        if flag["name"] == target.feature
    ]
    selection = replace(selection, flags=flags)
    (explanation,) = explain_flags(conn, selection, context, 1, {target.feature: saved})
    return explanation


def explain_flags(
    conn: Connection,
    selection: Selection,
    context: Fields,
    limit: int,
    drafts: Mapping[str, list[Json]] | None = None,
) -> list[Explanation]:
    """Explains the first `limit` flags; `drafts` are strategies of flags that replace the stored
    ones. Raises BadDataError when they have too many parts."""
    flags, document = selection.flags[:limit], selection.document
    names = {flag["name"] for flag in flags}
    parent_names = {parent["feature"] for flag in flags for parent in flag.get("dependencies", ())}
    parents = [flag for flag in document["features"] if flag["name"] in parent_names - names]
    segments = {segment["id"]: segment for segment in document["segments"]}
    by_flag: dict[str, list[Json]] = defaultdict(list)
    for row in feature_strategies.list_by_features(conn, list(names), selection.environment):
        # The document lacks a segment that was assigned between the two reads.
        ids = [id for id in row["segments"] if id in segments]
        by_flag[row["feature"]].append(strategies.to_json(row | {"segments": ids}))
    by_flag.update(drafts or {})
    return explain(flags, parents, segments, by_flag, context)
