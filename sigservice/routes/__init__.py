"""All routes of the service: what SDKs and senders call, the admin API, the pages."""

from sigservice.routes import (
    access,
    admin,
    flags,
    pages,
    signals,
    system,
    usage,
)

ROUTERS = (
    *signals.ROUTERS,
    *flags.ROUTERS,
    *usage.ROUTERS,
    *access.ROUTERS,
    *system.ROUTERS,
    *admin.ROUTERS,
    *pages.ROUTERS,
)
