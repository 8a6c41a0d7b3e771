"""Everything that makes flags what they are, as one value: what is exported, compared, imported.

The structs are the file format of `sigservice export` (docs/import-export.md). Segments are
referenced by name, because IDs differ between servers. Tokens, users and usage are excluded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.repository.flags import (
    feature_dependencies,
    feature_strategies,
    feature_tags,
)
from sigservice.repository.transfer import definitions
from sigservice.services.flags import variants
from sigservice.services.flags.constraints import Constraint
from sigservice.services.flags.feature_tags import Tag
from sigservice.services.flags.strategies import Scalar
from sigservice.services.projects.context_fields import LegalValue

VERSION = 1


class Environment(msgspec.Struct):
    name: str
    type: str = "production"
    sortOrder: int = 9999
    enabled: bool = True
    protected: bool = False


class ContextField(msgspec.Struct):
    name: str
    description: str | None = None
    stickiness: bool = False
    sortOrder: int = 10
    legalValues: list[LegalValue] = []


class Parameter(msgspec.Struct):
    name: str
    type: str
    description: str = ""
    required: bool = False


class StrategyType(msgspec.Struct):
    name: str
    title: str | None = None
    description: str | None = None
    parameters: list[Parameter] = []
    deprecated: bool = False
    sortOrder: int = 9999


class TagType(msgspec.Struct):
    name: str
    description: str | None = None
    icon: str | None = None
    color: str | None = None


class Variant(variants.Variant, omit_defaults=False):
    """As it is stored: with every member that SDKs want."""


class Strategy(msgspec.Struct):
    name: str
    id: str | None = None
    title: str | None = None
    disabled: bool = False
    sortOrder: int | None = None
    parameters: dict[str, Scalar] = {}
    constraints: list[Constraint] = []
    variants: list[Variant] = []
    segments: list[str] = []


class Link(msgspec.Struct):
    """An environment that a project uses."""

    environment: str
    defaultStrategy: Strategy | None = None


class Project(msgspec.Struct):
    id: str
    name: str
    description: str | None = None
    mode: Literal["open", "protected", "private"] = "open"
    defaultStickiness: str = "default"
    environments: list[Link] = []


class Segment(msgspec.Struct):
    name: str
    description: str | None = None
    project: str | None = None
    constraints: list[Constraint] = []
    createdAt: datetime | None = None
    createdBy: str | None = None


class Parent(msgspec.Struct):
    feature: str
    enabled: bool = True
    variants: list[str] = []


class State(msgspec.Struct):
    """A flag in an environment. None: as it is there; off and without, for a new flag."""

    environment: str
    enabled: bool | None = None
    variants: list[Variant] | None = None
    strategies: list[Strategy] | None = None


class Feature(msgspec.Struct):
    """What is not among `tags`, `dependencies` and `environments` stays as it is."""

    name: str
    project: str
    type: str = "release"
    description: str | None = None
    stale: bool = False
    impressionData: bool = False
    archivedAt: datetime | None = None
    createdAt: datetime | None = None
    createdBy: str | None = None
    tags: list[Tag] = []
    dependencies: list[Parent] = []
    environments: list[State] = []


class Inventory(msgspec.Struct):
    format: Literal["sigservice"] = "sigservice"
    version: Literal[1] = 1
    environments: list[Environment] = []
    projects: list[Project] = []
    contextFields: list[ContextField] = []
    strategyTypes: list[StrategyType] = []
    tagTypes: list[TagType] = []
    tags: list[Tag] = []
    segments: list[Segment] = []
    features: list[Feature] = []


def read(conn: Connection, names: list[str] | None = None) -> Inventory:
    """What there is; of the flags those with these names, without names all. Under
    `revisions.lock`, and in a snapshot, it is one consistent state."""
    segment_rows = definitions.list_segments(conn)
    segment_names = {row["id"]: row["name"] for row in segment_rows}
    return Inventory(
        environments=[Environment(**row) for row in definitions.list_environments(conn)],
        projects=_projects(conn, segment_names),
        contextFields=[
            ContextField(**_decoded(row, legalValues=list[LegalValue]))
            for row in definitions.list_context_fields(conn)
        ],
        strategyTypes=[
            StrategyType(**_decoded(row, parameters=list[Parameter]))
            for row in definitions.list_strategy_types(conn)
        ],
        tagTypes=[TagType(**row) for row in definitions.list_tag_types(conn)],
        tags=[Tag(**row) for row in definitions.list_tags(conn)],
        segments=[_segment(row) for row in segment_rows],
        features=_features(conn, definitions.list_features(conn, names), segment_names),
    )


def in_order(strategies: Iterable[Strategy]) -> list[Strategy]:
    """Sorted, with sort orders that leave no doubt."""
    listed = sorted(strategies, key=lambda s: 2**31 if s.sortOrder is None else s.sortOrder)
    orders = [strategy.sortOrder for strategy in listed]
    if None in orders or len(set(orders)) < len(orders):
        return [msgspec.structs.replace(s, sortOrder=n) for n, s in enumerate(listed)]
    return listed


def _decoded(row: Row, **kinds: Any) -> dict[str, Any]:
    return row | {name: msgspec.json.decode(row[name], type=kinds[name]) for name in kinds}


def _projects(conn: Connection, segment_names: dict[int, str]) -> list[Project]:
    links: dict[str, list[Link]] = defaultdict(list)
    for row in definitions.list_project_environments(conn):
        stored = row["default_strategy"]
        strategy = _default_strategy(stored, segment_names) if stored else None
        links[row["project"]].append(Link(row["environment"], strategy))
    rows = definitions.list_projects(conn)
    return [Project(**row, environments=links[row["id"]]) for row in rows]


def _default_strategy(text: str, segment_names: dict[int, str]) -> Strategy:
    stored = msgspec.json.decode(text)
    known = [segment_names[id] for id in stored.get("segments") or [] if id in segment_names]
    return msgspec.convert(stored | {"segments": known}, Strategy)


def _segment(row: Row) -> Segment:
    kept = {name: row[name] for name in ("name", "description", "project")}
    return Segment(
        **kept,
        constraints=msgspec.json.decode(row["constraints"], type=list[Constraint]),
        createdAt=_utc(row["created_at"]),
        createdBy=row["created_by"],
    )


def _features(conn: Connection, rows: list[Row], segment_names: dict[int, str]) -> list[Feature]:
    names = [row["name"] for row in rows]
    tags: dict[str, list[Tag]] = defaultdict(list)
    for row in feature_tags.list_by_features(conn, names):
        tags[row["feature"]].append(Tag(row["type"], row["value"]))
    parents: dict[str, list[Parent]] = defaultdict(list)
    for row in feature_dependencies.list_related(conn, names):
        wanted = msgspec.json.decode(row["variants"], type=list[str])
        parents[row["child"]].append(Parent(row["parent"], row["enabled"], wanted))
    states = _states(conn, names, segment_names)
    return [
        Feature(
            name=row["name"],
            project=row["project"],
            type=row["type"],
            description=row["description"],
            stale=row["stale"],
            impressionData=row["impression_data"],
            archivedAt=_utc(row["archived_at"]),
            createdAt=_utc(row["created_at"]),
            createdBy=row["created_by"],
            tags=tags[row["name"]],
            dependencies=parents[row["name"]],
            environments=states.get(row["name"], []),
        )
        for row in rows
    ]


def _states(
    conn: Connection, names: list[str], segment_names: dict[int, str]
) -> dict[str, list[State]]:
    """By flag; an environment where nothing is set is left out."""
    strategies: dict[tuple[str, str], list[Strategy]] = defaultdict(list)
    for row in feature_strategies.list_by_features(conn, names):
        strategies[row["feature"], row["environment"]].append(_strategy(row, segment_names))
    found: dict[tuple[str, str], State] = {}
    for row in definitions.list_states(conn, names):
        stored = msgspec.json.decode(row["variants"], type=list[Variant])
        place = (row["feature"], row["environment"])
        if row["enabled"] or stored or place in strategies:
            found[place] = State(row["environment"], row["enabled"], stored, [])
    for place, listed in strategies.items():
        state = found.setdefault(place, State(place[1], False, [], []))
        state.strategies = in_order(listed)
    by_feature: dict[str, list[State]] = defaultdict(list)
    for feature, environment in sorted(found):
        by_feature[feature].append(found[feature, environment])
    return by_feature


def _strategy(row: Row, segment_names: dict[int, str]) -> Strategy:
    return Strategy(
        name=row["name"],
        id=row["id"],
        title=row["title"],
        disabled=row["disabled"],
        sortOrder=row["sort_order"],
        parameters=msgspec.json.decode(row["parameters"]),
        constraints=msgspec.json.decode(row["constraints"], type=list[Constraint]),
        variants=msgspec.json.decode(row["variants"], type=list[Variant]),
        segments=sorted(segment_names[id] for id in row["segments"]),
    )


def _utc(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None
