"""The admin API and the JSON API of users, one package for each topic."""

from sigservice.routes.admin import (
    access,
    actions,
    flags,
    projects,
    signals,
    system,
    transfer,
    usage,
)

ROUTERS = (
    *signals.ROUTERS,
    *actions.ROUTERS,
    *flags.ROUTERS,
    *projects.ROUTERS,
    *usage.ROUTERS,
    *access.ROUTERS,
    *transfer.ROUTERS,
    *system.ROUTERS,
)
