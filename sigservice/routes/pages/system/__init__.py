"""Events, settings, mail, version check, health."""

from sigservice.routes.pages.system import (
    events,
    home,
)

ROUTERS = (
    events.router,
    home.router,
)
