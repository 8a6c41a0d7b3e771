"""Every row of the specification with the check that proves it against a started service."""

from __future__ import annotations

from tests.spec.rows import (
    environments,
    features,
    headers,
    limits,
    mail,
    sessions,
    signal_endpoints,
    signals,
)

ROWS = (
    *environments.ROWS,
    *features.ROWS,
    *headers.ROWS,
    *limits.ROWS,
    *mail.ROWS,
    *sessions.ROWS,
    *signal_endpoints.ROWS,
    *signals.ROWS,
)
