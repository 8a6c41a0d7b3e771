"""Checks a snapshot by the rules of all services and collects every finding.

Invalid parts are removed from the result, and so are parts whose meaning would change without them:
a flag whose parent is missing, an environment that lacks one of its strategies. Nothing is read
from or written to the database.
"""

from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from sigservice.services.flags import features, strategies, variants
from sigservice.services.flags.feature_tags import Tag
from sigservice.services.problems import Problems
from sigservice.services.transfer.definition_checker import DefinitionChecker, check_time
from sigservice.services.transfer.snapshots import (
    Feature,
    FeatureState,
    ParentDefinition,
    Snapshot,
    VariantDefinition,
    sort_strategies,
)


@dataclass
class SnapshotChecker(DefinitionChecker):
    """Call `check` once; `findings` explains what was removed."""

    def check(self, snapshot: Snapshot) -> Snapshot:
        """The valid parts in the form in which they are stored."""
        accepted = self.check_definitions(snapshot)
        accepted.features = self._check_features(snapshot.features)
        return accepted

    def _check_features(self, items: list[Feature]) -> list[Feature]:
        """Checks parents before their children; the result has the order of the document."""
        children = {item.name for item in items if item.dependencies}
        self._locations = {
            name: location | {"parent": None} if name in children else location
            for name, location in self.target.locations.items()
        }
        self._parents = {location["parent"] for location in self._locations.values()}
        parents_first = sorted(enumerate(items), key=lambda pair: len(pair[1].dependencies) > 0)
        accepted: dict[int, Feature] = {}
        names: set[str] = set()
        for n, item in parents_first:
            path, problems = f"features[{n}]", Problems()
            if item.name in names:
                problems.add(f"{path}.name", f"{item.name} appears twice.")
            names.add(item.name)
            self._check_location(item, path, problems)
            self._check_parents(item, path, problems)
            problems.check_name(item.name, f"{path}.name")
            problems.check_text(item.description, f"{path}.description", max_length=5000)
            check_time(item.createdAt, f"{path}.createdAt", problems)
            check_time(item.archivedAt, f"{path}.archivedAt", problems)
            of_type = Problems() if self.lenient else problems
            if item.type not in self.target.feature_types:
                of_type.add(f"{path}.type", f"Flag type {item.type} not found.")
            is_valid = not self._add_findings("features", item.name, problems)
            if is_valid and self.lenient and self._add_findings("features", item.name, of_type):
                item = replace(item, type="release")
            if is_valid or not self.lenient:  # otherwise its children would be findings too
                self._add_location(item)
            tags, states = self._check_tags(item, path), self._check_states(item, path)
            if is_valid:
                accepted[n] = replace(item, tags=tags, environments=states)
        active = {name for name, location in self._locations.items() if not location["archived"]}
        self._check_limit("features", active, features.MAX_FEATURES)
        return [accepted[n] for n in sorted(accepted)]

    def _add_location(self, item: Feature) -> None:
        """Makes the flag available as a parent."""
        existing = self._locations.get(item.name, {"parent": None})
        parent = item.dependencies[0].feature if item.dependencies else existing["parent"]
        self._parents.add(parent)
        self._locations[item.name] = {
            "project": item.project,
            "archived": item.archivedAt is not None,
            "parent": parent,
        }

    def _check_tags(self, item: Feature, path: str) -> list[Tag]:
        accepted = []
        for n, tag in enumerate(item.tags):
            problems = Problems()
            self._check_tag(tag, f"{path}.tags[{n}]", problems)
            if not self._add_findings("features", item.name, problems):
                accepted.append(tag)
        return accepted

    def _check_location(self, item: Feature, path: str, problems: Problems) -> None:
        if item.project not in self._links:
            problems.add(f"{path}.project", f"Project {item.project} not found.")
        location = self.target.locations.get(item.name)
        if location is None:
            return
        if location["project"] != item.project:
            text = f"{item.name} already exists in the project {location['project']}."
            problems.add(f"{path}.name", text)
        elif location["archived"] and not item.archivedAt:
            problems.add(f"{path}.name", f"{item.name} is archived; revive it first.")
        elif item.archivedAt and not location["archived"]:
            text = f"{item.name} is archived in the source, but not on this server."
            problems.add(f"{path}.name", text)

    def _check_parents(self, item: Feature, path: str, problems: Problems) -> None:
        dependencies_path = f"{path}.dependencies"
        if len(item.dependencies) > 1:
            problems.add(dependencies_path, "A flag can't have more than one parent.")
        for n, parent in enumerate(item.dependencies):
            text = self._describe_invalid_parent(item, parent)
            if text:
                problems.add(f"{dependencies_path}[{n}].feature", text)
            if parent.variants and not parent.enabled:
                text = "Required variants need an enabled parent."
                problems.add(f"{dependencies_path}[{n}].variants", text)

    def _describe_invalid_parent(self, item: Feature, parent: ParentDefinition) -> str:
        location = self._locations.get(parent.feature)
        if parent.feature == item.name:
            return "A flag can't be its own parent."
        if location is None or location["archived"]:
            return f"Parent flag {parent.feature} not found."
        if location["project"] != item.project:
            return f"{parent.feature} belongs to another project."
        if location["parent"]:
            return f"{parent.feature} has a parent itself: dependencies have one level."
        if item.name in self._parents:
            return f"{item.name} is a parent itself: dependencies have one level."
        return ""

    def _check_states(self, item: Feature, path: str) -> list[FeatureState]:
        accepted: dict[str, FeatureState] = {}
        for n, state in enumerate(item.environments):
            state_path, problems = f"{path}.environments[{n}]", Problems()
            if state.environment in accepted:
                problems.add(f"{state_path}.environment", f"{state.environment} appears twice.")
            if state.environment not in self._links.get(item.project, ()):
                text = f"The project {item.project} has no environment {state.environment}."
                problems.add(f"{state_path}.environment", text)
            checked = [
                self._check_strategy(
                    strategy, item.project, item.name, f"{state_path}.strategies[{s}].", problems
                )
                for s, strategy in enumerate(state.strategies or [])
            ]
            if len(checked) > strategies.MAX_STRATEGIES:
                text = f"There can't be more than {strategies.MAX_STRATEGIES} strategies."
                problems.add(f"{state_path}.strategies", text)
            state_variants = None
            if state.variants is not None:
                rows = variants.check(state.variants, problems, f"{state_path}.variants")
                is_valid = not problems.details
                state_variants = msgspec.convert(rows, list[VariantDefinition]) if is_valid else []
            if not self._add_findings("features", item.name, problems):
                ordered = None if state.strategies is None else sort_strategies(checked)
                accepted[state.environment] = FeatureState(
                    state.environment, state.enabled, state_variants, ordered
                )
        return list(accepted.values())
