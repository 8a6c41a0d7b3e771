"""Checks the definitions of an import (all but flags) by the rules of their services.

Invalid parts are removed from the result. Nothing is read from or written to the database.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from sigservice.services.definitions import merge
from sigservice.services.flags import segments, strategies
from sigservice.services.flags.feature_tags import Tag
from sigservice.services.problems import Problems
from sigservice.services.projects import (
    context_fields,
    environments,
    projects,
    strategy_types,
    tag_types,
)
from sigservice.services.projects.strategy_types import StrategyType
from sigservice.services.transfer.snapshots import (
    Project,
    ProjectEnvironment,
    SegmentDefinition,
    Snapshot,
    StrategyDefinition,
    get_name,
)
from sigservice.wording import plural

LIMIT = "limit"  # the kind of a finding that stops every import
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
Item = TypeVar("Item")


@dataclass(frozen=True)
class Finding:
    """A reason why an item can't be imported; `path` is the place in the imported data."""

    kind: str
    item: str
    path: str
    message: str


@dataclass(frozen=True)
class ImportTarget:
    """The existing definitions and the configured limits; `locations` has project, archive state
    and parent of each flag by its name."""

    existing: Snapshot
    locations: dict[str, dict[str, Any]]
    feature_types: frozenset[str]
    max_segment_values: int
    max_strategy_segments: int


