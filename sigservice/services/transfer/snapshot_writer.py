"""Writes a checked snapshot to the database, in bulk and with its events.

Only strategies are deleted, when others replace them. Differences are computed before anything is
written, so a second import of the same snapshot changes nothing.
"""

import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from sigservice.db import Connection, savepoint
from sigservice.db.errors import DatabaseUnavailable
from sigservice.repository.flags import feature_dependencies, feature_strategies, segments
from sigservice.repository.flags import features as flags
from sigservice.repository.projects import (
    context_fields,
    environments,
    projects,
    strategy_types,
    tag_types,
    tags,
)
from sigservice.repository.transfer import definitions
from sigservice.services import revisions
from sigservice.services.identity import Identity
from sigservice.services.system import events
from sigservice.services.transfer.snapshot_events import (
    Event,
    build_event,
    build_feature_event,
    get_metadata,
    get_own_fields,
)
from sigservice.services.transfer.snapshots import (
    Feature,
    FeatureState,
    Project,
    ProjectEnvironment,
    Snapshot,
    StrategyDefinition,
    get_name,
)

MAX_EVENTS = 5000  # for one statement, which must not take longer than five seconds
PIECE = 1000  # flags that are written together
MANY_CHANGES = 1000  # entries of the report; fewer hardly change the plans of statements
OnWritten = Callable[[int], object]  # is called with a number of flags


@dataclass(frozen=True)
class ImportChange:
    kind: str
    name: str
    description: str


@dataclass
class ImportChanges:
    """The changes as a report (`entries`), the environments whose revision rises, and the flags
    that the import touches; all of them if `affects_all_flags`."""

    entries: list[ImportChange] = field(default_factory=list)
    environments: set[str] = field(default_factory=set)
    flags: set[str] = field(default_factory=set)
    affects_all_environments: bool = False
    affects_all_flags: bool = False


