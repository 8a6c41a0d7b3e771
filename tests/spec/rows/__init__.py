"""Every row of the specification with the check that proves it against a started service."""

from __future__ import annotations

from tests.spec.rows import (
    addresses,
    authentication,
    database,
    database_pool,
    environments,
    features,
    headers,
    limits,
    mail,
    observability,
    programs,
    proxies,
    server,
    sessions,
    signals,
    stopping,
    tls,
)

ROWS = (
    *addresses.ROWS,
    *authentication.ROWS,
    *database.ROWS,
    *database_pool.ROWS,
    *environments.ROWS,
    *features.ROWS,
    *headers.ROWS,
    *limits.ROWS,
    *mail.ROWS,
    *observability.ROWS,
    *programs.ROWS,
    *proxies.ROWS,
    *server.ROWS,
    *sessions.ROWS,
    *signals.ROWS,
    *stopping.ROWS,
    *tls.ROWS,
    *server.LAST,
    *database.LAST,
)
