"""Exports flags of one environment in the format that Unleash reads and writes."""

from typing import Any

import msgspec

from sigservice.db import Connection
from sigservice.errors import NotFoundError
from sigservice.repository.transfer import definitions
from sigservice.services.definitions import merge
from sigservice.services.flags.features import Metadata
from sigservice.services.transfer import snapshots
from sigservice.services.transfer.snapshots import Feature, FeatureState


def export_features(
    conn: Connection,
    environment: str,
    *,
    features: list[str] | None = None,
    project: str | None = None,
    tag: str | None = None,
) -> dict[str, Any]:
    """The flags with these names, of a project or with a tag; unknown names are ignored. The result
    is consistent if `conn` is a snapshot transaction. Raises NotFoundError for the environment or
    project."""
    if features is None:
        features = definitions.list_feature_names(conn, project=project, tag=tag)
    snapshot = snapshots.read_snapshot(conn, features)
    if environment not in {item.name for item in snapshot.environments}:
        raise NotFoundError(f"Environment {environment} not found.")
    if project is not None and project not in {item.id for item in snapshot.projects}:
        raise NotFoundError(f"Project {project} not found.")
    ids = {row["name"]: row["id"] for row in definitions.list_segments(conn)}
    states = [(item, _find_state(item, environment)) for item in snapshot.features]
    tag_types = {tag.type for item in snapshot.features for tag in item.tags}
    fields = {name for _, state in states for name in _list_context_fields(state)}
    segments = {n for _, state in states for s in state.strategies or [] for n in s.segments}
    return {
        "features": [_feature_to_json(item) for item in snapshot.features],
        "featureStrategies": [
            _strategy_to_json(item, strategy, ids)
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
        "contextFields": [item for item in snapshot.contextFields if item.name in fields],
        "featureTags": [
            {"featureName": item.name, "tagType": tag.type, "tagValue": tag.value}
            for item in snapshot.features
            for tag in item.tags
        ],
        "segments": [{"id": ids[name], "name": name} for name in sorted(segments)],
        "tagTypes": [item for item in snapshot.tagTypes if item.name in tag_types],
        "dependencies": [
            {"feature": item.name, "dependencies": item.dependencies}
            for item in snapshot.features
            if item.dependencies
        ],
    }


def _find_state(feature: Feature, environment: str) -> FeatureState:
    states = (state for state in feature.environments if state.environment == environment)
    return next(states, FeatureState(environment, False, [], []))


def _list_context_fields(state: FeatureState) -> set[str]:
    """The names of the context fields that affect the evaluation."""
    names = {variant.stickiness for variant in state.variants or []}
    for strategy in state.strategies or []:
        names |= {constraint.contextName for constraint in strategy.constraints}
        names |= {variant.stickiness for variant in strategy.variants}
        names.add(str(strategy.parameters.get("stickiness", "")))
    return names


def _feature_to_json(item: Feature) -> dict[str, Any]:
    metadata = msgspec.to_builtins(merge(Metadata(), item))
    archived = item.archivedAt is not None
    return {"name": item.name, "project": item.project, **metadata, "archived": archived}


def _strategy_to_json(item: Feature, strategy: Any, ids: dict[str, int]) -> dict[str, Any]:
    segments = [ids[name] for name in strategy.segments]
    fields: dict[str, Any] = msgspec.to_builtins(strategy)
    return fields | {"featureName": item.name, "segments": sorted(segments)}
