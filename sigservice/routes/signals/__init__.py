"""Signal endpoints, their tokens, signals, dead letters."""

from sigservice.routes.signals import (
    signals,
)

ROUTERS = (signals.router,)
