"""Plans what an apply of files changes. Pure: no database and no clock.

Absent members stay. States (switches and percentages) count only when the apply creates what has
them, unless the file enforces them, and never while something holds the flag there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from sigservice.services.flags.strategies import MAX_SORT_ORDER, ROLLOUT_TYPES, Scalar
from sigservice.services.projects.environments import Environment
from sigservice.services.transfer.apply_texts import list_details
from sigservice.services.transfer.flag_files import KINDS, Item, Kind
from sigservice.services.transfer.snapshots import (
    Feature,
    FeatureState,
    Project,
    Snapshot,
    StrategyDefinition,
    get_name,
)

Entry = dict[str, Any]
_SUFFIXES = {"revive": ": revived", "archive": ": archived", "adopt": ": adopted"}


class Hold(NamedTuple):
    """What holds the states of a flag in an environment: alert, release or schedule."""

    reason: str
    text: str


@dataclass
class Plan:
    """`snapshot` has the items that change, in their new form. The lists are those of the
    answer."""

    snapshot: Snapshot = field(default_factory=Snapshot)
    changes: list[Entry] = field(default_factory=list)
    holds: list[Entry] = field(default_factory=list)
    skipped: list[Entry] = field(default_factory=list)
    notes: list[Entry] = field(default_factory=list)
    unchanged: int = 0

    def add_change(
        self,
        kind: str,
        project: str | None,
        name: str,
        change: str,
        details: Sequence[Entry] = (),
        is_adopted: bool = False,
        drift: str = "",
    ) -> None:
        """`drift` says who changed the item here since the last apply."""
        place = f" in {project}" if kind == "flag" else ""
        suffix = _SUFFIXES.get(change, "") + (f", changed here {drift}" if drift else "")
        self.changes.append(
            {
                "kind": kind,
                "project": project,
                "name": name,
                "change": change,
                "adopted": is_adopted,
                "drift": bool(drift),
                "text": f"{kind} {name}{place}{suffix}",
                "details": [*details],
            }
        )

    def count(self) -> dict[str, int]:
        kinds = [change["change"] for change in self.changes]
        names = ("create", "update", "adopt", "archive", "revive")
        counts = {name: kinds.count(name) for name in names}
        others = {"held": len(self.holds), "skipped": len(self.skipped)}
        return counts | {"unchanged": self.unchanged} | others


@dataclass
class Planner:
    """`items` say what the files have, `used_projects` are those with flags, and `revived` the
    flags that are revived first; `existing` has them as they are then. `adopted` are the items that
    a source manages from now on, and `drifted` says who changed flags since the last apply."""

    existing: Snapshot
    items: Mapping[tuple[str, str], Item]
    holds: Mapping[tuple[str, str], Hold]
    used_projects: Collection[str]
    revived: Collection[str]
    adopted: Collection[tuple[str, str]] = ()
    drifted: Mapping[str, str] = field(default_factory=dict)

    def make_plan(self, desired: Snapshot) -> Plan:
        """`desired` is checked."""
        self._plan = Plan()
        self._links = {
            project.id: {link.environment: link for link in project.environments}
            for project in self.existing.projects
        }
        self._defaults = {
            project.id: {link.environment: link.defaultStrategy for link in project.environments}
            for project in (*self.existing.projects, *desired.projects)
        }
        for group, kind in KINDS.items():
            before = {get_name(item): item for item in getattr(self.existing, kind.member)}
            for item in sorted(getattr(desired, kind.member), key=_make_sort_key):
                self._plan_item(group, kind, before.get(get_name(item)), item)
        return self._plan

    def _plan_item(self, group: str, kind: Kind, old: Any, item: Any) -> None:
        name = get_name(item)
        declaration = self.items[group, name]
        if isinstance(item, Feature):
            new = self._fill_feature(old, item, declaration)
        else:
            new = self._fill_definition(old, item, declaration)
        details = list_details(old, new, declaration.attributes)
        project = getattr(new, "project", None)
        change = "create" if old is None else "update"
        is_adopted = (group, name) in self.adopted
        if name in self.revived and group == "flags":
            change = "revive"
        elif old is not None and not details:
            if not is_adopted:
                self._plan.unchanged += 1
                return
            change = "adopt"
        drift = self.drifted.get(name, "") if group == "flags" and change == "update" else ""
        self._plan.add_change(kind.label, project, name, change, details, is_adopted, drift)
        if change != "adopt":
            getattr(self._plan.snapshot, kind.member).append(new)

    def _fill_definition(self, old: Any, item: Any, declaration: Item) -> Any:
        """The item with the existing values in place of what the file doesn't say."""
        if old is None:
            return item
        new = replace(old, **{name: getattr(item, name) for name in declaration.attributes})
        if isinstance(new, Project):
            new.environments = self._fill_links(old, item, declaration)
        if isinstance(new, Environment) and new.enabled != old.enabled and not declaration.enforces:
            text = (
                f"environment {new.name} is {_name(old.enabled)}, {_name(new.enabled)} in the file"
            )
            add_entry(self._plan.notes, "environment", None, new.name, "state", text, new.name)
            new.enabled = old.enabled
        if hasattr(new, "legal_values") and _is_same_set(old.legal_values, new.legal_values):
            new.legal_values = old.legal_values
        return new

    def _fill_links(self, old: Project, item: Project, declaration: Item) -> list[Any]:
        """A project with flags keeps the environments that the file doesn't have."""
        if "environments" not in declaration.attributes:
            return old.environments
        declared = {link.environment: link for link in item.environments}
        result = []
        for link in old.environments:
            new = declared.pop(link.environment, None)
            if new is not None:
                result.append(new if new.defaultStrategy is not None else link)
            elif old.id in self.used_projects:
                result.append(link)
                text = f"project {old.id} keeps {link.environment}, which the file doesn't have"
                args = ("project", None, old.id, "environment", text, link.environment)
                add_entry(self._plan.notes, *args)
        return [*result, *declared.values()]

    def _fill_feature(self, old: Feature | None, item: Feature, declaration: Item) -> Feature:
        states = {state.environment: state for state in (old.environments if old else [])}
        links = self._links.get(item.project, {})
        for state in item.environments:
            before = states.get(state.environment)
            is_new = old is None or state.environment not in links
            enforces = declaration.enforcing.get(state.environment, declaration.enforces)
            states[state.environment] = _StateFiller(self, item, is_new, enforces).fill(
                before or FeatureState(state.environment, False, [], []), state
            )
        if old is None:
            new = replace(item, environments=[])
        else:
            names = declaration.attributes - {"environments", "project"}
            new = replace(old, **{name: getattr(item, name) for name in names})
            if _is_same_set(new.tags, old.tags):
                new.tags = old.tags
        new.environments = list(states.values())
        return new


