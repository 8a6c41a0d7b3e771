"""The features API from before projects and environments, JSON, for old scripts.

It uses the environment `default`, and the project `default` unless a body names another.
`disableLegacyFeaturesApi` leaves the list (and, in other modules, validation and tags).
"""

from typing import Any

import msgspec
from msgspec import UNSET

from sigservice.db import Connection
from sigservice.errors import NotFoundError
from sigservice.repository.flags import feature_strategies
from sigservice.repository.flags import features as feature_rows
from sigservice.repository.flags.features import FeatureFilter
from sigservice.services.definitions import merge
from sigservice.services.flags import feature_switches, feature_view, features, strategies
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.flags.features import Metadata
from sigservice.services.flags.strategies import Strategy
from sigservice.services.identity import DEFAULT_ENVIRONMENT, EDIT, VIEW, Identity
from sigservice.web import AdminGuard, Context, HTTPResponse, Json, Router, request, respond
from sigservice.web.body import read_query_pairs

FEATURES = "/api/admin/features"
FEATURE = f"{FEATURES}/<name>"


class LegacyFeature(Metadata, kw_only=True):
    name: str
    project: str = "default"
    enabled: bool = False
    strategies: list[Strategy] = msgspec.field(default_factory=list)


def _is_enabled(config: dict[str, Any]) -> bool:
    return not config["disableLegacyFeaturesApi"]


router = Router(AdminGuard)
legacy_router = Router(AdminGuard, is_enabled=_is_enabled)
disabled_router = Router(AdminGuard, is_enabled=lambda config: not _is_enabled(config))


@router.get(FEATURES, needs=VIEW)
def list_features(conn: Connection, identity: Identity) -> Json:
    """Query: `project`, `namePrefix`, `tag`. `{"version": 2, "features"}`."""
    pairs = read_query_pairs(request.environ)
    filter = FeatureFilter(
        projects=[text for name, text in pairs if name == "project"] or None,
        prefix=dict(pairs).get("namePrefix") or None,
        tags=[text for name, text in pairs if name == "tag"] or None,
    )
    flags, _ = feature_view.search(conn, filter, identity.user_id)
    by_flag = _list_strategies(conn, [flag["name"] for flag in flags])
    features = [_to_json(flag, by_flag.get(flag["name"], [])) for flag in flags]
    return {"version": 2, "features": features}


@disabled_router.post(FEATURES, needs=EDIT)
def reject_creation(context: Context, identity: Identity) -> HTTPResponse:
    raise NotFoundError("The legacy features API is disabled.")


def _respond(conn: Connection, name: str, identity: Identity, status: int = 200) -> HTTPResponse:
    flag = feature_view.build_view(conn, _find_project(conn, name), name, identity.user_id)
    return respond.json(_to_json(flag, _list_strategies(conn, [name]).get(name, [])), status)


def _replace_strategies(
    context: Context,
    conn: Connection,
    target: FeatureEnvironment,
    new: list[Strategy],
    identity: Identity,
) -> None:
    """Removes only the surplus ones: without an active strategy the flag would be disabled in
    between, with an event of it."""
    limit = context.config["strategySegmentsLimit"]
    existing = [row["id"] for row in strategies.list_strategies(conn, target)]
    for n, strategy in enumerate(new):
        if n < len(existing):
            strategy.title = None if strategy.title is UNSET else strategy.title
            strategy.disabled = bool(strategy.disabled)
            strategies.replace(conn, target, existing[n], strategy, identity, max_segments=limit)
        else:
            strategies.add(conn, target, strategy, identity, max_segments=limit)
    for id in existing[len(new) :]:
        strategies.remove(conn, target, id, identity)


