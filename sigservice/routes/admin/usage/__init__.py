"""Client metrics, applications, statistics."""

from sigservice.routes.admin.usage import (
    client_applications,
    client_metrics,
    statistics,
)

ROUTERS = (
    client_applications.router,
    client_metrics.router,
    statistics.router,
)
