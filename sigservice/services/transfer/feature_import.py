"""Imports flags of one environment, in the format of feature_export, into a project's environment.

The document's strategies replace those of existing flags in that environment. Context fields, tag
types and segments are matched by name; existing ones don't change.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from sigservice.db import Connection
from sigservice.errors import BadDataError, NotFoundError
from sigservice.services.definitions import merge
from sigservice.services.flags import feature_naming
from sigservice.services.flags.constraints import Constraint
from sigservice.services.flags.feature_naming import FeatureNaming, find_mismatch
from sigservice.services.flags.feature_tags import Tag
from sigservice.services.flags.features import Metadata
from sigservice.services.identity import Identity
from sigservice.services.projects.context_fields import ContextField
from sigservice.services.projects.strategy_types import StrategyType
from sigservice.services.projects.tag_types import TagType
from sigservice.services.system import events
from sigservice.services.transfer.definition_checker import Finding, ImportTarget
from sigservice.services.transfer.snapshot_checker import SnapshotChecker
from sigservice.services.transfer.snapshot_import import (
    ImportLimits,
    lock_target,
    raise_findings,
    restore_path,
)
from sigservice.services.transfer.snapshot_writer import ImportChanges, OnWritten, SnapshotWriter
from sigservice.services.transfer.snapshots import (
    Feature,
    FeatureState,
    NumberedStrategy,
    ParentDefinition,
    SegmentDefinition,
    Snapshot,
    VariantDefinition,
)


class DocumentFeature(Metadata, kw_only=True):
    name: str
    archived: bool = False


class DocumentStrategy(NumberedStrategy, kw_only=True):
    """Older servers write `strategyName` instead of `name`."""

    featureName: str
    name: str = ""
    strategyName: str = ""
    environment: str | None = None


class DocumentEnvironment(msgspec.Struct):
    featureName: str
    enabled: bool = False
    environment: str | None = None
    variants: list[VariantDefinition] = []


class DocumentTag(msgspec.Struct):
    """Older servers write `tag` instead of the pair."""

    featureName: str
    tagType: str = ""
    tagValue: str = ""
    tag: Tag | None = None


class DocumentSegment(msgspec.Struct):
    id: int
    name: str
    description: str | None = None
    constraints: list[Constraint] | None = None


class DocumentParents(msgspec.Struct):
    feature: str
    dependencies: list[ParentDefinition] = []


class StrategySegment(msgspec.Struct):
    featureStrategyId: str
    segmentId: int


class FeatureDocument(msgspec.Struct):
    features: list[DocumentFeature]
    featureStrategies: list[DocumentStrategy] = []
    featureEnvironments: list[DocumentEnvironment] = []
    contextFields: list[ContextField] = []
    featureTags: list[DocumentTag] = []
    segments: list[DocumentSegment] = []
    tagTypes: list[TagType] = []
    dependencies: list[DocumentParents] = []
    strategies: list[StrategyType] = []
    featureStrategySegments: list[StrategySegment] = []


def parse_document(data: Mapping[str, Any]) -> FeatureDocument:
    """Ignores unknown members and nulls and reads "5" as a number where one is expected.

    Raises BadDataError with the path.
    """
    try:
        return msgspec.convert(remove_nulls(data), FeatureDocument, strict=False)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at ")
        path = "data" + path.strip("`").removeprefix("$")
        raise BadDataError(message, path=path) from error


def remove_nulls(value: Any) -> Any:
    """The value without members that are null."""
    if isinstance(value, Mapping):
        return {key: remove_nulls(item) for key, item in value.items() if item is not None}
    return [remove_nulls(item) for item in value] if isinstance(value, list) else value


def validate_import(
    conn: Connection,
    project: str,
    environment: str,
    document: FeatureDocument,
    limits: ImportLimits,
) -> dict[str, Any]:
    """{errors, warnings, permissions}: what prevents the import, and what it replaces. Raises
    NotFoundError for the project, BadDataError for the environment."""
    target, reader = _prepare(conn, project, environment, document, limits)
    checker = SnapshotChecker(target)
    checker.check(reader.snapshot)
    existing = [item.name for item in document.features if item.name in target.locations]
    text = f"These flags already exist; their strategies in {environment} will be replaced."
    return {
        "errors": _group_findings([*reader.findings, *checker.findings]),
        "warnings": [{"message": text, "affectedItems": existing}] if existing else [],
        "permissions": [],
    }


def import_features(
    conn: Connection,
    project: str,
    environment: str,
    document: FeatureDocument,
    by: Identity,
    limits: ImportLimits,
    on_written: OnWritten = bool,
) -> ImportChanges:
    """Imports everything or nothing. Raises as `validate_import` does, and BadDataError with all
    findings."""
    target, reader = _prepare(conn, project, environment, document, limits)
    checker = SnapshotChecker(target)
    accepted = checker.check(reader.snapshot)
    raise_findings([*reader.findings, *map(reader.restore_path, checker.findings)])
    writer = SnapshotWriter(conn, target.existing, by, overwrite=False, on_written=on_written)
    changes = writer.write(accepted)
    if changes.entries:
        data = {"features": [item.name for item in accepted.features]}
        events.record(
            conn, "features-imported", by, data=data, project=project, environment=environment
        )
    return changes


def _prepare(
    conn: Connection,
    project: str,
    environment: str,
    document: FeatureDocument,
    limits: ImportLimits,
) -> tuple[ImportTarget, _DocumentReader]:
    target = lock_target(conn, [item.name for item in document.features], limits)
    links = {item.id: item.environments for item in target.existing.projects}
    if project not in links:
        raise NotFoundError(f"Project {project} not found.")
    if environment not in {link.environment for link in links[project]}:
        raise BadDataError(
            f"The project {project} has no environment {environment}.", path="environment"
        )
    reader = _DocumentReader(document, target.existing, project, environment)
    reader.check_naming(feature_naming.read(conn, project), target.locations)
    return target, reader


def _group_findings(findings: list[Finding]) -> list[dict[str, Any]]:
    items_by_text: dict[str, dict[str, None]] = defaultdict(dict)
    for finding in findings:
        items_by_text[finding.message][finding.item] = None
    return [
        {"message": text, "affectedItems": list(items)} for text, items in items_by_text.items()
    ]


class _DocumentReader:
    """Converts a document to a `snapshot`; `findings` are its inconsistencies."""

    def __init__(
        self, document: FeatureDocument, existing: Snapshot, project: str, environment: str
    ) -> None:
        self.findings: list[Finding] = []
        self._paths: dict[str, str] = {}  # in the document, by path in the snapshot
        self._document, self._project, self._environment = document, project, environment
        self.snapshot = Snapshot(
            contextFields=self._read_new(
                "contextFields", document.contextFields, existing.contextFields
            ),
            tagTypes=self._read_new("tagTypes", document.tagTypes, existing.tagTypes),
            strategyTypes=self._read_new("strategies", document.strategies, existing.strategyTypes),
            segments=self._read_segments(existing),
            features=[self._read_feature(n, item) for n, item in enumerate(document.features)],
        )
        self._indexes = {item.name: n for n, item in enumerate(self.snapshot.features)}
        self._read_environments()
        self._read_strategies()
        self._read_tags()
        self._read_parents()

    def check_naming(self, naming: FeatureNaming, existing: Collection[str]) -> None:
        """Adds findings for new flags whose name the project doesn't allow."""
        for n, item in enumerate(self._document.features):
            if item.name not in existing and (text := find_mismatch(naming, item.name)):
                self._add_finding(item.name, f"data.features[{n}].name", text)

    def restore_path(self, finding: Finding) -> Finding:
        """The finding with the path in the document instead of the path in the snapshot."""
        path = restore_path(finding.path, self._paths)
        return Finding(finding.kind, finding.item, path, finding.message)

    def _read_new(self, kind: str, items: list[Any], existing: list[Any]) -> list[Any]:
        """The items that don't exist yet."""
        names = {item.name for item in existing}
        new: list[Any] = []
        for n, item in enumerate(items):
            if item.name not in names:
                snapshot_kind = "strategyTypes" if kind == "strategies" else kind
                self._paths[f"{snapshot_kind}[{len(new)}]"] = f"data.{kind}[{n}]"
                new.append(item)
        return new

    def _read_segments(self, existing: Snapshot) -> list[SegmentDefinition]:
        names = {item.name for item in existing.segments}
        new: list[SegmentDefinition] = []
        for n, item in enumerate(self._document.segments):
            if item.name not in names and item.constraints is not None:
                self._paths[f"segments[{len(new)}]"] = f"data.segments[{n}]"
                new.append(
                    SegmentDefinition(
                        name=item.name, description=item.description, constraints=item.constraints
                    )
                )
        return new

    def _read_feature(self, n: int, item: DocumentFeature) -> Feature:
        self._paths[f"features[{n}]"] = f"data.features[{n}]"
        if item.archived:
            text = f"{item.name} is archived in the document."
            self._add_finding(item.name, f"data.features[{n}].archived", text)
        feature = Feature(
            name=item.name,
            project=self._project,
            environments=[FeatureState(self._environment, strategies=[])],
        )
        return merge(feature, item)

    def _add_finding(self, item: str, path: str, message: str) -> None:
        self.findings.append(Finding("features", item, path, message))

    def _find_feature(self, name: str, path: str) -> tuple[Feature, str] | None:
        """The flag with its path in the snapshot."""
        n = self._indexes.get(name)
        if n is None:
            self._add_finding(name, path, f"The document has no flag {name}.")
            return None
        return self.snapshot.features[n], f"features[{n}]"

    def _read_environments(self) -> None:
        for n, item in enumerate(self._document.featureEnvironments):
            path = f"data.featureEnvironments[{n}]"
            if match := self._find_feature(item.featureName, f"{path}.featureName"):
                feature, feature_path = match
                (state,) = feature.environments
                state.enabled, state.variants = item.enabled, item.variants
                self._paths[f"{feature_path}.environments[0]"] = path

    def _read_strategies(self) -> None:
        names = {item.id: item.name for item in self._document.segments}
        segment_ids: dict[str, list[int]] = defaultdict(list)
        for pair in self._document.featureStrategySegments:
            segment_ids[pair.featureStrategyId].append(pair.segmentId)
        counts = Counter(item.id for item in self._document.featureStrategies)
        sources = {item.environment for item in self._document.featureStrategies}
        if len(sources) > 1:
            text = "The strategies are of several environments; export a single environment."
            self._add_finding(self._environment, "data.featureStrategies", text)
        for n, item in enumerate(self._document.featureStrategies):
            path = f"data.featureStrategies[{n}]"
            match = self._find_feature(item.featureName, f"{path}.featureName")
            if item.id in segment_ids and counts[item.id] > 1:
                text = f"Segments refer to the strategy {item.id}, which appears twice."
                self._add_finding(item.featureName, f"{path}.id", text)
                continue
            ids = [*item.segments, *segment_ids.get(item.id or "", ())]
            missing = next((id for id in ids if id not in names), None)
            if missing is not None:
                text = f"The document has no segment {missing}."
                self._add_finding(item.featureName, f"{path}.segments", text)
            if match:
                feature, feature_path = match
                (state,) = feature.environments
                assert state.strategies is not None
                index = len(state.strategies)
                self._paths[f"{feature_path}.environments[0].strategies[{index}]"] = path
                item.name = item.name or item.strategyName
                item.id, item.segments = None, [id for id in ids if id in names]
                state.strategies.append(item.name_segments(names.__getitem__))
        for feature in self.snapshot.features:
            (state,) = feature.environments
            if state.enabled is None and all(it.disabled for it in state.strategies or []):
                state.enabled = False  # otherwise it would be on for everyone

    def _read_tags(self) -> None:
        for n, item in enumerate(self._document.featureTags):
            path = f"data.featureTags[{n}]"
            if match := self._find_feature(item.featureName, f"{path}.featureName"):
                feature, feature_path = match
                self._paths[f"{feature_path}.tags[{len(feature.tags)}]"] = path
                feature.tags.append(item.tag or Tag(item.tagType or "simple", item.tagValue))

    def _read_parents(self) -> None:
        for n, item in enumerate(self._document.dependencies):
            path = f"data.dependencies[{n}]"
            if match := self._find_feature(item.feature, f"{path}.feature"):
                feature, feature_path = match
                self._paths[f"{feature_path}.dependencies"] = f"{path}.dependencies"
                feature.dependencies += item.dependencies