@legacy_router.post(FEATURES, needs=EDIT, takes=LegacyFeature)
def create_feature(context: Context, identity: Identity, body: LegacyFeature) -> HTTPResponse:
    """Body: `{name, description?, type?, project?, enabled?, stale?, impressionData?,
    strategies?}`. 201 flag."""
    target = FeatureEnvironment(body.project, body.name, DEFAULT_ENVIRONMENT)
    with context.database.transaction() as conn:
        features.create(conn, body.project, body.name, merge(Metadata(), body), identity)
        if body.strategies:
            _replace_strategies(context, conn, target, body.strategies, identity)
        if body.enabled:
            feature_switches.switch(conn, target, True, identity)
        return _respond(conn, body.name, identity, 201)


@legacy_router.get(FEATURE, needs=VIEW)
def show_feature(conn: Connection, identity: Identity, name: str) -> HTTPResponse:
    """Flag."""
    return _respond(conn, name, identity)


@legacy_router.put(FEATURE, needs=EDIT, takes=LegacyFeature)
def replace_feature(
    context: Context, identity: Identity, name: str, body: LegacyFeature
) -> HTTPResponse:
    """Body: as create; absent fields get their default. Flag."""
    with context.database.transaction() as conn:
        target = _find_target(conn, name)
        features.update(conn, target.project, name, merge(Metadata(), body), identity)
        _replace_strategies(context, conn, target, body.strategies, identity)
        feature_switches.switch(conn, target, body.enabled, identity)
        return _respond(conn, name, identity)


@legacy_router.delete(FEATURE, needs=EDIT)
def archive_feature(conn: Connection, identity: Identity, name: str) -> None:
    """Archives the flag."""
    features.archive(conn, _find_project(conn, name), [name], identity)


@legacy_router.post(f"{FEATURE}/toggle", needs=EDIT)
def toggle_feature(conn: Connection, identity: Identity, name: str) -> HTTPResponse:
    """Flag, toggled."""
    target = _find_target(conn, name)
    if not feature_switches.switch(conn, target, True, identity):
        feature_switches.switch(conn, target, False, identity)
    return _respond(conn, name, identity)


@legacy_router.post(f"{FEATURE}/toggle/<is_on:switch>", needs=EDIT)
def switch_feature(conn: Connection, identity: Identity, name: str, is_on: bool) -> HTTPResponse:
    """Flag."""
    feature_switches.switch(conn, _find_target(conn, name), is_on, identity)
    return _respond(conn, name, identity)


@legacy_router.post(f"{FEATURE}/stale/<is_stale:switch>", needs=EDIT)
def switch_stale(conn: Connection, identity: Identity, name: str, is_stale: bool) -> HTTPResponse:
    """Flag."""
    features.set_stale(conn, _find_project(conn, name), [name], is_stale, identity)
    return _respond(conn, name, identity)


def _find_project(conn: Connection, name: str) -> str:
    """Raises NotFoundError, also for an archived flag."""
    row = feature_rows.find(conn, name)
    if row is None or row["archived_at"]:
        raise NotFoundError(f"Flag {name} not found.")
    return str(row["project"])


def _find_target(conn: Connection, name: str) -> FeatureEnvironment:
    return FeatureEnvironment(_find_project(conn, name), name, DEFAULT_ENVIRONMENT)


def _list_strategies(conn: Connection, names: list[str]) -> dict[str, list[dict[str, Any]]]:
    by_flag: dict[str, list[dict[str, Any]]] = {}
    for row in feature_strategies.list_by_features(conn, names, DEFAULT_ENVIRONMENT):
        by_flag.setdefault(row["feature"], []).append(strategies.to_json(row))
    return by_flag


def _to_json(flag: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """A flag in the format of version 4, with its state in `default`."""
    states = [e for e in flag["environments"] if e["name"] == DEFAULT_ENVIRONMENT]
    names = (
        "name", "description", "type", "project", "stale", "impressionData", "createdAt",
        "lastSeenAt",
    )  # fmt: skip
    return {name: flag[name] for name in names} | {
        "enabled": any(state["enabled"] for state in states),
        "strategies": rows,
        "variants": flag.get("variants", []),
    }
