"""What a person decides about the alerts that hold flags off, before these are turned on: an alert
that still fires would turn them off again."""

from collections.abc import Sequence
from datetime import datetime

from sigservice.db import Connection, Row
from sigservice.repository.actions import action_runs
from sigservice.services.actions import action_sets, held_flags, ignored_alerts
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems

IGNORE, DISABLE = "ignore", "disable"
MAX_HELD = 1000


def list_firing(conn: Connection, by: Identity, targets: Sequence[FeatureEnvironment]) -> list[Row]:
    """The rows of `held_flags.list_held_flags` whose alert would turn `targets` off again."""
    names = sorted({target.feature for target in targets})
    places = {(target.feature, target.environment) for target in targets}
    return [
        row
        for row in held_flags.list_held_flags(conn, by, limit=MAX_HELD, features=names)
        if row["switches_again"]
        and not row["enabled"]
        and (row["feature"], row["environment"]) in places
    ]


def settle(
    conn: Connection,
    targets: Sequence[FeatureEnvironment],
    choice: str,
    by: Identity,
    now: datetime,
) -> None:
    """Ignores the alerts that hold `targets` off until they resolve, or disables their action sets,
    which needs no ADMIN here. Call it before the flags are turned on. Raises BadDataError."""
    Problems().check_choice(choice, "alert", [IGNORE, DISABLE]).raise_if_any()
    action_runs.lock(conn)
    rows = list_firing(conn, by, targets)
    if choice == IGNORE:
        ignored_alerts.ignore_all(conn, rows, by)
        return
    for project, id in sorted({(row["project"], row["action_set_id"]) for row in rows}):
        action_sets.switch(conn, project, id, False, by, now)
