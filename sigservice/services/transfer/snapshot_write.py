"""Makes the database hold what a checked inventory says, in bulk and with its events.

Nothing is deleted but the strategies that others replace, and a difference is looked for before
anything is written: the second time nothing happens.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from sigservice.db.pool import Connection
from sigservice.repository.transfer import definitions
from sigservice.services import revisions
from sigservice.services.identity import Identity
from sigservice.services.system import events
from sigservice.services.transfer.snapshots import (
    Feature,
    Inventory,
    Link,
    Project,
    State,
    Strategy,
)

MAX_EVENTS = 5000  # a statement, which may take five seconds
Event = dict[str, Any]


@dataclass(frozen=True)
class Change:
    kind: str
    name: str
    what: str


@dataclass
class Changes:
    """What was written: `made` for people, the rest for caches."""

    made: list[Change] = field(default_factory=list)
    environments: set[str] = field(default_factory=set)
    everywhere: bool = False


class Writer:
    """`write` once, under `revisions.lock`. `overwrite` brings definitions (everything but flags)
    that are there already to what the inventory says; without it they stay."""

    def __init__(self, conn: Connection, have: Inventory, by: Identity, *, overwrite: bool) -> None:
        self._conn, self._have, self._by, self._overwrite = conn, have, by, overwrite
        self._author: dict[str, Any] = {
            "created_by": by.username,
            "created_by_user_id": by.user_id,
        }
        self._changes = Changes()

    def write(self, wanted: Inventory) -> Changes:
        have, conn = self._have, self._conn
        self._define(
            "environment", have.environments, wanted.environments, definitions.put_environments
        )
        self._define(
            "context-field",
            have.contextFields,
            wanted.contextFields,
            definitions.put_context_fields,
        )
        self._define(
            "strategy", have.strategyTypes, wanted.strategyTypes, definitions.put_strategy_types
        )
        self._define("tag-type", have.tagTypes, wanted.tagTypes, definitions.put_tag_types)
        self._define("tag", have.tags, wanted.tags, definitions.put_tags, _tag_name)
        self._define(
            "project", have.projects, wanted.projects, definitions.put_projects, lambda p: p.id
        )
        self._define(
            "segment",
            have.segments,
            wanted.segments,
            lambda conn, items: definitions.put_segments(conn, items, **self._author),
        )
        self._write_links(wanted.projects)
        self._write_features(wanted.features)
        if self._changes.everywhere:
            revisions.bump(conn)
        elif self._changes.environments:
            revisions.bump(conn, *sorted(self._changes.environments))
        return self._changes

    def _define(
        self,
        kind: str,
        have: Sequence[Any],
        wanted: Sequence[Any],
        put: Callable[[Connection, Sequence[Any]], None],
        name: Callable[[Any], str] = lambda item: item.name,
    ) -> None:
        before = {name(item): item for item in have}
        new = [item for item in wanted if name(item) not in before]
        old = [(before[name(item)], item) for item in wanted if name(item) in before]
        changed = [pair for pair in old if self._overwrite and _bare(pair[0]) != _bare(pair[1])]
        put(self._conn, new + [item for _, item in changed])
        self._record(f"{kind}-created", [_event(item, name(item), kind) for item in new])
        updates = [
            _event(item, name(item), kind) | {"pre_data": msgspec.to_builtins(_bare(was))}
            for was, item in changed
        ]
        self._record(f"{kind}-updated", updates)
        self._note(kind, [name(item) for item in new], "created")
        self._note(kind, [name(item) for _, item in changed], "updated")
        if changed and kind in ("environment", "segment"):
            self._changes.everywhere = True

    def _write_links(self, wanted: Sequence[Project]) -> None:
        """A project that has no flags yet uses what the inventory says and nothing else."""
        before = {project.id: project.environments for project in self._have.projects}
        used = {place["project"] for place in definitions.list_places(self._conn)}
        put: list[tuple[str, Link]] = []
        gone: list[Event] = []
        for project in wanted:
            links = {link.environment: link for link in before.get(project.id, [])}
            for link in project.environments:
                there = links.pop(link.environment, None)
                if there is None or (self._overwrite and there != link):
                    put.append((project.id, link))
            if project.id not in used:
                gone += [{"project": project.id, "environment": name} for name in links]
        self._put_links(put)
        definitions.delete_project_environments(self._conn, gone)
        self._record("project-environment-added", [_link_event(id, link) for id, link in put])
        self._record("project-environment-removed", gone)
        if put or gone:
            self._changes.everywhere = True
        for id, link in put:
            self._note("project", [id], f"uses {link.environment}")
        for item in gone:
            self._note("project", [item["project"]], f"no longer uses {item['environment']}")

    def _put_links(self, links: list[tuple[str, Link]]) -> None:
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

    def _write_features(self, wanted: Sequence[Feature]) -> None:
        before = {feature.name: feature for feature in self._have.features}
        new = [item for item in wanted if item.name not in before]
        changed = [
            (before[item.name], item)
            for item in wanted
            if item.name in before and _metadata(item) != _metadata(before[item.name])
        ]
        definitions.put_features(
            self._conn, [_row(item) for item in new + [item for _, item in changed]], **self._author
        )
        self._record("feature-created", [_feature_event(item) for item in new])
        updates = [_feature_event(item) | {"pre_data": _metadata(was)} for was, item in changed]
        self._record("feature-metadata-updated", updates)
        self._note("flag", [item.name for item in new], "created")
        self._note("flag", [item.name for _, item in changed], "updated")
        if new or changed:
            self._changes.everywhere = True
        pairs = [(before.get(item.name), item) for item in wanted]
        self._write_states(pairs)
        self._write_tags(pairs)
        self._write_parents(pairs)

    def _write_states(self, pairs: Sequence[tuple[Feature | None, Feature]]) -> None:
        put: list[Event] = []
        replaced: list[tuple[Feature, State, State]] = []
        recorded: dict[str, list[Event]] = defaultdict(list)
        for was, item in pairs:
            there = {state.environment: state for state in was.environments} if was else {}
            for wanted in item.environments:
                name = wanted.environment
                old = there.get(name) or State(name, False, [], [])
                new = _filled(wanted, old)
                where = {"project": item.project, "environment": name, "feature_name": item.name}
                if (new.enabled, new.variants) != (old.enabled, old.variants):
                    put.append(
                        {
                            "feature": item.name,
                            "environment": name,
                            "enabled": new.enabled,
                            "variants": new.variants,
                        }
                    )
                if new.enabled != old.enabled:
                    type = f"feature-environment-{'enabled' if new.enabled else 'disabled'}"
                    recorded[type].append(where | {"data": {"name": item.name}})
                    self._note("flag", [item.name], f"{'on' if new.enabled else 'off'} in {name}")
                if new.variants != old.variants:
                    data = {"variants": msgspec.to_builtins(new.variants)}
                    recorded["feature-environment-variants-updated"].append(where | {"data": data})
                    self._note("flag", [item.name], f"variants in {name}")
                if _without_ids(new.strategies) != _without_ids(old.strategies):
                    replaced.append((item, old, new))
                    self._note("flag", [item.name], f"strategies in {name}")
        self._replace_strategies(replaced)
        definitions.put_states(self._conn, put)
        for type, items in recorded.items():
            self._record(type, items)
        self._changes.environments |= {item["environment"] for item in put}

    def _replace_strategies(self, places: Sequence[tuple[Feature, State, State]]) -> None:
        gone, rows, segments = [], [], []
        removed: list[Event] = []
        added: list[Event] = []
        full = [place for place in places if place[1].strategies]
        gone = [{"feature": item.name, "environment": old.environment} for item, old, _ in full]
        definitions.delete_strategies(self._conn, gone)
        wished = [s.id for _, _, new in places for s in new.strategies or [] if s.id]
        taken = definitions.list_taken_strategy_ids(self._conn, wished)
        for item, old, new in places:
            where = {"feature": item.name, "environment": new.environment}
            event = {
                "project": item.project,
                "environment": new.environment,
                "feature_name": item.name,
            }
            for strategy in old.strategies or []:
                removed.append(event | {"pre_data": msgspec.to_builtins(strategy)})
            for strategy in new.strategies or []:
                id = strategy.id if strategy.id and strategy.id not in taken else str(uuid.uuid4())
                taken.add(id)
                data = msgspec.to_builtins(replace(strategy, id=id))
                rows.append(where | data)
                segments += [{"strategy": id, "segment": name} for name in strategy.segments]
                added.append(event | {"data": data})
            self._changes.environments.add(new.environment)
        definitions.insert_strategies(self._conn, rows)
        definitions.insert_strategy_segments(self._conn, segments)
        self._record("feature-strategy-remove", removed)
        self._record("feature-strategy-add", added)

    def _write_tags(self, pairs: Sequence[tuple[Feature | None, Feature]]) -> None:
        rows, recorded = [], []
        for was, item in pairs:
            there = set(was.tags) if was else set()
            for tag in dict.fromkeys(item.tags):
                if tag not in there:
                    data = {"type": tag.type, "value": tag.value}
                    rows.append({"feature": item.name, **data})
                    recorded.append(
                        {"project": item.project, "feature_name": item.name, "data": data}
                    )
                    self._note("flag", [item.name], f"tagged {_tag_name(tag)}")
        definitions.put_feature_tags(self._conn, rows)
        self._record("feature-tagged", recorded)
        if rows:
            self._changes.everywhere = True

    def _write_parents(self, pairs: Sequence[tuple[Feature | None, Feature]]) -> None:
        rows, recorded = [], []
        for was, item in pairs:
            if not item.dependencies or (was and was.dependencies == item.dependencies):
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
            recorded.append({"project": item.project, "feature_name": item.name, "data": data})
            self._note("flag", [item.name], f"child of {parent.feature}")
        definitions.put_dependencies(self._conn, rows)
        self._record("feature-dependency-added", recorded)
        if rows:
            self._changes.everywhere = True

    def _record(self, type: str, items: Sequence[Event]) -> None:
        for start in range(0, len(items), MAX_EVENTS):
            part = items[start : start + MAX_EVENTS]
            events.record_many(self._conn, type, self._by, part)

    def _note(self, kind: str, names: Sequence[str], what: str) -> None:
        self._changes.made += [Change(kind, name, what) for name in names]


def _bare(item: Any) -> Any:
    """Without what is written once or elsewhere."""
    if isinstance(item, Project):
        return replace(item, environments=[])
    if hasattr(item, "createdAt"):
        return replace(item, createdAt=None, createdBy=None)
    return item


def _event(item: Any, name: str, kind: str) -> Event:
    data = msgspec.to_builtins(_bare(item))
    event: Event = {"data": data}
    if kind == "environment":
        event["environment"] = name
    if kind == "project":
        event["project"] = name
    if kind == "segment":
        event["project"] = data["project"]
    return event


def _link_event(project: str, link: Link) -> Event:
    data = msgspec.to_builtins(link)
    return {"project": project, "environment": link.environment, "data": data}


def _row(item: Feature) -> Feature:
    return replace(item, tags=[], dependencies=[], environments=[])


def _metadata(item: Feature) -> Event:
    return {
        "name": item.name,
        "project": item.project,
        "type": item.type,
        "description": item.description,
        "stale": item.stale,
        "impressionData": item.impressionData,
    }


def _feature_event(item: Feature) -> Event:
    return {"project": item.project, "feature_name": item.name, "data": _metadata(item)}


def _filled(wanted: State, old: State) -> State:
    return State(
        wanted.environment,
        old.enabled if wanted.enabled is None else wanted.enabled,
        old.variants if wanted.variants is None else wanted.variants,
        old.strategies if wanted.strategies is None else wanted.strategies,
    )


def _without_ids(strategies: Sequence[Strategy] | None) -> list[Strategy]:
    return [replace(strategy, id=None) for strategy in strategies or []]


def _tag_name(tag: Any) -> str:
    return f"{tag.type}:{tag.value}"
