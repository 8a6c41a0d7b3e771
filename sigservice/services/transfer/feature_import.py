"""Takes the exchange format in: the flags of one environment into a project's environment.

Flags that are there get the strategies of the document instead of theirs in that environment;
context fields, tag types and segments are matched by name and stay as they are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import msgspec

from sigservice.db.pool import Connection
from sigservice.errors import BadDataError, NotFoundError
from sigservice.services.flags.constraints import Constraint
from sigservice.services.flags.feature_tags import Tag
from sigservice.services.flags.strategies import Scalar
from sigservice.services.identity import Identity
from sigservice.services.system import events
from sigservice.services.transfer.definition_check import Finding, Ground
from sigservice.services.transfer.snapshot_check import Check
from sigservice.services.transfer.snapshot_import import Limits, look_around, refuse
from sigservice.services.transfer.snapshot_write import Changes, Writer
from sigservice.services.transfer.snapshots import (
    ContextField,
    Feature,
    Inventory,
    Parent,
    Segment,
    State,
    Strategy,
    StrategyType,
    TagType,
    Variant,
)


class DocumentFeature(msgspec.Struct):
    name: str
    type: str = "release"
    description: str | None = None
    stale: bool = False
    impressionData: bool = False
    archived: bool = False


class DocumentStrategy(msgspec.Struct):
    """`strategyName` is how older servers spell `name`."""

    featureName: str
    name: str = ""
    strategyName: str = ""
    id: str | None = None
    title: str | None = None
    disabled: bool = False
    environment: str | None = None
    sortOrder: int | None = None
    parameters: dict[str, Scalar] = {}
    constraints: list[Constraint] = []
    variants: list[Variant] = []
    segments: list[int] = []


class DocumentEnvironment(msgspec.Struct):
    featureName: str
    enabled: bool = False
    environment: str | None = None
    variants: list[Variant] = []


class DocumentTag(msgspec.Struct):
    """`tag` is how older servers wrote the pair."""

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
    dependencies: list[Parent] = []


class StrategySegment(msgspec.Struct):
    featureStrategyId: str
    segmentId: int


class Document(msgspec.Struct):
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


def parse(data: Mapping[str, Any]) -> Document:
    """Lenient: unknown members and nulls are left out, "5" is a number where one is wanted.

    Raises BadDataError whose detail names the path.
    """
    try:
        return msgspec.convert(without_nulls(data), Document, strict=False)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at ")
        path = "data" + path.strip("`").removeprefix("$")
        raise BadDataError(message, path=path) from error


def without_nulls(value: Any) -> Any:
    """Members that are null are as good as absent."""
    if isinstance(value, Mapping):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def validate(
    conn: Connection, project: str, environment: str, document: Document, limits: Limits
) -> dict[str, Any]:
    """{errors, warnings, permissions}: what would stand in the way of an import, and what to know
    before. Raises NotFoundError for the project, BadDataError for the environment."""
    ground, reading = _prepare(conn, project, environment, document, limits)
    check = Check(ground)
    check.run(reading.wanted)
    there = [item.name for item in document.features if item.name in ground.places]
    text = f"These flags exist already; their strategies in {environment} will be replaced."
    return {
        "errors": _grouped([*reading.findings, *check.findings]),
        "warnings": [{"message": text, "affectedItems": there}] if there else [],
        "permissions": [],
    }


def take(
    conn: Connection,
    project: str,
    environment: str,
    document: Document,
    by: Identity,
    limits: Limits,
) -> Changes:
    """Everything or nothing. Raises as `validate` does, and BadDataError with all that is wrong."""
    ground, reading = _prepare(conn, project, environment, document, limits)
    check = Check(ground)
    kept = check.run(reading.wanted)
    refuse([*reading.findings, *(reading.as_sent(found) for found in check.findings)])
    changes = Writer(conn, ground.have, by, overwrite=False).write(kept)
    if changes.made:
        data = {"features": [item.name for item in kept.features]}
        events.record(
            conn, "features-imported", by, data=data, project=project, environment=environment
        )
    return changes


def _prepare(
    conn: Connection, project: str, environment: str, document: Document, limits: Limits
) -> tuple[Ground, _Reading]:
    ground = look_around(conn, [item.name for item in document.features], limits)
    links = {item.id: item.environments for item in ground.have.projects}
    if project not in links:
        raise NotFoundError(f"There is no project {project}.")
    if environment not in {link.environment for link in links[project]}:
        raise BadDataError(
            f"The project {project} has no environment {environment}.", path="environment"
        )
    return ground, _Reading(document, ground.have, project, environment)


def _grouped(findings: list[Finding]) -> list[dict[str, Any]]:
    groups: dict[str, dict[str, None]] = defaultdict(dict)
    for found in findings:
        groups[found.message][found.item] = None
    return [{"message": text, "affectedItems": list(items)} for text, items in groups.items()]


class _Reading:
    """A document as an inventory: `wanted`. `findings` are what does not fit together in it."""

    def __init__(self, document: Document, have: Inventory, project: str, environment: str) -> None:
        self.findings: list[Finding] = []
        self._origins: dict[str, str] = {}
        self._document, self._project, self._environment = document, project, environment
        self.wanted = Inventory(
            contextFields=self._new("contextFields", document.contextFields, have.contextFields),
            tagTypes=self._new("tagTypes", document.tagTypes, have.tagTypes),
            strategyTypes=self._new("strategies", document.strategies, have.strategyTypes),
            segments=self._segments(have),
            features=[self._feature(n, item) for n, item in enumerate(document.features)],
        )
        self._by_name = {item.name: n for n, item in enumerate(self.wanted.features)}
        self._read_environments()
        self._read_strategies()
        self._read_tags()
        self._read_parents()

    def as_sent(self, found: Finding) -> Finding:
        """With the path in the document instead of the one in the inventory."""
        path = found.path
        for cut in range(len(path), 0, -1):
            if path[:cut] in self._origins and path[cut : cut + 1] in ("", ".", "["):
                path = self._origins[path[:cut]] + path[cut:]
                break
        return Finding(found.kind, found.item, path, found.message)

    def _new(self, kind: str, items: list[Any], have: list[Any]) -> list[Any]:
        """Those that are not there yet."""
        there = {item.name for item in have}
        kept: list[Any] = []
        for n, item in enumerate(items):
            if item.name not in there:
                ours = "strategyTypes" if kind == "strategies" else kind
                self._origins[f"{ours}[{len(kept)}]"] = f"data.{kind}[{n}]"
                kept.append(item)
        return kept

    def _segments(self, have: Inventory) -> list[Segment]:
        there = {item.name for item in have.segments}
        kept: list[Segment] = []
        for n, item in enumerate(self._document.segments):
            if item.name not in there and item.constraints is not None:
                self._origins[f"segments[{len(kept)}]"] = f"data.segments[{n}]"
                kept.append(Segment(item.name, item.description, None, item.constraints))
        return kept

    def _feature(self, n: int, item: DocumentFeature) -> Feature:
        self._origins[f"features[{n}]"] = f"data.features[{n}]"
        if item.archived:
            text = f"{item.name} is archived in the document."
            self.findings.append(
                Finding("features", item.name, f"data.features[{n}].archived", text)
            )
        return Feature(
            name=item.name,
            project=self._project,
            type=item.type,
            description=item.description,
            stale=item.stale,
            impressionData=item.impressionData,
            environments=[State(self._environment, strategies=[])],
        )

    def _find(self, name: str, path: str) -> tuple[Feature, str] | None:
        n = self._by_name.get(name)
        if n is None:
            text = f"The document has no flag {name}."
            self.findings.append(Finding("features", name, path, text))
            return None
        return self.wanted.features[n], f"features[{n}]"

    def _read_environments(self) -> None:
        for n, item in enumerate(self._document.featureEnvironments):
            origin = f"data.featureEnvironments[{n}]"
            found = self._find(item.featureName, f"{origin}.featureName")
            if found:
                (state,) = found[0].environments
                state.enabled, state.variants = item.enabled, item.variants
                self._origins[f"{found[1]}.environments[0]"] = origin

    def _read_strategies(self) -> None:
        names = {item.id: item.name for item in self._document.segments}
        more: dict[str, list[int]] = defaultdict(list)
        for pair in self._document.featureStrategySegments:
            more[pair.featureStrategyId].append(pair.segmentId)
        times = Counter(item.id for item in self._document.featureStrategies)
        sources = {item.environment for item in self._document.featureStrategies}
        if len(sources) > 1:
            text = "The strategies are of several environments; export one."
            self.findings.append(
                Finding("features", self._environment, "data.featureStrategies", text)
            )
        for n, item in enumerate(self._document.featureStrategies):
            origin = f"data.featureStrategies[{n}]"
            found = self._find(item.featureName, f"{origin}.featureName")
            if item.id in more and times[item.id] > 1:
                text = f"Segments refer to the strategy {item.id}, which is there twice."
                self.findings.append(Finding("features", item.featureName, f"{origin}.id", text))
                continue
            ids = [*item.segments, *more.get(item.id or "", ())]
            missing = next((id for id in ids if id not in names), None)
            if missing is not None:
                text = f"The document has no segment {missing}."
                finding = Finding("features", item.featureName, f"{origin}.segments", text)
                self.findings.append(finding)
            if found:
                (state,) = found[0].environments
                assert state.strategies is not None
                self._origins[f"{found[1]}.environments[0].strategies[{len(state.strategies)}]"] = (
                    origin
                )
                state.strategies.append(
                    Strategy(
                        name=item.name or item.strategyName,
                        title=item.title,
                        disabled=item.disabled,
                        sortOrder=item.sortOrder,
                        parameters=item.parameters,
                        constraints=item.constraints,
                        variants=item.variants,
                        segments=[names[id] for id in ids if id in names],
                    )
                )

    def _read_tags(self) -> None:
        for n, item in enumerate(self._document.featureTags):
            origin = f"data.featureTags[{n}]"
            found = self._find(item.featureName, f"{origin}.featureName")
            if found:
                self._origins[f"{found[1]}.tags[{len(found[0].tags)}]"] = origin
                found[0].tags.append(item.tag or Tag(item.tagType or "simple", item.tagValue))

    def _read_parents(self) -> None:
        for n, item in enumerate(self._document.dependencies):
            origin = f"data.dependencies[{n}]"
            found = self._find(item.feature, f"{origin}.feature")
            if found:
                self._origins[f"{found[1]}.dependencies"] = f"{origin}.dependencies"
                found[0].dependencies += item.dependencies
