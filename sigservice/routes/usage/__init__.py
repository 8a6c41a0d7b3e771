"""Client metrics, applications, statistics."""

from sigservice.routes.usage import (
    client_applications,
    client_metrics,
)

ROUTERS = (
    client_applications.router,
    client_applications.frontend_router,
    client_metrics.router,
    client_metrics.frontend_router,
    client_metrics.edge_router,
    client_metrics.disabled_edge_router,
)
