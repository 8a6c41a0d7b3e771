"""Whether what somebody wants to import can be: every rule of every service, all findings at once.

What breaks a rule is left out of what comes back, together with what would mean something else
without it: a flag whose parent is missing would be on when it should not be, an environment that
lacks one of its strategies too. Nothing is read or written here.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from sigservice.services.flags import features, strategies, variants
from sigservice.services.flags.feature_tags import Tag
from sigservice.services.problems import Problems
from sigservice.services.transfer.definition_check import DefinitionCheck
from sigservice.services.transfer.snapshots import (
    Feature,
    Inventory,
    Parent,
    State,
    Variant,
    in_order,
)


@dataclass
class Check(DefinitionCheck):
    """`run` once; `findings` tells what was left out."""

    def run(self, wanted: Inventory) -> Inventory:
        """What is left of it, in the form that is stored."""
        kept = self.definitions(wanted)
        kept.features = self._features(wanted.features)
        return kept

    def _features(self, wanted: list[Feature]) -> list[Feature]:
        """Parents before their children, back in the order of the document."""
        replaced = {item.name for item in wanted if item.dependencies}
        self._places = {
            name: place | {"parent": None} if name in replaced else place
            for name, place in self.ground.places.items()
        }
        self._parents = {place["parent"] for place in self._places.values()}
        ordered = sorted(enumerate(wanted), key=lambda pair: len(pair[1].dependencies) > 0)
        kept: dict[int, Feature] = {}
        taken: set[str] = set()
        for n, item in ordered:
            path, problems = f"features[{n}]", Problems()
            if item.name in taken:
                problems.add(f"{path}.name", f"{item.name} is there twice.")
            taken.add(item.name)
            self._check_place(item, path, problems)
            self._check_parents(item, path, problems)
            problems.check_name(item.name, f"{path}.name")
            problems.check_text(item.description, f"{path}.description", max_length=5000)
            if not self.lenient:
                self._check_type(item, path, problems)
            is_good = not self._take("features", item.name, problems)
            if is_good and self.lenient:
                self._check_type(item, path, problems)
                if self._take("features", item.name, problems):
                    item = replace(item, type="release")
            if is_good or not self.lenient:  # or else its children were told of too
                self._settle(item)
            tags, states = self._tags(item, path), self._states(item, path)
            if is_good:
                kept[n] = replace(item, tags=tags, environments=states)
        alive = {name for name, place in self._places.items() if not place["archived"]}
        self._limit("features", alive, features.MOST_FEATURES)
        return [kept[n] for n in sorted(kept)]

    def _check_type(self, item: Feature, path: str, problems: Problems) -> None:
        if item.type not in self.ground.feature_types:
            problems.add(f"{path}.type", f"There is no flag type {item.type}.")

    def _settle(self, item: Feature) -> None:
        """From here on others may refer to it."""
        before = self._places.get(item.name, {"parent": None})
        parent = item.dependencies[0].feature if item.dependencies else before["parent"]
        self._parents.add(parent)
        self._places[item.name] = {
            "project": item.project,
            "archived": item.archivedAt is not None,
            "parent": parent,
        }

    def _tags(self, item: Feature, path: str) -> list[Tag]:
        kept = []
        for n, tag in enumerate(item.tags):
            problems = Problems()
            self._tag(tag, f"{path}.tags[{n}]", problems)
            if not self._take("features", item.name, problems):
                kept.append(tag)
        return kept

    def _check_place(self, item: Feature, path: str, problems: Problems) -> None:
        if item.project not in self._links:
            problems.add(f"{path}.project", f"There is no project {item.project}.")
        place = self.ground.places.get(item.name)
        if place is None:
            return
        if place["project"] != item.project:
            text = f"{item.name} exists already, in the project {place['project']}."
            problems.add(f"{path}.name", text)
        elif place["archived"] and not item.archivedAt:
            problems.add(f"{path}.name", f"{item.name} is in the archive here; revive it first.")
        elif item.archivedAt and not place["archived"]:
            problems.add(f"{path}.name", f"{item.name} is in the archive there, but not here.")

    def _check_parents(self, item: Feature, path: str, problems: Problems) -> None:
        at = f"{path}.dependencies"
        if len(item.dependencies) > 1:
            problems.add(at, "A flag has one parent at most.")
        for n, wanted in enumerate(item.dependencies):
            text = self._wrong_parent(item, wanted)
            if text:
                problems.add(f"{at}[{n}].feature", text)
            if wanted.variants and not wanted.enabled:
                text = "Variants can be asked for only of a parent that is on."
                problems.add(f"{at}[{n}].variants", text)

    def _wrong_parent(self, item: Feature, wanted: Parent) -> str:
        place = self._places.get(wanted.feature)
        if wanted.feature == item.name:
            return "A flag can't be its own parent."
        if place is None or place["archived"]:
            return f"There is no flag {wanted.feature} that could be a parent."
        if place["project"] != item.project:
            return f"{wanted.feature} belongs to another project."
        if place["parent"]:
            return f"{wanted.feature} has a parent itself: dependencies have one level."
        if item.name in self._parents:
            return f"{item.name} is a parent itself: dependencies have one level."
        return ""

    def _states(self, item: Feature, path: str) -> list[State]:
        kept: dict[str, State] = {}
        for n, state in enumerate(item.environments):
            at, problems = f"{path}.environments[{n}]", Problems()
            if state.environment in kept:
                problems.add(f"{at}.environment", f"{state.environment} is there twice.")
            if state.environment not in self._links.get(item.project, ()):
                text = f"The project {item.project} has no environment {state.environment}."
                problems.add(f"{at}.environment", text)
            listed = [
                self._strategy(
                    strategy, item.project, item.name, f"{at}.strategies[{s}].", problems
                )
                for s, strategy in enumerate(state.strategies or [])
            ]
            if len(listed) > strategies.MOST_STRATEGIES:
                most = strategies.MOST_STRATEGIES
                problems.add(f"{at}.strategies", f"There can't be more than {most} strategies.")
            old = None
            if state.variants is not None:
                stored = variants.check(state.variants, problems, f"{at}.variants")
                old = msgspec.convert(stored, list[Variant]) if not problems.details else []
            if not self._take("features", item.name, problems):
                ordered = None if state.strategies is None else in_order(listed)
                kept[state.environment] = State(state.environment, state.enabled, old, ordered)
        return list(kept.values())
