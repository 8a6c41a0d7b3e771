"""Selects flags of projects in an environment for the playground, and explains them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from sigservice.db.pool import Connection
from sigservice.evaluation.fields import Fields
from sigservice.flags.explanation import Explanation, explain
from sigservice.repository.flags import feature_strategies
from sigservice.repository.projects import environments
from sigservice.repository.projects import projects as repository
from sigservice.services.flags import client_features, strategies
from sigservice.services.flags.client_features import Query
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
    if not environments.list_all(conn, environment):
        problems.add("environment", f"Environment {environment} not found.")
    ids = repository.list_ids(conn) | {"*"}
    for n, project in enumerate(projects):
        if project not in ids:
            problems.add(f"projects[{n}]", f"Project {project} not found.")
    problems.raise_if_any()
    document = msgspec.json.decode(client_features.build_document(conn, Query(environment), 0))
    flags = [
        flag
        for flag in document["features"]
        if ("*" in projects or flag["project"] in projects) and text.lower() in flag["name"].lower()
    ]
    return Selection(environment, flags, document)


def explain_flags(
    conn: Connection, selection: Selection, context: Fields, limit: int
) -> list[Explanation]:
    """Explains the first `limit` flags. Raises BadDataError when they have too many parts."""
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
    return explain(flags, parents, segments, by_flag, context)
