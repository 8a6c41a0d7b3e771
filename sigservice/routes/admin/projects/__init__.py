"""Projects, environments, context fields, tags, types, limits."""

from sigservice.routes.admin.projects import (
    context_fields,
    environments,
    feature_types,
    project_environments,
    projects,
    strategy_types,
    tag_types,
    tags,
)

ROUTERS = (
    context_fields.router,
    environments.router,
    feature_types.router,
    project_environments.router,
    projects.router,
    strategy_types.router,
    tag_types.router,
    tags.router,
)
