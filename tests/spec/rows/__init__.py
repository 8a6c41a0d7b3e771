"""Every row of the specification with the check that proves it against a started service."""

from __future__ import annotations

from tests.spec.rows import headers, sessions

ROWS = (*sessions.ROWS, *headers.ROWS)
