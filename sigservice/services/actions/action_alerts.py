"""The firing alerts of action sets: a set reverts its changes when the last one resolves.

They are stored with the runs: each run that an alert caused has the alert's key as `correlation`.
"""

from sigservice.db import Connection
from sigservice.repository.actions import action_runs, ignored_alerts

OTHER_ALERT_FIRES = "Another alert of this set still fires"


def hide_key(reason: str | None) -> str | None:
    """The reason of a run without the key of another alert, which is a value of a payload."""
    if reason and reason.startswith(OTHER_ALERT_FIRES):
        return f"{OTHER_ALERT_FIRES}."
    return reason


class FiringAlerts:
    """The stored alerts and the alerts of the batch under evaluation, in the order of its
    signals."""

    def __init__(self, conn: Connection, sets: list[int]) -> None:
        self._conn, self._sets = conn, sets
        self._database_keys: dict[int, set[str]] | None = None
        self._batch: dict[int, dict[str, bool]] = {}
        self._ignored_keys: dict[int, set[str]] | None = None

    def is_ignored(self, set_id: int, key: str) -> bool:
        """Whether a person ignores the alert until it resolves."""
        if self._ignored_keys is None:  # most batches contain no alert that can resolve
            self._ignored_keys = {}
            for row in ignored_alerts.list_all(self._conn, self._sets):
                self._ignored_keys.setdefault(row["action_set_id"], set()).add(row["correlation"])
        return key in self._ignored_keys.get(set_id, ())

    def stop_ignoring(self, set_id: int, key: str) -> bool:
        """Deletes the decision to ignore an alert, which has resolved; False if there is none."""
        if not self.is_ignored(set_id, key):
            return False
        ignored_alerts.delete(self._conn, set_id, key)
        (self._ignored_keys or {})[set_id].remove(key)
        return True

    def record(self, set_id: int, key: str, *, is_firing: bool) -> None:
        self._batch.setdefault(set_id, {})[key] = is_firing

    def list_keys(self, set_id: int) -> set[str]:
        """The keys of the alerts that fire, including alerts of this batch."""
        if self._database_keys is None:  # most batches contain no resolved alert
            self._database_keys = {}
            for row in action_runs.list_firing_alerts(self._conn, self._sets):
                self._database_keys.setdefault(row["action_set_id"], set()).add(row["correlation"])
        batch = self._batch.get(set_id, {})
        database_keys = {key for key in self._database_keys.get(set_id, ()) if batch.get(key, True)}
        return database_keys | {key for key, is_firing in batch.items() if is_firing}
