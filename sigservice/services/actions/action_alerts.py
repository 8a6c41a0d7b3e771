"""What signals say about the alerts of action sets: a set reverts its changes when the last of its
alerts resolves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import msgspec

from sigservice.db import Connection, Row
from sigservice.repository.actions import alerts as alert_rows
from sigservice.services.actions.action_filters import Matcher
from sigservice.services.actions.action_set_options import ResolvedCondition
from sigservice.services.signals.payload_paths import find_scalars, find_text, to_text
from sigservice.services.signals.payload_times import parse_time

# After the end of an alert, as in sql/queries/actions/alerts.sql; an end may be as far ahead.
LATE_TIME = timedelta(hours=1)
_FIRST_END = datetime(1970, 1, 1, tzinfo=UTC)
OTHER_ALERT_FIRES = "Another alert of this set still fires"


class AlertTimes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The paths of the times at which, as a sender says, an alert began and ended."""

    fired: str
    resolved: str


FindTimes = Callable[[str | None], AlertTimes | None]  # by the template of an endpoint


class EvaluatedSignal(NamedTuple):
    """`times` are those of its sender, if the template of its endpoint has them. `is_guarded`:
    guards of releases watch its endpoint."""

    id: int
    endpoint_id: int
    payload: Any
    times: AlertTimes | None
    is_guarded: bool

    def find_time(self, *, is_resolved: bool) -> datetime | None:
        """When the alert ended if it `is_resolved`, else when it began, as the sender says."""
        return find_time(self.payload, self.times, is_resolved=is_resolved)


def hide_key(reason: str | None) -> str | None:
    """The reason of a run without the key of another alert, which is a value of a payload."""
    if reason and reason.startswith(OTHER_ALERT_FIRES):
        return f"{OTHER_ALERT_FIRES}."
    return reason


def is_possible_end(ended_at: datetime, now: datetime) -> bool:
    """Whether an end that a sender names is stored: one far ahead would hide alerts to come, and
    psycopg2 doesn't read all years that PostgreSQL stores."""
    return _FIRST_END <= ended_at <= now + LATE_TIME


def is_resolved(
    resolved_condition: ResolvedCondition | None, matcher: Matcher | None, payload: Any
) -> bool:
    """Whether the signal resolves an alert: all values at the path say so, also those of `[*]`, and
    the filters match that must match such signals too. Alerts that Alertmanager left out of a group
    (`truncatedAlerts`) may still fire: the status of the group is that of the others."""
    if resolved_condition is None:
        return False
    texts = {to_text(value) for value in find_scalars(payload, resolved_condition.path)}
    if not texts or not texts <= {*resolved_condition.values}:
        return False
    if isinstance(payload, dict) and payload.get("truncatedAlerts"):
        return False
    return matcher is None or matcher.matches_resolved(payload)


def find_key(payload: Any, resolved_condition: ResolvedCondition) -> str | None:
    """The correlation key of the alert, None if a value is missing."""
    texts = [find_text(payload, path) for path in resolved_condition.key_paths]
    return None if None in texts else " ".join(map(str, texts))


def find_time(payload: Any, times: AlertTimes | None, *, is_resolved: bool) -> datetime | None:
    """When the alert ended if it `is_resolved`, else when it began, as the sender says: the latest
    of its times, None if there is none or a value isn't a time."""
    if times is None:
        return None
    values = find_scalars(payload, times.resolved if is_resolved else times.fired)
    moments = [parse_time(value) for value in values]
    return None if None in moments else max(filter(None, moments), default=None)


@dataclass
class Alert:
    """`resolved_at` is when it ended last, as its sender says. `signal_id` is the newest signal of
    the batch that says that it fires. `endpoint_and_path`, those of the key, are set if the
    batch changes the alert."""

    is_firing: bool = False
    is_ignored: bool = False
    resolved_at: datetime | None = None
    signal_id: int | None = None
    endpoint_and_path: tuple[int, str] | None = None

    def is_late(self, fired_at: datetime | None) -> bool:
        """Whether it had fired before it ended, of which the service knows already."""
        return (
            fired_at is not None and self.resolved_at is not None and fired_at <= self.resolved_at
        )

    def fire(self, endpoint_and_path: tuple[int, str], signal_id: int) -> None:
        self.is_firing, self.endpoint_and_path, self.signal_id = True, endpoint_and_path, signal_id

    def resolve(
        self, endpoint_and_path: tuple[int, str], resolved_at: datetime | None, now: datetime
    ) -> None:
        if resolved_at is not None and not is_possible_end(resolved_at, now):
            resolved_at = None
        if self.is_firing or self.is_ignored or resolved_at:
            self.endpoint_and_path = endpoint_and_path
        self.is_firing = self.is_ignored = False
        self.resolved_at = max(filter(None, [self.resolved_at, resolved_at]), default=None)


class Alerts:
    """The alerts that the signals of a batch may report, in the order of the signals."""

    def __init__(self, conn: Connection, list_keys: Callable[[], set[tuple[int, str]]]) -> None:
        """`list_keys` returns the {ID of a set, key} of the batch; it is called if one is needed,
        because most batches contain no alert that can resolve."""
        self._conn, self._list_keys = conn, list_keys
        self._alerts: dict[tuple[int, str], Alert] | None = None
        self._others: dict[int, str] = {}  # the key of an alert that isn't of this batch, by set
        self.reverting: set[int] = set()  # IDs of sets that revert all their changes

    def find(self, set_id: int, key: str) -> Alert:
        return self._read()[set_id, key]

    def find_other(self, set_id: int, key: str) -> str | None:
        """The key of another alert of the set that fires and isn't ignored."""
        keys = [
            other
            for (id, other), alert in self._read().items()
            if id == set_id and other != key and alert.is_firing and not alert.is_ignored
        ]
        return min(keys, default=self._others.get(set_id))

    def revert(self, set_id: int) -> None:
        """The set reverts all its changes: none of its alerts fires now, also none that is
        ignored."""
        self.reverting.add(set_id)
        for (id, _), alert in self._read().items():
            if id == set_id:
                alert.is_firing = False

    def list_reported(self, runs: Sequence[Row]) -> list[dict[str, Any]]:
        """What the batch changes. `runs` are its inserted runs."""
        run_ids = {(run["action_set_id"], run["signal_id"]): run["id"] for run in runs}
        return [
            {
                "action_set_id": id,
                "key": key,
                "endpoint_id": alert.endpoint_and_path[0],
                "key_path": alert.endpoint_and_path[1],
                "is_firing": alert.is_firing,
                "run_id": run_ids.get((id, alert.signal_id)),
                "resolved_at": alert.resolved_at,
            }
            for (id, key), alert in (self._alerts or {}).items()
            if alert.endpoint_and_path
        ]

    def _read(self) -> dict[tuple[int, str], Alert]:
        if self._alerts is None:
            self._alerts = {key: Alert() for key in self._list_keys()}
            for row in alert_rows.list_by_keys(self._conn, self._alerts):
                key = row["action_set_id"], row["key"]
                if key in self._alerts:
                    is_ignored = row["ignored_by"] is not None
                    self._alerts[key] = Alert(row["is_firing"], is_ignored, row["resolved_at"])
                else:
                    self._others[key[0]] = key[1]
        return self._alerts
