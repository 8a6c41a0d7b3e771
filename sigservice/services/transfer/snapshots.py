"""Snapshots: all flags and their definitions at one moment, for export, comparison and import.

The structs are the file format of `sigservice export` (docs/import-export.md). Segments are
referenced by name, because IDs differ between servers. Tokens, users and usage are excluded.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.repository.flags import feature_dependencies, feature_strategies, feature_tags
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


class ParameterDefinition(msgspec.Struct):
    name: str
    type: str
    description: str = ""
    required: bool = False


class StrategyType(msgspec.Struct):
    name: str
    title: str | None = None
    description: str | None = None
    parameters: list[ParameterDefinition] = []
    deprecated: bool = False
    sortOrder: int = 9999


class TagType(msgspec.Struct):
    name: str
    description: str | None = None
    icon: str | None = None
    color: str | None = None


class VariantDefinition(variants.Variant, omit_defaults=False):
    """In the form in which it is stored, with all members that SDKs expect."""


class StrategyDefinition(msgspec.Struct):
    name: str
    id: str | None = None
    title: str | None = None
    disabled: bool = False
    sortOrder: int | None = None
    parameters: dict[str, Scalar] = {}
    constraints: list[Constraint] = []
    variants: list[VariantDefinition] = []
    segments: list[str] = []


class ProjectEnvironment(msgspec.Struct):
    """An environment that a project uses."""

    environment: str
    defaultStrategy: StrategyDefinition | None = None


class Project(msgspec.Struct):
    id: str
    name: str
    description: str | None = None
    mode: Literal["open", "protected", "private"] = "open"
    defaultStickiness: str = "default"
    environments: list[ProjectEnvironment] = []


class SegmentDefinition(msgspec.Struct):
    name: str
    description: str | None = None
    project: str | None = None
    constraints: list[Constraint] = []
    createdAt: datetime | None = None
    createdBy: str | None = None


class ParentDefinition(msgspec.Struct):
    feature: str
    enabled: bool = True
    variants: list[str] = []


class FeatureState(msgspec.Struct):
    """A flag in an environment. None keeps the existing value; a new flag is disabled and empty."""

    environment: str
    enabled: bool | None = None
    variants: list[VariantDefinition] | None = None
    strategies: list[StrategyDefinition] | None = None


class Feature(msgspec.Struct):
    """Tags, dependencies and environments that aren't listed don't change."""

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
    dependencies: list[ParentDefinition] = []
    environments: list[FeatureState] = []


class Snapshot(msgspec.Struct):
    format: Literal["sigservice"] = "sigservice"
    version: Literal[1] = 1
    environments: list[Environment] = []
    projects: list[Project] = []
    contextFields: list[ContextField] = []
    strategyTypes: list[StrategyType] = []
    tagTypes: list[TagType] = []
    tags: list[Tag] = []
    segments: list[SegmentDefinition] = []
    features: list[Feature] = []


def read_snapshot(conn: Connection, names: list[str] | None = None) -> Snapshot:
    """All definitions and the flags with these names, all flags without names. It is consistent
    under `revisions.lock` and in a snapshot transaction."""
    segment_rows = definitions.list_segments(conn)
    segment_names = {row["id"]: row["name"] for row in segment_rows}
    return Snapshot(
        environments=[Environment(**row) for row in definitions.list_environments(conn)],
        projects=_read_projects(conn, segment_names),
        contextFields=[
            ContextField(**_decode_fields(row, legalValues=list[LegalValue]))
            for row in definitions.list_context_fields(conn)
        ],
        strategyTypes=[
            StrategyType(**_decode_fields(row, parameters=list[ParameterDefinition]))
            for row in definitions.list_strategy_types(conn)
        ],
        tagTypes=[TagType(**row) for row in definitions.list_tag_types(conn)],
        tags=[Tag(**row) for row in definitions.list_tags(conn)],
        segments=[_build_segment(row) for row in segment_rows],
        features=_read_features(conn, definitions.list_features(conn, names), segment_names),
    )


def get_name(item: Any) -> str:
    """The name of a definition: a tag is type:value, a project has its ID."""
    if isinstance(item, Tag):
        return f"{item.type}:{item.value}"
    return str(item.id if isinstance(item, Project) else item.name)


def sort_strategies(strategies: Iterable[StrategyDefinition]) -> list[StrategyDefinition]:
    """The strategies by sort order; ambiguous sort orders are renumbered."""
    in_order = sorted(strategies, key=lambda s: 2**31 if s.sortOrder is None else s.sortOrder)
    orders = [strategy.sortOrder for strategy in in_order]
    if None in orders or len(set(orders)) < len(orders):
        return [msgspec.structs.replace(s, sortOrder=n) for n, s in enumerate(in_order)]
    return in_order


def _decode_fields(row: Row, **kinds: Any) -> dict[str, Any]:
    return row | {name: msgspec.json.decode(row[name], type=kinds[name]) for name in kinds}


def _read_projects(conn: Connection, segment_names: dict[int, str]) -> list[Project]:
    links: dict[str, list[ProjectEnvironment]] = defaultdict(list)
    for row in definitions.list_project_environments(conn):
        text = row["default_strategy"]
        strategy = _parse_default_strategy(text, segment_names) if text else None
        links[row["project"]].append(ProjectEnvironment(row["environment"], strategy))
    rows = definitions.list_projects(conn)
    return [Project(**row, environments=links[row["id"]]) for row in rows]


def _parse_default_strategy(text: str, segment_names: dict[int, str]) -> StrategyDefinition:
    strategy = msgspec.json.decode(text)
    segments = [segment_names[id] for id in strategy.get("segments") or [] if id in segment_names]
    return msgspec.convert(strategy | {"segments": segments}, StrategyDefinition)


def _build_segment(row: Row) -> SegmentDefinition:
    fields = {name: row[name] for name in ("name", "description", "project")}
    return SegmentDefinition(
        **fields,
        constraints=msgspec.json.decode(row["constraints"], type=list[Constraint]),
        createdAt=_to_utc(row["created_at"]),
        createdBy=row["created_by"],
    )


def _read_features(
    conn: Connection, rows: list[Row], segment_names: dict[int, str]
) -> list[Feature]:
    names = [row["name"] for row in rows]
    tags: dict[str, list[Tag]] = defaultdict(list)
    for row in feature_tags.list_by_features(conn, names):
        tags[row["feature"]].append(Tag(row["type"], row["value"]))
    parents: dict[str, list[ParentDefinition]] = defaultdict(list)
    for row in feature_dependencies.list_related(conn, names):
        variants = msgspec.json.decode(row["variants"], type=list[str])
        parents[row["child"]].append(ParentDefinition(row["parent"], row["enabled"], variants))
    states = _read_states(conn, names, segment_names)
    return [
        Feature(
            name=row["name"],
            project=row["project"],
            type=row["type"],
            description=row["description"],
            stale=row["stale"],
            impressionData=row["impression_data"],
            archivedAt=_to_utc(row["archived_at"]),
            createdAt=_to_utc(row["created_at"]),
            createdBy=row["created_by"],
            tags=tags[row["name"]],
            dependencies=parents[row["name"]],
            environments=states.get(row["name"], []),
        )
        for row in rows
    ]


def _read_states(
    conn: Connection, names: list[str], segment_names: dict[int, str]
) -> dict[str, list[FeatureState]]:
    """The states by flag, without environments in which nothing is set."""
    strategies: dict[tuple[str, str], list[StrategyDefinition]] = defaultdict(list)
    for row in feature_strategies.list_by_features(conn, names):
        strategies[row["feature"], row["environment"]].append(_build_strategy(row, segment_names))
    states: dict[tuple[str, str], FeatureState] = {}
    for row in definitions.list_states(conn, names):
        state_variants = msgspec.json.decode(row["variants"], type=list[VariantDefinition])
        place = (row["feature"], row["environment"])
        if row["enabled"] or state_variants or place in strategies:
            states[place] = FeatureState(row["environment"], row["enabled"], state_variants, [])
    for place, items in strategies.items():
        state = states.setdefault(place, FeatureState(place[1], False, [], []))
        state.strategies = sort_strategies(items)
    by_feature: dict[str, list[FeatureState]] = defaultdict(list)
    for feature, environment in sorted(states):
        by_feature[feature].append(states[feature, environment])
    return by_feature


def _build_strategy(row: Row, segment_names: dict[int, str]) -> StrategyDefinition:
    return StrategyDefinition(
        name=row["name"],
        id=row["id"],
        title=row["title"],
        disabled=row["disabled"],
        sortOrder=row["sort_order"],
        parameters=msgspec.json.decode(row["parameters"]),
        constraints=msgspec.json.decode(row["constraints"], type=list[Constraint]),
        variants=msgspec.json.decode(row["variants"], type=list[VariantDefinition]),
        segments=sorted(segment_names[id] for id in row["segments"]),
    )


def _to_utc(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None
