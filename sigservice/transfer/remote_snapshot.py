"""A running server's flags as an inventory: lenient about how, exact about what can't be carried.

Servers of several ages answer differently: members are missing, null or spelled otherwise, and
what they sell separately is not there at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import msgspec

from sigservice.errors import StartError
from sigservice.services.flags.constraints import Constraint
from sigservice.services.flags.feature_tags import Tag
from sigservice.services.flags.strategies import Scalar
from sigservice.services.transfer.feature_import import without_nulls
from sigservice.services.transfer.snapshots import (
    ContextField,
    Environment,
    Feature,
    Inventory,
    Link,
    Parent,
    Project,
    Segment,
    State,
    Strategy,
    StrategyType,
    TagType,
    Variant,
)
from sigservice.transfer.progress import Progress
from sigservice.transfer.remote_client import Source

Kind = TypeVar("Kind")
_PAGE = 100


@dataclass(frozen=True)
class Note:
    """Something that stays behind."""

    what: str
    why: str


class PeerStrategy(msgspec.Struct):
    name: str
    id: str | None = None
    title: str | None = None
    disabled: bool = False
    sortOrder: int | None = None
    parameters: dict[str, Scalar] = {}
    constraints: list[Constraint] = []
    variants: list[Variant] = []
    segments: list[int] = []


class Reader:
    """`read` once; `notes` tell what can't be carried."""

    def __init__(self, source: Source, progress: Progress, only: Sequence[str]) -> None:
        self._source, self._progress, self._only = source, progress, only
        self.notes: list[Note] = []

    def read(self) -> Inventory:
        projects = self._list_projects()
        found = Inventory()
        self._progress.stage("definitions", 5)
        lists = self._source.each(
            [
                partial(self._list, "environments", "environments"),
                partial(self._list, "context", ""),
                partial(self._list, "tag-types", "tagTypes"),
                partial(self._list, "strategies", "strategies"),
                partial(self._list, "segments", "segments"),
            ],
            self._progress.step,
        )
        found.environments = self._convert_all("environment", lists[0], Environment)
        found.contextFields = self._convert_all("context field", lists[1], ContextField)
        found.tagTypes = self._convert_all("tag type", lists[2], TagType)
        own = [item for item in lists[3] if item.get("editable", True)]
        found.strategyTypes = self._convert_all("strategy", own, StrategyType)
        self._segment_names = {str(item.get("id")): str(item.get("name")) for item in lists[4]}
        ids = {str(project["id"]) for project in projects}
        for raw in lists[4]:
            if raw.get("project") in (None, "", *ids):
                found.segments += self._convert_all("segment", [raw], Segment)
        found.projects = [project for raw in projects for project in self._project(raw)]
        flags = [flag for project in found.projects for flag in self._list_flags(project.id)]
        found.features = self._features(flags)
        self._progress.end()
        return found

    def _list_projects(self) -> list[Mapping[str, Any]]:
        listed = _items(self._source.get("projects"), "projects")
        living = [raw for raw in listed if raw.get("id") and not raw.get("archivedAt")]
        missing = set(self._only) - {str(raw.get("id")) for raw in living}
        if missing:
            raise StartError(f"There is no project {', '.join(sorted(missing))} there.")
        if not self._only:
            for raw in listed:
                if raw.get("archivedAt"):
                    self._note(f"project {raw.get('id')}", "it is archived there")
        return [raw for raw in living if not self._only or raw.get("id") in self._only]

    def _list(self, path: str, name: str) -> list[Mapping[str, Any]]:
        return _items(self._source.find(path), name)

    def _project(self, raw: Mapping[str, Any]) -> list[Project]:
        id = str(raw["id"])
        more = self._source.find("projects", id, "overview") or self._source.find("projects", id)
        full = {**raw, **(more if isinstance(more, Mapping) else {}), "id": id}
        links = []
        for item in _list(full, "environments"):
            item = item if isinstance(item, Mapping) else {"environment": item}
            name = str(item.get("environment") or item.get("name"))
            links.append(Link(name, self._default_strategy(id, name, item.get("defaultStrategy"))))
            if item.get("changeRequestsEnabled"):
                self._note(f"project {id}", f"change requests in {name}")
        naming = full.get("featureNaming")
        if isinstance(naming, Mapping) and naming.get("pattern"):
            self._note(f"project {id}", "the pattern for the names of flags")
        projects = self._convert_all("project", [full | {"environments": []}], Project)
        for project in projects:
            project.environments = links
        return projects

    def _default_strategy(self, project: str, environment: str, raw: Any) -> Strategy | None:
        if not raw:
            return None
        try:
            return self._strategy(raw)
        except msgspec.ValidationError as error:
            self._note(f"project {project}", f"the default strategy in {environment}: {error}")
            return None

    def _list_flags(self, project: str) -> list[tuple[str, Mapping[str, Any]]]:
        listed = self._source.get("projects", project, "features")
        rows = [*_items(listed, "features"), *self._list_archived(project)]
        return [(project, row) for row in rows]

    def _list_archived(self, project: str) -> list[Mapping[str, Any]]:
        rows: list[Mapping[str, Any]] = []
        wanted = {"archived": "IS:true", "project": f"IS:{project}", "limit": str(_PAGE)}
        while True:
            page = self._source.find("search", "features", **wanted, offset=str(len(rows)))
            found = _items(page, "features")
            if page is None or not all(row.get("archivedAt") for row in found):
                break
            rows += found
            if len(found) < _PAGE:
                return rows
        older = self._source.find("archive", "features", project)
        if older is None:
            self._note(f"project {project}", "archived flags: the server does not list them")
        return [dict(row) | {"archived": True} for row in _items(older, "features")]

    def _features(self, flags: list[tuple[str, Mapping[str, Any]]]) -> list[Feature]:
        self._progress.stage("flags", len(flags))
        asked = [partial(self._ask_for_flag, project, row) for project, row in flags]
        found = self._source.each(asked, self._progress.step)
        kept = [
            self._feature(project, raw, tags)
            for (project, _), (raw, tags) in zip(flags, found, strict=True)
        ]
        return sorted(kept, key=lambda feature: feature.name)

    def _ask_for_flag(
        self, project: str, row: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
        """What the flag's own path says, and more of its row in the list."""
        name = str(row.get("name"))
        path = ("projects", project, "features", name)
        raw = self._source.find(*path, variantEnvironments="true")
        if not isinstance(raw, Mapping):
            raw = {"environments": [*self._piece_by_piece(row, path)]}
        full = {**row, **raw, "name": name}
        tags = self._source.find("features", name, "tags")
        return full, _items(full if tags is None else tags, "tags")

    def _piece_by_piece(
        self, row: Mapping[str, Any], path: tuple[str, ...]
    ) -> Iterator[Mapping[str, Any]]:
        """The states of a flag in the archive, which many servers do not show as a whole."""
        for state in _items(row, "environments"):
            place = (*path, "environments", str(state.get("name")))
            strategies = self._source.find(*place, "strategies")
            if isinstance(strategies, list):
                old = _items(self._source.find(*place, "variants"), "variants")
                yield dict(state) | {"strategies": strategies, "variants": old}
            else:
                self._note(f"flag {path[-1]}", f"its state in {state.get('name')}: not shown")

    def _feature(
        self, project: str, raw: Mapping[str, Any], tags: list[Mapping[str, Any]]
    ) -> Feature:
        name, author = str(raw.get("name")), raw.get("createdBy")
        author = author.get("name") if isinstance(author, Mapping) else author
        if raw.get("links"):
            self._note(f"flag {name}", "links")
        parents = self._convert_all(f"flag {name}: parent", _list(raw, "dependencies"), Parent)
        once = {parent.feature: parent for parent in parents}
        created, archived = _moment(raw.get("createdAt")), _moment(raw.get("archivedAt"))
        return Feature(
            name=name,
            project=project,
            type=str(raw.get("type") or "release"),
            description=_text(raw.get("description")),
            stale=_is_true(raw.get("stale")),
            impressionData=_is_true(raw.get("impressionData")),
            archivedAt=archived or (datetime.now(UTC) if _is_true(raw.get("archived")) else None),
            createdAt=created,
            createdBy=_text(author),
            tags=sorted(
                self._convert_all(f"flag {name}: tag", tags, Tag),
                key=lambda tag: (tag.type, tag.value),
            ),
            dependencies=list(once.values()),
            environments=[
                state
                for item in _items(raw, "environments")
                for state in self._state(name, item, raw.get("variants"))
            ],
        )

    def _state(self, flag: str, raw: Mapping[str, Any], variants: Any) -> list[State]:
        """Empty when something of it can't be read: half of it would mean something else."""
        name = str(raw.get("name") or raw.get("environment"))
        if raw.get("releasePlans"):
            self._note(f"flag {flag}", f"the release plan in {name}")
        try:
            listed = [self._strategy(item) for item in _list(raw, "strategies")]
            old = raw.get("variants", variants) or []
            kept = msgspec.convert(without_nulls(old), list[Variant], strict=False)
        except msgspec.ValidationError as error:
            self._note(f"flag {flag}", f"its state in {name}: {error}")
            return []
        return [State(name, _is_true(raw.get("enabled")), kept, listed)]

    def _strategy(self, raw: Any) -> Strategy:
        """Raises msgspec.ValidationError."""
        found = msgspec.convert(without_nulls(raw), PeerStrategy, strict=False)
        kept = msgspec.structs.asdict(found)
        named = [self._segment_names.get(str(id), f"#{id}") for id in found.segments]
        return Strategy(**kept | {"segments": named})

    def _convert_all(self, what: str, items: Sequence[Any], kind: type[Kind]) -> list[Kind]:
        kept = []
        for raw in items:
            try:
                kept.append(msgspec.convert(without_nulls(raw), kind, strict=False))
            except msgspec.ValidationError as error:
                name = raw.get("name") if isinstance(raw, Mapping) else raw
                self._note(f"{what} {name}", str(error))
        return kept

    def _note(self, what: str, why: str) -> None:
        self.notes.append(Note(what, why))


def _list(value: Any, name: str) -> list[Any]:
    """The list in an answer, be it bare or a member."""
    if isinstance(value, Mapping):
        value = value.get(name)
    return value if isinstance(value, list) else []


def _items(value: Any, name: str) -> list[Mapping[str, Any]]:
    return [item for item in _list(value, name) if isinstance(item, Mapping)]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _is_true(value: Any) -> bool:
    return value in (True, "true")  # 1 is True


def _moment(value: Any) -> datetime | None:
    try:
        return msgspec.convert(value, datetime, strict=False)
    except msgspec.ValidationError:
        return None
