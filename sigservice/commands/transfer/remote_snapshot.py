"""Reads the flags of a running server as a snapshot and reports what it has to skip.

Responses differ between versions of the server: members are missing, null or have other names, and
features of paid editions are absent.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import msgspec

from sigservice.commands.transfer.progress import Progress
from sigservice.commands.transfer.remote_client import RemoteClient
from sigservice.errors import StartError
from sigservice.services.flags.feature_tags import Tag
from sigservice.services.projects.context_fields import ContextField
from sigservice.services.projects.environments import Environment
from sigservice.services.projects.strategy_types import StrategyType
from sigservice.services.projects.tag_types import TagType
from sigservice.services.transfer.feature_import import remove_nulls
from sigservice.services.transfer.snapshot_import import Notice
from sigservice.services.transfer.snapshots import (
    Feature,
    FeatureState,
    IntegrationDefinition,
    NumberedStrategy,
    ParentDefinition,
    Project,
    ProjectEnvironment,
    SegmentDefinition,
    Snapshot,
    StrategyDefinition,
    VariantDefinition,
)
from sigservice.wording import plural

Kind = TypeVar("Kind")
_PAGE_SIZE = 100
# Path, member with the list, noun, advice. A server without such a path has none.
ACCOUNTS = (
    (("user-admin",), "users", "user", "create them here"),
    (("service-account",), "serviceAccounts", "service account", "create them here"),
    (("api-tokens",), "tokens", "API token", "secrets aren't readable: create new tokens here"),
)
UNSUPPORTED = (
    (("groups",), "groups", "group", "not supported"),
    (("release-plan-templates",), "", "release plan template", "not supported"),
)


class RemoteSnapshotReader:
    """Call `read` once; `skipped` lists what can't be imported."""

    def __init__(
        self, client: RemoteClient, progress: Progress, only_projects: Sequence[str]
    ) -> None:
        self._client, self._progress, self._only_projects = client, progress, only_projects
        self.skipped: list[Notice] = []

    def read(self) -> Snapshot:
        projects = self._fetch_projects()
        snapshot = Snapshot()
        self._progress.start_stage("definitions", 5)
        lists = self._client.run_parallel(
            [
                partial(self._fetch_list, "environments", "environments"),
                partial(self._fetch_list, "context", ""),
                partial(self._fetch_list, "tag-types", "tagTypes"),
                partial(self._fetch_list, "strategies", "strategies"),
                partial(self._fetch_list, "segments", "segments"),
            ],
            self._progress.advance,
        )
        snapshot.environments = self._convert_all("environment", lists[0], Environment)
        snapshot.contextFields = self._convert_all("context field", lists[1], ContextField)
        snapshot.tagTypes = self._convert_all("tag type", lists[2], TagType)
        own = [item for item in lists[3] if item.get("editable", True)]
        snapshot.strategyTypes = self._convert_all("strategy", own, StrategyType)
        self._segment_names = {str(item.get("id")): str(item.get("name")) for item in lists[4]}
        ids = {str(project["id"]) for project in projects}
        for raw in lists[4]:
            if raw.get("project") in (None, "", *ids):
                snapshot.segments += self._convert_all("segment", [raw], SegmentDefinition)
        snapshot.projects = [project for raw in projects for project in self._read_project(raw)]
        flags = [flag for project in snapshot.projects for flag in self._fetch_flags(project.id)]
        snapshot.features = self._read_features(flags)
        if not self._only_projects:
            snapshot.integrations = self._read_integrations()
        self._progress.finish()
        return snapshot

    def _fetch_projects(self) -> list[Mapping[str, Any]]:
        rows = _get_mappings(self._client.get("projects"), "projects")
        active = [raw for raw in rows if raw.get("id") and not raw.get("archivedAt")]
        missing = set(self._only_projects) - {str(raw.get("id")) for raw in active}
        if missing:
            raise StartError(f"The server has no project {', '.join(sorted(missing))}.")
        if self._only_projects:
            return [raw for raw in active if raw.get("id") in self._only_projects]
        for raw in rows:
            if raw.get("archivedAt"):
                self._skip(f"project {raw.get('id')}", "archived on the server")
        return active

    def _fetch_list(self, path: str, name: str) -> list[Mapping[str, Any]]:
        return _get_mappings(self._client.find(path), name)

    def _read_integrations(self) -> list[IntegrationDefinition]:
        status, value = self._client.fetch("addons")
        if status not in (200, 404):
            self._skip("integrations", f"their list responded with status {status}")
        named = [
            remove_nulls(raw) | {"source": f"{self._client.base_url}#{raw.get('id')}"}
            for raw in _get_mappings(value, "addons")
        ]
        return self._convert_all("integration", named, IntegrationDefinition)

    def _read_project(self, raw: Mapping[str, Any]) -> list[Project]:
        id = str(raw["id"])
        more = self._client.find("projects", id, "overview") or self._client.find("projects", id)
        if not isinstance(more, Mapping):  # without environments it would lose those it has here
            self._skip(f"project {id}", "its environments: not readable")
            return []
        full = {**raw, **more, "id": id}
        links = []
        for item in get_list(full, "environments"):
            item = item if isinstance(item, Mapping) else {"environment": item}
            name = str(item.get("environment") or item.get("name"))
            links.append(
                ProjectEnvironment(
                    name, self._read_default_strategy(id, name, item.get("defaultStrategy"))
                )
            )
            if item.get("changeRequestsEnabled"):
                self._skip(f"project {id}", f"change requests in {name}")
        naming = full.get("featureNaming")
        if isinstance(naming, Mapping) and naming.get("pattern"):
            self._skip(f"project {id}", "the naming pattern for flags")
        projects = self._convert_all("project", [full | {"environments": []}], Project)
        for project in projects:
            project.environments = links
        return projects

    def _read_default_strategy(
        self, project: str, environment: str, raw: Any
    ) -> StrategyDefinition | None:
        if not raw:
            return None
        try:
            return self._read_strategy(raw)
        except msgspec.ValidationError as error:
            self._skip(f"project {project}", f"the default strategy in {environment}: {error}")
            return None

    def _fetch_flags(self, project: str) -> list[tuple[str, Mapping[str, Any]]]:
        active = self._client.get("projects", project, "features")
        rows = [*_get_mappings(active, "features"), *self._fetch_archived(project)]
        return [(project, row) for row in rows]

    def _fetch_archived(self, project: str) -> list[Mapping[str, Any]]:
        rows: list[Mapping[str, Any]] = []
        filters = {"archived": "IS:true", "project": f"IS:{project}", "limit": str(_PAGE_SIZE)}
        while True:
            page = self._client.find("search", "features", **filters, offset=str(len(rows)))
            page_rows = _get_mappings(page, "features")
            if page is None or not all(row.get("archivedAt") for row in page_rows):
                break
            if rows and page_rows[:1] == rows[:1]:  # the server ignores the offset
                break
            rows += page_rows
            if len(page_rows) < _PAGE_SIZE:
                return rows
        older = self._client.find("archive", "features", project)
        if older is None:
            self._skip(f"project {project}", "archived flags: the server doesn't list them")
        return [dict(row) | {"archived": True} for row in _get_mappings(older, "features")]

    def _read_features(self, flags: list[tuple[str, Mapping[str, Any]]]) -> list[Feature]:
        self._progress.start_stage("flags", len(flags))
        calls = [partial(self._fetch_flag, project, row) for project, row in flags]
        responses = self._client.run_parallel(calls, self._progress.advance)
        features = [
            self._read_feature(project, raw, tags)
            for (project, _), (raw, tags) in zip(flags, responses, strict=True)
        ]
        return sorted(features, key=lambda feature: feature.name)

    def _fetch_flag(
        self, project: str, row: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
        """The flag of its own path, completed from its row in the list, and its tags."""
        name = str(row.get("name"))
        path = ("projects", project, "features", name)
        raw = self._client.find(*path, variantEnvironments="true")
        if not isinstance(raw, Mapping):
            raw = {"environments": [*self._fetch_states(row, path)]}
        full = {**row, **raw, "name": name}
        tags = self._client.find("features", name, "tags")
        return full, _get_mappings(full if tags is None else tags, "tags")

    def _fetch_states(
        self, row: Mapping[str, Any], path: tuple[str, ...]
    ) -> Iterator[Mapping[str, Any]]:
        """The states of an archived flag, which many servers don't return in one response."""
        for state in _get_mappings(row, "environments"):
            place = (*path, "environments", str(state.get("name")))
            strategies = self._client.find(*place, "strategies")
            if isinstance(strategies, list):
                variants = _get_mappings(self._client.find(*place, "variants"), "variants")
                yield dict(state) | {"strategies": strategies, "variants": variants}
            else:
                self._skip(f"flag {path[-1]}", f"its state in {state.get('name')}: not readable")

    def _read_feature(
        self, project: str, raw: Mapping[str, Any], tags: list[Mapping[str, Any]]
    ) -> Feature:
        name, author = str(raw.get("name")), raw.get("createdBy")
        author = author.get("name") if isinstance(author, Mapping) else author
        if raw.get("links"):
            self._skip(f"flag {name}", "links")
        parents = self._convert_all(
            f"flag {name}: parent", get_list(raw, "dependencies"), ParentDefinition
        )
        unique_parents = {parent.feature: parent for parent in parents}
        created, archived = _parse_time(raw.get("createdAt")), _parse_time(raw.get("archivedAt"))
        return Feature(
            name=name,
            project=project,
            type=str(raw.get("type") or "release"),
            description=_to_text(raw.get("description")),
            stale=_is_true(raw.get("stale")),
            impression_data=_is_true(raw.get("impressionData")),
            archivedAt=archived or (datetime.now(UTC) if _is_true(raw.get("archived")) else None),
            createdAt=created,
            createdBy=_to_text(author),
            tags=sorted(
                self._convert_all(f"flag {name}: tag", tags, Tag),
                key=lambda tag: (tag.type, tag.value),
            ),
            dependencies=list(unique_parents.values()),
            environments=[
                state
                for item in _get_mappings(raw, "environments")
                for state in self._read_state(name, item, raw.get("variants"))
            ],
        )

    def _read_state(self, flag: str, raw: Mapping[str, Any], variants: Any) -> list[FeatureState]:
        """Empty if a part can't be read: an incomplete state would have another meaning."""
        name = str(raw.get("name") or raw.get("environment"))
        if raw.get("releasePlans"):
            self._skip(f"flag {flag}", f"the release plan in {name}")
        try:
            strategies = [self._read_strategy(item) for item in get_list(raw, "strategies")]
            raw_variants = remove_nulls(raw.get("variants", variants) or [])
            state_variants = msgspec.convert(raw_variants, list[VariantDefinition], strict=False)
        except msgspec.ValidationError as error:
            self._skip(f"flag {flag}", f"its state in {name}: {error}")
            return []
        return [FeatureState(name, _is_true(raw.get("enabled")), state_variants, strategies)]

    def _read_strategy(self, raw: Any) -> StrategyDefinition:
        """Raises msgspec.ValidationError."""
        strategy = msgspec.convert(remove_nulls(raw), NumberedStrategy, strict=False)
        return strategy.name_segments(lambda id: self._segment_names.get(str(id), f"#{id}"))

    def _convert_all(self, label: str, items: Sequence[Any], kind: type[Kind]) -> list[Kind]:
        converted = []
        for raw in items:
            try:
                converted.append(msgspec.convert(remove_nulls(raw), kind, strict=False))
            except msgspec.ValidationError as error:
                name = raw.get("name") if isinstance(raw, Mapping) else raw
                self._skip(f"{label} {name}", str(error))
        return converted

    def _skip(self, name: str, reason: str) -> None:
        self.skipped.append(Notice(name, reason))


def get_list(value: Any, name: str) -> list[Any]:
    """The list in a response, which is the response itself or a member of it."""
    if isinstance(value, Mapping):
        value = value.get(name)
    return value if isinstance(value, list) else []


def _get_mappings(value: Any, name: str) -> list[Mapping[str, Any]]:
    return [item for item in get_list(value, name) if isinstance(item, Mapping)]


def _to_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _is_true(value: Any) -> bool:
    return value in (True, "true")  # 1 is True


def _parse_time(value: Any) -> datetime | None:
    try:
        return msgspec.convert(value, datetime, strict=False)
    except msgspec.ValidationError:
        return None


def list_accounts(client: RemoteClient) -> list[Notice]:
    """Users and tokens, which are never imported."""
    return [item for row in ACCOUNTS for item in _count_items(client, *row)]


def list_unsupported(client: RemoteClient) -> list[Notice]:
    """Features of the remote server that this one lacks."""
    items = [item for row in UNSUPPORTED for item in _count_items(client, *row)]
    roles = get_list(client.find("roles"), "roles")
    custom = [r for r in roles if isinstance(r, Mapping) and "custom" in str(r.get("type"))]
    if custom:
        reason = "only Admin, Editor and Viewer are supported"
        items.append(Notice(plural(len(custom), "custom role"), reason))
    return items


def _count_items(
    client: RemoteClient, path: tuple[str, ...], member: str, noun: str, reason: str
) -> list[Notice]:
    values: list[Any] = get_list(client.find(*path), member)
    return [Notice(plural(len(values), noun), reason)] if values else []
