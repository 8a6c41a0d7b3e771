"""Every row of the specification with the check that proves it against a started service."""

from __future__ import annotations

from tests.spec.rows import (
    database,
    database_pool,
    environments,
    features,
    headers,
    limits,
    sessions,
    signal_endpoints,
    signals,
    tls,
)

ROWS = (
    *database.ROWS,
    *database_pool.ROWS,
    *environments.ROWS,
    *features.ROWS,
    *headers.ROWS,
    *limits.ROWS,
    *sessions.ROWS,
    *signal_endpoints.ROWS,
    *signals.ROWS,
    *tls.ROWS,
    *database.LAST,
)
