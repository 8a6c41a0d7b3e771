"""Signal endpoints, their tokens, signals, dead letters."""

from sigservice.routes.admin.signals import (
    signal_endpoint_tokens,
    signal_endpoints,
    signals,
)

ROUTERS = (
    signal_endpoint_tokens.router,
    signal_endpoints.router,
    signals.router,
)
