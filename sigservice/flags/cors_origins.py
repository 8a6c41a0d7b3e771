"""Which web pages may ask the frontend API: kept until the settings change."""

from __future__ import annotations

from sigservice.db.pool import Database
from sigservice.flags.revision_cache import RevisionCache, Revisions
from sigservice.services.system import settings


class CorsOrigins:
    def __init__(self, database: Database, state: RevisionCache) -> None:
        self._database, self._state = database, state
        self._kept: tuple[int, frozenset[str]] | None = None

    def get(self, known: Revisions | None = None) -> frozenset[str]:
        """Those that hold now; `known` spares asking. Raises DatabaseUnavailable."""
        revision = (known or self._state.read_revisions()).topics.get("tokens", 0)
        if self._kept is None or self._kept[0] != revision:
            with self._database.autocommit() as conn:
                self._kept = revision, frozenset(settings.list_frontend_origins(conn))
        return self._kept[1]

    def get_cached(self) -> frozenset[str]:
        """For when the database is away."""
        return self._kept[1] if self._kept else frozenset()
