"""Snapshots: all flags and their definitions at one moment, for export, comparison and import.

The structs are the file format of `sigservice export` (docs/import-export.md). Segments are
referenced by name, because IDs differ between servers. Tokens, users and usage are excluded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from sigservice.db import Connection, Row
from sigservice.repository.flags import feature_dependencies, feature_strategies, feature_tags
from sigservice.repository.projects import tags
from sigservice.repository.transfer import definitions
from sigservice.services.definitions import read_row
from sigservice.services.flags import segments, variants
from sigservice.services.flags.constraints import Constraint
from sigservice.services.flags.feature_tags import Tag
from sigservice.services.flags.features import Metadata
from sigservice.services.flags.strategies import Scalar, to_json
from sigservice.services.projects import (
    context_fields,
    environments,
    projects,
    strategy_types,
    tag_types,
)
from sigservice.services.projects.context_fields import ContextField
from sigservice.services.projects.environments import Environment
from sigservice.services.projects.strategy_types import StrategyType
from sigservice.services.projects.tag_types import TagType

VERSION = 1


class VariantDefinition(variants.Variant, omit_defaults=False):
    """A variant as it is stored, with all members that SDKs expect."""


class StrategyFields(msgspec.Struct):
    name: str
    id: str | None = None
    title: str | None = None
    disabled: bool = False
    sortOrder: int | None = None
    parameters: dict[str, Scalar] = {}
    constraints: list[Constraint] = []
    variants: list[VariantDefinition] = []


class NumberedStrategy(StrategyFields):
    """A strategy with the IDs of segments, as other servers send it."""

    segments: list[int] = []

    def name_segments(self, find_name: Callable[[int], str]) -> StrategyDefinition:
        values = {name: getattr(self, name) for name in StrategyFields.__struct_fields__}
        return StrategyDefinition(**values, segments=[find_name(id) for id in self.segments])


class StrategyDefinition(StrategyFields):
    """A strategy with the names of segments."""

    segments: list[str] = []


class ProjectEnvironment(msgspec.Struct):
    """An environment that a project uses."""

    environment: str
    defaultStrategy: StrategyDefinition | None = None


class Project(projects.Project, kw_only=True):
    environments: list[ProjectEnvironment] = msgspec.field(default_factory=list)


class SegmentDefinition(segments.Segment, kw_only=True):
    constraints: list[Constraint] = msgspec.field(default_factory=list)
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


class Feature(Metadata, kw_only=True):
    """Tags, dependencies and environments that aren't listed don't change."""

    name: str
    project: str
    archivedAt: datetime | None = None
    createdAt: datetime | None = None
    createdBy: str | None = None
    tags: list[Tag] = msgspec.field(default_factory=list)
    dependencies: list[ParentDefinition] = msgspec.field(default_factory=list)
    environments: list[FeatureState] = msgspec.field(default_factory=list)


class IntegrationDefinition(msgspec.Struct, omit_defaults=True):
    """`source` is the installation or server and its ID there. Masked parameters are secrets that
    are set on that server."""

    source: str
    provider: str
    events: list[str]
    name: str | None = None
    description: str | None = None
    parameters: dict[str, Any] = {}
    projects: list[str] = []
    environments: list[str] = []

    @property
    def label(self) -> str:
        """For example webhook "Announce"."""
        text = self.name or self.description
        return f'{self.provider} "{text}"' if text else self.provider


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
    integrations: list[IntegrationDefinition] | msgspec.UnsetType = msgspec.UNSET


def read_snapshot(conn: Connection, names: list[str] | None = None) -> Snapshot:
    """All definitions, and the flags with these names, or all flags. The snapshot is consistent
    under `revisions.lock` and in a snapshot transaction."""
    segment_rows = definitions.list_segments(conn)
    segment_names = {row["id"]: row["name"] for row in segment_rows}
    return Snapshot(
        environments=environments.KIND.read_all(conn),
        projects=_read_projects(conn, segment_names),
        contextFields=context_fields.KIND.read_all(conn),
        strategyTypes=strategy_types.KIND.read_all(conn),
        tagTypes=tag_types.KIND.read_all(conn),
        tags=[read_row(Tag, row) for row in tags.list_all(conn)],
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


def _read_projects(conn: Connection, segment_names: dict[int, str]) -> list[Project]:
    links: dict[str, list[ProjectEnvironment]] = defaultdict(list)
    for row in definitions.list_project_environments(conn):
        text = row["default_strategy"]
        strategy = _read_strategy(msgspec.json.decode(text), segment_names) if text else None
        links[row["project"]].append(ProjectEnvironment(row["environment"], strategy))
    return [
        Project(**msgspec.structs.asdict(item), environments=links[item.id])
        for item in sorted(projects.KIND.read_all(conn), key=lambda item: item.id)
    ]


def _read_strategy(strategy: dict[str, Any], segment_names: dict[int, str]) -> StrategyDefinition:
    """The definition of a strategy in the format of the API."""
    segments = [segment_names[id] for id in strategy.get("segments") or [] if id in segment_names]
    return msgspec.convert(strategy | {"segments": sorted(segments)}, StrategyDefinition)


def _build_segment(row: Row) -> SegmentDefinition:
    return SegmentDefinition(
        **msgspec.structs.asdict(read_row(segments.Segment, row)),
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
            **msgspec.structs.asdict(read_row(Metadata, row)),
            name=row["name"],
            project=row["project"],
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
        strategies[row["feature"], row["environment"]].append(
            _read_strategy(to_json(row), segment_names)
        )
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


def _to_utc(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None
