"""Features, strategies, constraints, variants, segments, dependencies, evaluation."""

from sigservice.routes.flags import (
    client,
    frontend,
)

ROUTERS = (
    client.router,
    frontend.router,
)