@dataclass
class _StateFiller:
    """Fills a flag's state in an environment, and reports what differs and stays. `is_new` if this
    apply creates the flag, or its project's use of the environment."""

    planner: Planner
    item: Feature
    is_new: bool
    enforces: bool

    def fill(self, old: FeatureState, state: FeatureState) -> FeatureState:
        self._environment = state.environment
        self._hold = self.planner.holds.get((self.item.name, state.environment))
        before, strategies = old.strategies or [], old.strategies or []
        if state.strategies is not None:
            declared = state.strategies
            if state.enabled and not _has_active(declared):
                declared = [*declared, self._make_default_strategy(declared)]
            strategies = self._fill_strategies(before, declared)
        enabled = self._fill_switch(bool(old.enabled), state.enabled)
        if enabled and not _has_active(strategies):
            if not old.enabled:
                strategies = [*strategies, self._make_default_strategy(strategies)]
            elif _has_active(before) and self._hold:
                strategies = before
                self._report("keeps its strategies", "has none that is active in the file")
            elif _has_active(before):
                enabled = False
        variants = old.variants if state.variants is None else state.variants
        return FeatureState(state.environment, enabled, variants, strategies)

    def _fill_switch(self, old: bool, new: bool | None) -> bool:
        if new is None or new == old:
            return old
        if (self.is_new or self.enforces) and not self._hold and not self._is_revived:
            return new
        self._report(f"stays {_name(old)}", f"{_name(new)} in the file")
        return old

    @property
    def _is_revived(self) -> bool:
        return self.item.name in self.planner.revived

    def _fill_strategies(
        self, old: Sequence[StrategyDefinition], new: Sequence[StrategyDefinition]
    ) -> list[StrategyDefinition]:
        """The new strategies with the IDs of those that they replace."""
        pairs = pair_strategies(old, new)
        filled = []
        for before, strategy in zip(pairs, new, strict=True):
            if before is not None:
                strategy = replace(strategy, id=before.id)
                name = _find_rollout_name(strategy.name)
                here, there = before.parameters.get(name), strategy.parameters.get(name)
                if here != there and (not self.enforces or self._hold or self._is_revived):
                    self._report(f"stays at {here}%", f"{there}% in the file")
                    strategy.parameters = strategy.parameters | {name: here}
            filled.append(strategy)
        filled = _set_sort_orders(filled, pairs)
        if self._hold and self._hold.reason == "release" and filled != list(old):
            self._report("keeps its strategies", "others in the file")
            return list(old)
        return filled

    def _make_default_strategy(self, others: Sequence[StrategyDefinition]) -> StrategyDefinition:
        """What switching on adds: the default strategy of the project, or everyone."""
        links = self.planner._defaults.get(self.item.project, {})
        default = links.get(self._environment) or StrategyDefinition("flexibleRollout")
        parameters = default.parameters
        if default.name == "flexibleRollout":
            own: dict[str, Scalar] = {
                "rollout": "100",
                "stickiness": "default",
                "groupId": self.item.name,
            }
            parameters = own | parameters
        order = max((it.sortOrder or 0 for it in others), default=-1) + 1
        order = min(order, MAX_SORT_ORDER)
        return replace(default, id=None, disabled=False, parameters=parameters, sortOrder=order)

    def _report(self, here: str, there: str) -> None:
        """A difference that stays: held, or a note."""
        plan, hold = self.planner._plan, self._hold
        item = ("flag", self.item.project, self.item.name)
        place = f"flag {self.item.name} in {self._environment} {here}"
        if hold:
            text = f"{place}: {hold.text}"
            add_entry(plan.holds, *item, hold.reason, text, self._environment)
        else:
            text = f"{place}, {there}"
            add_entry(plan.notes, *item, "state", text, self._environment)


