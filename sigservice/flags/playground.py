"""Reads what is asked to be explained: the flags of projects in an environment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from sigservice.db.pool import Connection
from sigservice.flags.evaluation_context import make_context
from sigservice.flags.explanation import Explanation, explain
from sigservice.flags.random_stickiness import Context
from sigservice.repository.flags import feature_strategies
from sigservice.repository.projects import environments
from sigservice.repository.projects import projects as repository
from sigservice.services.flags import client_features, strategies
from sigservice.services.flags.client_features import Query
from sigservice.services.problems import Problems

Json = dict[str, Any]


@dataclass(frozen=True)
class Selection:
    """Flags of an environment by name; `document` is the client API's, of all of them."""

    environment: str
    flags: list[Json]
    document: Json


def build_context(given: Mapping[str, Any], environment: str, path: str = "") -> Context:
    """As make_context, but an address that is not given is absent."""
    made = make_context(given, environment=environment, remote_address="", path=path)
    return {name: value for name, value in made.items() if value != ""}


def select_flags(
    conn: Connection, environment: str, projects: Sequence[str], text: str = ""
) -> Selection:
    """The flags of these projects (`*`: all) whose names hold `text`. Raises BadDataError for an
    environment or projects that there are not."""
    problems = Problems()
    if not environments.list_all(conn, environment):
        problems.add("environment", f"There is no environment {environment}.")
    known = repository.list_ids(conn) | {"*"}
    for n, project in enumerate(projects):
        if project not in known:
            problems.add(f"projects[{n}]", f"There is no project {project}.")
    problems.raise_if_any()
    document = msgspec.json.decode(client_features.build(conn, Query(environment), 0))
    found = [
        flag
        for flag in document["features"]
        if ("*" in projects or flag["project"] in projects) and text.lower() in flag["name"].lower()
    ]
    return Selection(environment, found, document)


def explain_flags(
    conn: Connection, selection: Selection, context: Context, most: int
) -> list[Explanation]:
    """The first `most` of them. Raises BadDataError when that is too much at once."""
    flags, document = selection.flags[:most], selection.document
    names = {flag["name"] for flag in flags}
    wanted = {parent["feature"] for flag in flags for parent in flag.get("dependencies", ())}
    parents = [flag for flag in document["features"] if flag["name"] in wanted - names]
    segments = {segment["id"]: segment for segment in document["segments"]}
    by_flag: dict[str, list[Json]] = defaultdict(list)
    for row in feature_strategies.list_by_features(conn, list(names), selection.environment):
        # One that was assigned between the two reads is not in the document.
        asked = [id for id in row["segments"] if id in segments]
        by_flag[row["feature"]].append(strategies.to_json(row | {"segments": asked}))
    return explain(flags, parents, segments, by_flag, context)
