"""Features, strategies, constraints, variants, segments, dependencies, evaluation."""

from sigservice.routes.admin.flags import (
    feature_archive,
    feature_environments,
    feature_relations,
    feature_search,
    feature_strategies,
    features,
    legacy_features,
    playground,
    segments,
)

ROUTERS = (
    feature_archive.router,
    feature_environments.router,
    feature_relations.router,
    feature_search.router,
    feature_strategies.router,
    features.router,
    legacy_features.router,
    legacy_features.legacy_router,
    legacy_features.disabled_router,
    playground.router,
    segments.router,
)