def add_entry(
    entries: list[Entry],
    kind: str,
    project: str | None,
    name: str,
    reason: str,
    text: str,
    environment: str | None = None,
) -> None:
    """Adds an entry of what is held, skipped or noted."""
    entry = {"kind": kind, "project": project, "name": name, "environment": environment}
    entries.append(entry | {"reason": reason, "text": text})


def pair_strategies(
    old: Sequence[StrategyDefinition], new: Sequence[StrategyDefinition]
) -> list[StrategyDefinition | None]:
    """For each new strategy the old one that it replaces: first by name and title if the pair is
    there once on both sides, then those that are equal, then those of the same name in order."""
    pairs: list[StrategyDefinition | None] = [None] * len(new)
    remaining = list(old)

    def take(n: int, before: StrategyDefinition | None) -> None:
        if before is not None:
            pairs[n] = before
            remaining.remove(before)

    old_titles = [(it.name, it.title) for it in old]
    new_titles = [(it.name, it.title) for it in new]
    for n, key in enumerate(new_titles):
        if key[1] and old_titles.count(key) == new_titles.count(key) == 1:
            take(n, old[old_titles.index(key)])
    for is_match in (lambda a, b: _compare(a) == _compare(b), lambda a, b: a.name == b.name):
        for n, strategy in enumerate(new):
            if pairs[n] is None:
                take(n, next((it for it in remaining if is_match(it, strategy)), None))
    return pairs


def _compare(strategy: StrategyDefinition) -> StrategyDefinition:
    """The strategy without what isn't its definition."""
    name = _find_rollout_name(strategy.name)
    parameters = {key: value for key, value in strategy.parameters.items() if key != name}
    return replace(strategy, id=None, sortOrder=None, parameters=parameters)


def _find_rollout_name(name: str) -> str:
    """The parameter that is the percentage of a gradual rollout, "" for other strategies."""
    if not name.startswith(ROLLOUT_TYPES):
        return ""
    return "rollout" if name == "flexibleRollout" else "percentage"


def _set_sort_orders(
    strategies: list[StrategyDefinition], pairs: Sequence[StrategyDefinition | None]
) -> list[StrategyDefinition]:
    """Strategies that were there keep their sort orders if their order is the same and new ones
    follow; otherwise all get new ones."""
    orders = [it.sortOrder or 0 for it in pairs if it is not None]
    is_same = orders == sorted(set(orders)) and all(it is not None for it in pairs[: len(orders)])
    first = max(orders, default=-1) + 1
    if not is_same or first + len(pairs) > MAX_SORT_ORDER:
        orders, first = [], 0
    orders = [*orders, *range(first, first + len(pairs) - len(orders))]
    return [replace(it, sortOrder=n) for it, n in zip(strategies, orders, strict=True)]


def _has_active(strategies: Sequence[StrategyDefinition]) -> bool:
    return any(not strategy.disabled for strategy in strategies)


def _is_same_set(old: Sequence[Any], new: Sequence[Any]) -> bool:
    return {*map(msgspec.json.encode, old)} == {*map(msgspec.json.encode, new)}


def _make_sort_key(item: Any) -> tuple[str, str]:
    return getattr(item, "project", None) or "", get_name(item)


def _name(enabled: bool) -> str:
    return "on" if enabled else "off"