class SnapshotWriter:
    """Call `write` once, under `revisions.lock`. With `overwrite`, existing definitions (all but
    flags) change to the snapshot's; without it they stay. With `is_complete`, flags lose tags and
    parents that the snapshot doesn't have."""

    def __init__(
        self,
        conn: Connection,
        existing: Snapshot,
        by: Identity,
        *,
        overwrite: bool,
        on_written: OnWritten,
        is_complete: bool = False,
    ) -> None:
        self._on_written, self._is_complete = on_written, is_complete
        self._conn, self._existing, self._by, self._overwrite = conn, existing, by, overwrite
        self._author: Event = {"created_by": by.username, "created_by_user_id": by.user_id}
        self._changes = ImportChanges()

    def write(self, snapshot: Snapshot) -> ImportChanges:
        put_segments = partial(segments.put, **self._author)
        for kind, member, put_items in (
            ("environment", "environments", environments.put),
            ("context-field", "contextFields", context_fields.put),
            ("strategy", "strategyTypes", strategy_types.put),
            ("tag-type", "tagTypes", tag_types.put),
            ("tag", "tags", tags.put),
            ("project", "projects", projects.put),
            ("segment", "segments", put_segments),
        ):
            before = {get_name(item): item for item in getattr(self._existing, member)}
            self._write_definitions(kind, before, getattr(snapshot, member), put_items)
        self._write_project_environments(snapshot.projects)
        self._write_features(snapshot.features)
        flags = None if self._changes.affects_all_flags else self._changes.flags
        if self._changes.affects_all_environments:
            revisions.bump(self._conn, flags=flags)
        elif self._changes.environments:
            revisions.bump(self._conn, *sorted(self._changes.environments), flags=flags)
        if len(self._changes.entries) >= MANY_CHANGES:
            self._analyze()
        return self._changes

    def _analyze(self) -> None:
        """Analyzes the tables of flags. After a timeout the import goes on without statistics."""
        try:
            with savepoint(self._conn):
                definitions.analyze_flags(self._conn)
        except DatabaseUnavailable as error:
            if not error.is_timeout:
                raise

    def _write_definitions(
        self,
        kind: str,
        before: dict[str, Any],
        items: Sequence[Any],
        put_items: Callable[..., None],
    ) -> None:
        new = [item for item in items if get_name(item) not in before]
        pairs = [(before[get_name(item)], item) for item in items if get_name(item) in before]
        changed = [
            (old, item)
            for old, item in pairs
            if self._overwrite and get_own_fields(old) != get_own_fields(item)
        ]
        put_items(self._conn, new + [item for _, item in changed])
        self._record(f"{kind}-created", [build_event(item, kind) for item in new])
        updates = [
            build_event(item, kind) | {"pre_data": msgspec.to_builtins(get_own_fields(old))}
            for old, item in changed
        ]
        self._record(f"{kind}-updated", updates)
        self._report(kind, [get_name(item) for item in new], "created")
        self._report(kind, [get_name(item) for _, item in changed], "updated")
        if changed and kind in ("environment", "segment"):
            self._changes.affects_all_environments = self._changes.affects_all_flags = True

    def _write_project_environments(self, projects: Sequence[Project]) -> None:
        """A project without flags gets exactly the environments of the snapshot."""
        before = {project.id: project.environments for project in self._existing.projects}
        with_flags = {row["project"] for row in definitions.list_feature_locations(self._conn)}
        changed: list[tuple[str, ProjectEnvironment]] = []
        added: list[Event] = []
        updated: list[Event] = []
        removed: list[Event] = []
        for project in projects:
            links = {link.environment: link for link in before.get(project.id, [])}
            for link in project.environments:
                old = links.pop(link.environment, None)
                event = {"project": project.id, "environment": link.environment}
                if old is None:
                    changed.append((project.id, link))
                    added.append(event | {"data": msgspec.to_builtins(link)})
                    self._report("project", [project.id], f"uses {link.environment}")
                elif self._overwrite and old != link:
                    changed.append((project.id, link))
                    data = msgspec.to_builtins(link.defaultStrategy)
                    pre_data = msgspec.to_builtins(old.defaultStrategy)
                    updated.append(event | {"data": data, "pre_data": pre_data})
                    self._report("project", [project.id], f"default strategy in {link.environment}")
            if project.id not in with_flags:
                removed += [{"project": project.id, "environment": name} for name in links]
        self._put_project_environments(changed)
        definitions.delete_project_environments(self._conn, removed)
        self._record("project-environment-added", added)
        self._record("default-strategy-updated", updated)
        self._record("project-environment-removed", removed)
        if changed or removed:
            self._changes.affects_all_environments = self._changes.affects_all_flags = True
        for item in removed:
            self._report("project", [item["project"]], f"no longer uses {item['environment']}")

    def _put_project_environments(self, links: list[tuple[str, ProjectEnvironment]]) -> None:
        ids = {row["name"]: row["id"] for row in definitions.list_segments(self._conn)}
        items = []
        for project, link in links:
            strategy: Any = None
            if link.defaultStrategy is not None:
                strategy = msgspec.to_builtins(link.defaultStrategy)
                strategy["segments"] = [ids[name] for name in strategy["segments"]]
                del strategy["id"]
            items.append(
                {"project": project, "environment": link.environment, "strategy": strategy}
            )
        definitions.put_project_environments(self._conn, items)

    def _write_features(self, features: Sequence[Feature]) -> None:
        """Writes flags in pieces, so that no statement takes long. Parents may be in a later
        piece."""
        before = {feature.name: feature for feature in self._existing.features}
        pairs = [(before.get(item.name), item) for item in features]
        for start in range(0, len(features), PIECE):
            piece = pairs[start : start + PIECE]
            self._write_metadata(before, [item for _, item in piece])
            self._write_states(piece)
            self._write_tags(piece)
            self._on_written(len(piece))
        self._write_parents(pairs)

    def _write_metadata(self, before: Mapping[str, Feature], features: Sequence[Feature]) -> None:
        new = [item for item in features if item.name not in before]
        changed = [
            (before[item.name], item)
            for item in features
            if item.name in before
            and (old := get_metadata(before[item.name])) != old | get_metadata(item)
        ]
        rows = [
            replace(item, tags=[], dependencies=[], environments=[])
            for item in new + [item for _, item in changed]
        ]
        flags.put(self._conn, rows, **self._author)
        self._record("feature-created", [build_feature_event(item) for item in new])
        updates = [
            build_feature_event(item) | {"pre_data": get_metadata(old)} for old, item in changed
        ]
        self._record("feature-metadata-updated", updates)
        self._report("flag", [item.name for item in new], "created")
        self._report("flag", [item.name for _, item in changed], "updated")
        if rows:
            self._changes.affects_all_environments = True
            self._changes.flags.update(item.name for item in rows)

    def _write_states(self, pairs: Sequence[tuple[Feature | None, Feature]]) -> None:
        rows: list[Event] = []
        replacements: list[tuple[Feature, FeatureState, FeatureState]] = []
        recorded: dict[str, list[Event]] = defaultdict(list)
        for old_feature, item in pairs:
            states = old_feature.environments if old_feature else []
            before = {state.environment: state for state in states}
            for state in item.environments:
                name = state.environment
                old = before.get(name) or FeatureState(name, False, [], [])
                new = _fill_state(state, old)
                event = {"project": item.project, "environment": name, "feature_name": item.name}
                if (new.enabled, new.variants) != (old.enabled, old.variants):
                    rows.append(
                        {
                            "feature": item.name,
                            "environment": name,
                            "enabled": new.enabled,
                            "variants": new.variants,
                        }
                    )
                if new.enabled != old.enabled:
                    verb = "enabled" if new.enabled else "disabled"
                    data = {"name": item.name}
                    recorded[f"feature-environment-{verb}"].append(event | {"data": data})
                    self._report("flag", [item.name], f"{verb} in {name}")
                if new.variants != old.variants:
                    data = {"variants": msgspec.to_builtins(new.variants)}
                    recorded["feature-environment-variants-updated"].append(event | {"data": data})
                    self._report("flag", [item.name], f"variants in {name}")
                if _remove_ids(new.strategies) != _remove_ids(old.strategies):
                    replacements.append((item, old, new))
                    self._report("flag", [item.name], f"strategies in {name}")
        self._replace_strategies(replacements)
        definitions.put_states(self._conn, rows)
        for type, items in recorded.items():
            self._record(type, items)
        self._changes.environments |= {row["environment"] for row in rows}
        self._changes.flags |= {row["feature"] for row in rows}

    def _replace_strategies(
        self, replacements: Sequence[tuple[Feature, FeatureState, FeatureState]]
    ) -> None:
        rows, segments = [], []
        removed: list[Event] = []
        updated: list[Event] = []
        added: list[Event] = []
        places = [
            {"feature": item.name, "environment": old.environment}
            for item, old, _ in replacements
            if old.strategies
        ]
        definitions.delete_strategies(self._conn, places)
        ids = [s.id for _, _, new in replacements for s in new.strategies or [] if s.id]
        used_ids = definitions.list_used_strategy_ids(self._conn, ids)
        for item, old, new in replacements:
            place = {"feature": item.name, "environment": new.environment}
            event = {
                "project": item.project,
                "environment": new.environment,
                "feature_name": item.name,
            }
            before = {it.id: msgspec.to_builtins(it) for it in old.strategies or []}
            for strategy in new.strategies or []:
                is_free = strategy.id and strategy.id not in used_ids
                id = strategy.id if strategy.id and is_free else str(uuid.uuid4())
                used_ids.add(id)
                data = msgspec.to_builtins(replace(strategy, id=id))
                rows.append(place | data)
                segments += [{"strategy": id, "segment": name} for name in strategy.segments]
                pre_data = before.pop(id, None)
                if pre_data is None:
                    added.append(event | {"data": data})
                elif pre_data != data:
                    updated.append(event | {"data": data, "pre_data": pre_data})
            removed += [event | {"pre_data": pre_data} for pre_data in before.values()]
            self._changes.environments.add(new.environment)
            self._changes.flags.add(item.name)
        feature_strategies.insert_many(self._conn, rows)
        definitions.insert_strategy_segments(self._conn, segments)
        self._record("feature-strategy-remove", removed)
        self._record("feature-strategy-update", updated)
        self._record("feature-strategy-add", added)

    def _write_tags(self, pairs: Sequence[tuple[Feature | None, Feature]]) -> None:
        rows, recorded = [], []
        removed: list[Event] = []
        for old, item in pairs:
            before = set(old.tags) if old else set()
            scope: Event = {"project": item.project, "feature_name": item.name}
            for tag in dict.fromkeys(item.tags):
                if tag not in before:
                    data = {"type": tag.type, "value": tag.value}
                    rows.append({"feature": item.name, **data})
                    recorded.append(scope | {"data": data})
                    self._report("flag", [item.name], f"tagged {get_name(tag)}")
            if self._is_complete:
                removed += [
                    scope | {"pre_data": {"type": tag.type, "value": tag.value}}
                    for tag in before.difference(item.tags)
                ]
        definitions.put_feature_tags(self._conn, rows)
        self._record("feature-tagged", recorded)
        gone = [{"feature": it["feature_name"], **it["pre_data"]} for it in removed]
        definitions.delete_feature_tags(self._conn, gone)
        self._record("feature-untagged", removed)
        if rows or removed:
            self._changes.affects_all_environments = True
            self._changes.flags |= {row["feature"] for row in rows + gone}

    def _write_parents(self, pairs: Sequence[tuple[Feature | None, Feature]]) -> None:
        rows, recorded, removed = [], [], []
        for old, item in pairs:
            scope = {"project": item.project, "feature_name": item.name}
            before = old.dependencies if old else []
            if self._is_complete and before and not item.dependencies:
                removed.append(scope | {"pre_data": msgspec.to_builtins(before[0])})
            if not item.dependencies or before == item.dependencies:
                continue
            (parent,) = item.dependencies
            data = msgspec.to_builtins(parent)
            rows.append(
                {
                    "child": item.name,
                    "parent": parent.feature,
                    "enabled": parent.enabled,
                    "variants": parent.variants,
                }
            )
            recorded.append(scope | {"data": data})
            self._report("flag", [item.name], f"child of {parent.feature}")
        definitions.put_dependencies(self._conn, rows)
        self._record("feature-dependency-added", recorded)
        orphans = [it["feature_name"] for it in removed]
        feature_dependencies.delete_by_children(self._conn, orphans)
        self._record("feature-dependencies-removed", removed)
        if rows or orphans:
            self._changes.affects_all_environments = True
            self._changes.flags |= {str(row["child"]) for row in rows} | {*orphans}

    def _record(self, type: str, items: Sequence[Event]) -> None:
        for start in range(0, len(items), MAX_EVENTS):
            batch = items[start : start + MAX_EVENTS]
            events.record_many(self._conn, type, self._by, batch)

    def _report(self, kind: str, names: Sequence[str], description: str) -> None:
        self._changes.entries += [ImportChange(kind, name, description) for name in names]


def _fill_state(state: FeatureState, old: FeatureState) -> FeatureState:
    """The state with the old values in place of None."""
    return FeatureState(
        state.environment,
        old.enabled if state.enabled is None else state.enabled,
        old.variants if state.variants is None else state.variants,
        old.strategies if state.strategies is None else state.strategies,
    )


def _remove_ids(strategies: Sequence[StrategyDefinition] | None) -> list[StrategyDefinition]:
    return [replace(strategy, id=None) for strategy in strategies or []]
