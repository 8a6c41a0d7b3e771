"""Projects, environments, context fields, tags, types, limits."""

from sigservice.routes.pages.projects import (
    context_fields,
    environments,
    projects,
)

ROUTERS = (
    context_fields.router,
    environments.router,
    projects.router,
)
