"""Events, settings, mail, version check, health."""

from sigservice.routes.system import (
    api_description,
    health,
    static,
)

ROUTERS = (
    api_description.router,
    api_description.page_router,
    health.router,
    static.router,
)
