"""Client metrics, applications, statistics."""

from sigservice.routes.pages.usage import (
    client_applications,
)

ROUTERS = (client_applications.router,)
