"""The HTML pages, one package for each topic."""

from sigservice.routes.pages import (
    access,
    actions,
    flags,
    projects,
    signals,
    system,
    usage,
)

ROUTERS = (
    *signals.ROUTERS,
    *actions.ROUTERS,
    *flags.ROUTERS,
    *projects.ROUTERS,
    *usage.ROUTERS,
    *access.ROUTERS,
    *system.ROUTERS,
)
