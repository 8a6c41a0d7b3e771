"""Events, settings, mail, version check, health."""

from sigservice.routes.admin.system import (
    events,
    ui_config,
)

ROUTERS = (
    events.router,
    ui_config.router,
)
