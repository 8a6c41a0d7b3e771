"""The origins of web pages that may call the frontend API, cached until the settings change."""

from sigservice.db import Database
from sigservice.delivery.revision_cache import RevisionCache
from sigservice.services.revisions import Revisions
from sigservice.services.system import settings


class CorsOrigins:
    def __init__(self, database: Database, revision_cache: RevisionCache) -> None:
        self._database, self._revision_cache = database, revision_cache
        self._cached: tuple[int, frozenset[str]] | None = None

    def get(self, revisions: Revisions | None = None) -> frozenset[str]:
        """The current origins; `revisions` saves a read. Raises DatabaseUnavailable."""
        revision = (revisions or self._revision_cache.read_revisions()).topics.get("tokens", 0)
        if self._cached is None or self._cached[0] != revision:
            with self._database.autocommit() as conn:
                self._cached = revision, frozenset(settings.list_frontend_origins(conn))
        return self._cached[1]

    def get_cached(self) -> frozenset[str]:
        """The origins that were read last, for use while the database is unavailable."""
        return self._cached[1] if self._cached else frozenset()
