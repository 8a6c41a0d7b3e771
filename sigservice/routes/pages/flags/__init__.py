"""Features, strategies, constraints, variants, segments, dependencies, evaluation."""

from sigservice.routes.pages.flags import (
    feature_archive,
    feature_environments,
    feature_relations,
    feature_strategies,
    features,
    playground,
    segments,
)

ROUTERS = (
    feature_archive.router,
    feature_environments.router,
    feature_relations.router,
    feature_strategies.router,
    features.router,
    playground.router,
    segments.router,
)
