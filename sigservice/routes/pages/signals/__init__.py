"""Signal endpoints, their tokens, signals, dead letters."""

from sigservice.routes.pages.signals import (
    integrations,
    signal_endpoint_tokens,
    signal_endpoints,
    signals,
)

ROUTERS = (
    integrations.router,
    signal_endpoint_tokens.router,
    signal_endpoints.router,
    signals.router,
)
