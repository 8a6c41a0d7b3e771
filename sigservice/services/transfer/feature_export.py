"""Flags of one environment in the exchange format, which the field's tools read and write."""

from __future__ import annotations

from typing import Any

import msgspec

from sigservice.db.pool import Connection
from sigservice.errors import NotFoundError
from sigservice.repository.transfer import definitions as repository
from sigservice.services.transfer import snapshots
from sigservice.services.transfer.snapshots import Feature, State


def export(
    conn: Connection,
    environment: str,
    *,
    features: list[str] | None = None,
    project: str | None = None,
    tag: str | None = None,
) -> dict[str, Any]:
    """The flags named, or those of a project or with a tag. Names that are not there are left
    out. One state when `conn` is a snapshot. Raises NotFoundError for the environment or project.
    """
    if features is None:
        features = repository.list_names(conn, project=project, tag=tag)
    found = snapshots.read(conn, features)
    if environment not in {item.name for item in found.environments}:
        raise NotFoundError(f"There is no environment {environment}.")
    if project is not None and project not in {item.id for item in found.projects}:
        raise NotFoundError(f"There is no project {project}.")
    ids = {row["name"]: row["id"] for row in repository.list_segments(conn)}
    states = [(item, _state(item, environment)) for item in found.features]
    tag_types = {tag.type for item in found.features for tag in item.tags}
    fields = {name for _, state in states for name in _fields(state)}
    segments = {n for _, state in states for s in state.strategies or [] for n in s.segments}
    return {
        "features": [_feature(item) for item in found.features],
        "featureStrategies": [
            _strategy(item, strategy, ids)
            for item, state in states
            for strategy in state.strategies or []
        ],
        "featureEnvironments": [
            {
                "name": item.name,
                "featureName": item.name,
                "environment": environment,
                "enabled": bool(state.enabled),
                "variants": state.variants or [],
            }
            for item, state in states
        ],
        "contextFields": [item for item in found.contextFields if item.name in fields],
        "featureTags": [
            {"featureName": item.name, "tagType": tag.type, "tagValue": tag.value}
            for item in found.features
            for tag in item.tags
        ],
        "segments": [{"id": ids[name], "name": name} for name in sorted(segments)],
        "tagTypes": [item for item in found.tagTypes if item.name in tag_types],
        "dependencies": [
            {"feature": item.name, "dependencies": item.dependencies}
            for item in found.features
            if item.dependencies
        ],
    }


def _state(feature: Feature, environment: str) -> State:
    for state in feature.environments:
        if state.environment == environment:
            return state
    return State(environment, False, [], [])


def _fields(state: State) -> set[str]:
    """Context fields that decide something."""
    found = {variant.stickiness for variant in state.variants or []}
    for strategy in state.strategies or []:
        found |= {constraint.contextName for constraint in strategy.constraints}
        found |= {variant.stickiness for variant in strategy.variants}
        found.add(str(strategy.parameters.get("stickiness", "")))
    return found


def _feature(item: Feature) -> dict[str, Any]:
    return {
        "name": item.name,
        "description": item.description,
        "type": item.type,
        "project": item.project,
        "stale": item.stale,
        "impressionData": item.impressionData,
        "archived": item.archivedAt is not None,
    }


def _strategy(item: Feature, strategy: Any, ids: dict[str, int]) -> dict[str, Any]:
    segments = [ids[name] for name in strategy.segments]
    kept: dict[str, Any] = msgspec.to_builtins(strategy)
    return kept | {"featureName": item.name, "segments": sorted(segments)}
