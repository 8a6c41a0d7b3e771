"""Whether definitions can be imported: the rules that the services of each kind have.

What breaks a rule is left out of what comes back. Nothing is read or written here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from sigservice.errors import BadDataError
from sigservice.services.flags import constraints, segments, strategies
from sigservice.services.flags.feature_tags import Tag
from sigservice.services.problems import Problems
from sigservice.services.projects import (
    context_fields,
    environments,
    projects,
    strategy_types,
    tag_types,
)
from sigservice.services.transfer.snapshots import (
    ContextField,
    Environment,
    Inventory,
    Link,
    Project,
    Segment,
    Strategy,
    StrategyType,
    TagType,
)

LIMIT = "limit"  # the kind of a finding that nothing can be left out for
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
Item = TypeVar("Item")


@dataclass(frozen=True)
class Finding:
    """Something that can't be imported: `item` is the thing's name, `path` where it stands."""

    kind: str
    item: str
    path: str
    message: str


@dataclass(frozen=True)
class Ground:
    """What there is already, and the configured limits."""

    have: Inventory
    places: dict[str, dict[str, Any]]
    feature_types: frozenset[str]
    segment_values: int
    strategy_segments: int


@dataclass
class DefinitionCheck:
    """Environments, projects, context fields, strategy types, tags and segments."""

    ground: Ground
    lenient: bool = False  # carries a flag of an unknown type as a release flag
    findings: list[Finding] = field(default_factory=list)

    def definitions(self, wanted: Inventory) -> Inventory:
        """What is left of everything but the flags, in the form that is stored."""
        have = self.ground.have
        kept = Inventory()
        kept.environments = self._each("environments", wanted.environments, self._environment)
        self._environments = _names(have.environments) | _names(kept.environments)
        self._limit("environments", self._environments, environments.MAX_ENVIRONMENTS)
        kept.contextFields = self._each("contextFields", wanted.contextFields, self._context_field)
        kept.strategyTypes = self._each("strategyTypes", wanted.strategyTypes, self._strategy_type)
        self._types = _names(have.strategyTypes) | _names(kept.strategyTypes)
        kept.tagTypes = self._each("tagTypes", wanted.tagTypes, self._tag_type)
        self._tag_types = _names(have.tagTypes) | _names(kept.tagTypes)
        kept.tags = self._each(
            "tags", wanted.tags, self._tag, lambda tag: f"{tag.type}:{tag.value}"
        )
        self._projects = {project.id for project in have.projects}
        named = self._each("projects", wanted.projects, self._project, lambda p: p.id)
        self._projects |= {project.id for project in named}
        kept.segments = self._each("segments", wanted.segments, self._segment)
        self._segments = {item.name: item.project for item in (*have.segments, *kept.segments)}
        self._limit("segments", self._segments.keys(), segments.MOST_SEGMENTS)
        places = {project.id: n for n, project in enumerate(wanted.projects)}
        kept.projects = [self._linked(item, f"projects[{places[item.id]}]") for item in named]
        self._links = {p.id: {link.environment for link in p.environments} for p in have.projects}
        for project in kept.projects:
            links = self._links.setdefault(project.id, set())
            links |= {link.environment for link in project.environments}
        self._limit("projects", set(self._links), projects.MAX_PROJECTS)
        return kept

    def _each(
        self,
        kind: str,
        items: Sequence[Item],
        check: Callable[[Item, str, Problems], Item],
        name: Callable[[Any], str] = lambda item: item.name,
    ) -> list[Item]:
        kept: dict[str, Item] = {}
        for n, item in enumerate(items):
            problems, path = Problems(), f"{kind}[{n}]"
            if name(item) in kept:
                problems.add(path, f"{name(item)} is there twice.")
            checked = check(item, path, problems)
            if not self._take(kind, name(item), problems):
                kept[name(item)] = checked
        return list(kept.values())

    def _take(self, kind: str, item: str, problems: Problems) -> bool:
        """Whether there was anything."""
        for found in problems.details:
            self.findings.append(Finding(kind, item, found["path"], found["message"]))
        return bool(problems.details)

    def _limit(self, kind: str, names: Collection[str], most: int) -> None:
        if len(names) > most:
            text = f"There can't be more than {most} {kind}."
            self.findings.append(Finding(LIMIT, kind, kind, text))

    def _environment(self, item: Environment, path: str, problems: Problems) -> Environment:
        problems.check_name(item.name, f"{path}.name")
        problems.check_text(item.type, f"{path}.type", min_length=1, max_length=100)
        _check_order(item.sortOrder, problems, path)
        return item

    def _context_field(self, item: ContextField, path: str, problems: Problems) -> ContextField:
        problems.check_name(item.name, f"{path}.name")
        _check_order(item.sortOrder, problems, path)
        with _below(path, problems):
            kept = context_fields.fields(item.description, item.stickiness, 0, item.legalValues)
            return replace(item, description=kept.description)
        return item

    def _strategy_type(self, item: StrategyType, path: str, problems: Problems) -> StrategyType:
        problems.check_text(item.name, f"{path}.name", min_length=1, max_length=100)
        _check_order(item.sortOrder, problems, path)
        with _below(path, problems):
            parameters = [msgspec.to_builtins(parameter) for parameter in item.parameters]
            kept = strategy_types.fields(item.title, item.description, parameters)
            return replace(item, title=kept.title, description=kept.description)
        return item

    def _tag_type(self, item: TagType, path: str, problems: Problems) -> TagType:
        problems.check_name(item.name, f"{path}.name", min_length=2, max_length=50)
        with _below(path, problems):
            kept = tag_types.fields(item.description, item.icon, item.color)
            return replace(item, description=kept.description, icon=kept.icon, color=kept.color)
        return item

    def _tag(self, tag: Tag, path: str, problems: Problems) -> Tag:
        if tag.type not in self._tag_types:
            problems.add(f"{path}.type", f"There is no tag type {tag.type}.")
        if not 2 <= len(tag.value) <= 50 or tag.value != tag.value.strip():
            text = "A tag's value has 2 to 50 characters and no blanks around it."
            problems.add(f"{path}.value", text)
        return tag

    def _segment(self, item: Segment, path: str, problems: Problems) -> Segment:
        problems.check_text(item.name, f"{path}.name", min_length=1, max_length=200)
        if item.name != item.name.strip():
            problems.add(f"{path}.name", "A segment's name has no blanks around it.")
        problems.check_text(item.description, f"{path}.description", max_length=1000)
        if item.project is not None and item.project not in self._projects:
            problems.add(f"{path}.project", f"There is no project {item.project}.")
        most = self.ground.segment_values
        at = f"{path}.constraints"
        stored = constraints.check(item.constraints, problems, at, most_values=most)
        if sum(len(constraint["values"]) for constraint in stored) > most:
            problems.add(at, f"A segment can't have more than {most} values.")
        if problems.details:
            return item
        return replace(item, constraints=msgspec.convert(stored, list[constraints.Constraint]))

    def _project(self, item: Project, path: str, problems: Problems) -> Project:
        problems.check_name(item.id, f"{path}.id")
        with _below(path, problems):
            kept = projects.fields(item.name, item.description, item.mode, item.defaultStickiness)
            item = replace(item, name=kept.name, description=kept.description)
        return item

    def _linked(self, item: Project, path: str) -> Project:
        """With the environments that there are. A default strategy that breaks a rule is left out:
        it decides nothing before somebody switches a flag on."""
        links = []
        for n, link in enumerate(item.environments):
            at, problems = f"{path}.environments[{n}]", Problems()
            if link.environment not in self._environments:
                problems.add(f"{at}.environment", f"There is no environment {link.environment}.")
            if self._take("projects", item.id, problems):
                continue
            strategy = link.defaultStrategy
            if strategy is not None:
                given = strategy.parameters  # kept: what is missing depends on the flag
                strategy = self._strategy(strategy, item.id, "", f"{at}.defaultStrategy.", problems)
                strategy = replace(strategy, id=None, parameters=given)
                if self._take("projects", item.id, problems):
                    strategy = None
            links.append(Link(link.environment, strategy))
        return replace(item, environments=links)

    def _strategy(
        self, wanted: Strategy, project: str, feature: str, path: str, problems: Problems
    ) -> Strategy:
        """`path` ends with a dot."""
        ours = strategies.Strategy(
            wanted.name,
            wanted.title,
            wanted.disabled,
            wanted.sortOrder,
            wanted.constraints,
            wanted.parameters,
            list(wanted.variants),
        )
        before = len(problems.details)
        stored = strategies.check(ours, feature, problems, path, types=self._types)
        names = sorted(set(wanted.segments))
        for name in names:
            if name not in self._segments:
                problems.add(f"{path}segments", f"There is no segment {name}.")
            elif self._segments[name] not in (None, project):
                text = f"The segment {name} belongs to another project."
                problems.add(f"{path}segments", text)
        if len(names) > self.ground.strategy_segments:
            text = f"A strategy can't have more than {self.ground.strategy_segments} segments."
            problems.add(f"{path}segments", text)
        if len(problems.details) > before:
            return wanted
        id = wanted.id if wanted.id and _ID.fullmatch(wanted.id) else None
        more = {"id": id, "segments": names, "sortOrder": wanted.sortOrder}
        return msgspec.convert(stored | more, Strategy)


@contextmanager
def _below(path: str, problems: Problems) -> Iterator[None]:
    """What a service refuses in the block goes to `problems`."""
    try:
        yield
    except BadDataError as error:
        for found in error.details:
            problems.add(f"{path}.{found['path']}", found["message"])


def _names(items: Sequence[Any]) -> set[str]:
    return {item.name for item in items}


def _check_order(order: int, problems: Problems, path: str) -> None:
    if not -(2**31) <= order < 2**31:
        problems.add(f"{path}.sortOrder", "The sort order is a whole number of 32 bits.")
