"""Which alerts of a set still fire: what they switched off stays off until the last is over.

Runs keep it: each that an alert caused has the alert's key as `correlation`.
"""

from __future__ import annotations

from sigservice.db.pool import Connection
from sigservice.repository.actions import action_runs


class Alerts:
    """Asked and told in the order of the signals, for as long as one batch is judged."""

    def __init__(self, conn: Connection, sets: list[int]) -> None:
        self._conn, self._sets = conn, sets
        self._stored: dict[int, set[str]] | None = None
        self._told: dict[int, dict[str, bool]] = {}

    def tell(self, set_id: int, key: str, *, fires: bool) -> None:
        self._told.setdefault(set_id, {})[key] = fires

    def firing(self, set_id: int) -> set[str]:
        """The keys, what this batch has told included."""
        if self._stored is None:  # most batches hold nothing that is over
            self._stored = {}
            for row in action_runs.list_firing(self._conn, self._sets):
                self._stored.setdefault(row["action_set_id"], set()).add(row["correlation"])
        told = self._told.get(set_id, {})
        kept = {key for key in self._stored.get(set_id, ()) if told.get(key, True)}
        return kept | {key for key, fires in told.items() if fires}