@dataclass
class DefinitionChecker:
    """Checks environments, projects, context fields, strategy types, tags and segments."""

    target: ImportTarget
    lenient: bool = False  # a flag of an unknown type becomes a release flag
    findings: list[Finding] = field(default_factory=list)

    def check_definitions(self, snapshot: Snapshot) -> Snapshot:
        """The valid definitions, without flags, in the form in which they are stored."""
        existing, accepted = self.target.existing, Snapshot()
        check = partial(self._check_each, snapshot)
        accepted.environments = check("environments", environments.KIND.check_imported)
        self._environments = _list_names(existing.environments, accepted.environments)
        self._check_limit("environments", self._environments, environments.MAX_ENVIRONMENTS)
        accepted.contextFields = check("contextFields", context_fields.KIND.check_imported)
        accepted.strategyTypes = check("strategyTypes", self._check_strategy_type)
        self._types = _list_names(existing.strategyTypes, accepted.strategyTypes)
        accepted.tagTypes = check("tagTypes", tag_types.KIND.check_imported)
        self._tag_types = _list_names(existing.tagTypes, accepted.tagTypes)
        accepted.tags = check("tags", self._check_tag)
        valid_projects = check("projects", projects.KIND.check_imported)
        self._projects = _list_names(existing.projects, valid_projects)
        accepted.segments = check("segments", self._check_segment)
        self._segments = {
            item.name: item.project for item in (*existing.segments, *accepted.segments)
        }
        self._check_limit("segments", self._segments.keys(), segments.MAX_SEGMENTS)
        indexes = {project.id: n for n, project in enumerate(snapshot.projects)}
        accepted.projects = [
            self._check_project_environments(project, f"projects[{indexes[project.id]}]")
            for project in valid_projects
        ]
        self._links: dict[str, set[str]] = {}
        for project in (*existing.projects, *accepted.projects):
            links = self._links.setdefault(project.id, set())
            links |= {link.environment for link in project.environments}
        self._check_limit("projects", self._links.keys(), projects.MAX_PROJECTS)
        return accepted

    def _check_each(
        self, snapshot: Snapshot, kind: str, check: Callable[[Any, str, Problems], Item]
    ) -> list[Item]:
        accepted: dict[str, Item] = {}
        for n, item in enumerate(getattr(snapshot, kind)):
            problems, path, name = Problems(), f"{kind}[{n}]", get_name(item)
            if name in accepted:
                problems.add(path, f"{name} appears twice.")
            checked = check(item, path, problems)
            if not self._add_findings(kind, name, problems):
                accepted[name] = checked
        return list(accepted.values())

    def _add_findings(self, kind: str, item: str, problems: Problems) -> bool:
        """Adds the problems as findings; returns whether there were any."""
        for problem in problems.details:
            self.findings.append(Finding(kind, item, problem["path"], problem["message"]))
        return bool(problems.details)

    def _check_limit(self, kind: str, names: Collection[str], maximum: int) -> None:
        if len(names) > maximum:
            text = f"There can't be more than {maximum} {kind}."
            self.findings.append(Finding(LIMIT, kind, kind, text))

    def _check_strategy_type(
        self, item: StrategyType, path: str, problems: Problems
    ) -> StrategyType:
        problems.check_text(item.name, f"{path}.name", min_length=1, max_length=100)
        return strategy_types.check(item, problems, f"{path}.")

    def _check_tag(self, tag: Tag, path: str, problems: Problems) -> Tag:
        if tag.type not in self._tag_types:
            problems.add(f"{path}.type", f"Tag type {tag.type} not found.")
        if not 2 <= len(tag.value) <= 50 or tag.value != tag.value.strip():
            text = "A tag's value must have 2 to 50 characters without surrounding blanks."
            problems.add(f"{path}.value", text)
        return tag

    def _check_segment(
        self, item: SegmentDefinition, path: str, problems: Problems
    ) -> SegmentDefinition:
        if item.name != item.name.strip():
            problems.add(f"{path}.name", "A segment's name must have no surrounding blanks.")
        if item.project is not None and item.project not in self._projects:
            problems.add(f"{path}.project", f"Project {item.project} not found.")
        check_time(item.createdAt, f"{path}.createdAt", problems)
        maximum = self.target.max_segment_values
        return segments.check(item, problems, f"{path}.", max_values=maximum)

    def _check_project_environments(self, item: Project, path: str) -> Project:
        """The project with the environments that exist. An invalid default strategy is removed: it
        has no effect until a user enables a flag."""
        links = []
        for n, link in enumerate(item.environments):
            link_path, problems = f"{path}.environments[{n}]", Problems()
            if link.environment not in self._environments:
                text = f"Environment {link.environment} not found."
                problems.add(f"{link_path}.environment", text)
            if self._add_findings("projects", item.id, problems):
                continue
            strategy = link.defaultStrategy
            if strategy is not None:
                # Missing parameters stay missing: their defaults depend on the flag.
                parameters, strategy_path = strategy.parameters, f"{link_path}.defaultStrategy."
                strategy = self._check_strategy(strategy, item.id, "", strategy_path, problems)
                strategy = replace(strategy, id=None, parameters=parameters)
                if self._add_findings("projects", item.id, problems):
                    strategy = None
            links.append(ProjectEnvironment(link.environment, strategy))
        return replace(item, environments=links)

    def _check_strategy(
        self,
        definition: StrategyDefinition,
        project: str,
        feature: str,
        path: str,
        problems: Problems,
    ) -> StrategyDefinition:
        """`path` ends with a dot."""
        strategy = merge(strategies.Strategy(definition.name), definition)
        problems_before = len(problems.details)
        checked = strategies.check(strategy, feature, problems, path, types=self._types)
        names = sorted(set(definition.segments))
        for name in names:
            if name not in self._segments:
                problems.add(f"{path}segments", f"Segment {name} not found.")
            elif self._segments[name] not in (None, project):
                text = f"Segment {name} belongs to another project."
                problems.add(f"{path}segments", text)
        maximum = self.target.max_strategy_segments
        if len(names) > maximum:
            text = f"A strategy can't have more than {plural(maximum, 'segment')}."
            problems.add(f"{path}segments", text)
        if len(problems.details) > problems_before:
            return definition
        id = definition.id if definition.id and _ID.fullmatch(definition.id) else None
        own = {"id": id, "segments": names, "sortOrder": definition.sortOrder}
        return msgspec.convert(checked | own, StrategyDefinition)


def check_time(moment: datetime | None, path: str, problems: Problems) -> None:
    """Refuses a time that can be stored, in UTC, but not be read."""
    try:
        if moment is not None:
            moment.astimezone(UTC)
    except OverflowError:
        problems.add(path, "The time must be in the years 1 to 9999 in UTC.")


def _list_names(*items: Sequence[Any]) -> set[str]:
    return {get_name(item) for item in chain(*items)}
