"""Flags that are ready to be removed, and why."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sigservice.db import Connection, Row
from sigservice.repository.flags import features
from sigservice.services.identity import name_actor


class Removal(NamedTuple):
    """`keep` is what to keep in the code: `on`, `off` or `?`; `since` is when production began to
    serve this value to everyone."""

    reason: str
    keep: str
    since: datetime | None


def list_removals(
    conn: Connection, days: int, now: datetime, names: Sequence[str] | None = None
) -> dict[str, Removal]:
    """The flags, all or some, that have a reason; `days` is the option `staleFlagDays`."""
    return {row["name"]: _explain(row, now) for row in features.list_removable(conn, days, names)}


def _explain(row: Row, now: datetime) -> Removal:
    keep = row["value"] or "?"
    if row["stale"] and row["marked_at"]:
        actor = name_actor(row["marked_by"], row["marked_by_id"])
        reason = f"marked by {actor} {_count_days(row['marked_at'], now)} ago"
    elif row["stale"]:
        reason = "marked"
    elif row["is_unchanged"]:
        reason = f"{keep} for everyone, unchanged for {_count_days(row['changed_at'], now)}"
    elif row["is_unseen"]:
        reason = f"not evaluated for {_count_days(row['seen_at'], now)}"
    else:
        reason = f"older than {row['type_name']} flags live ({row['lifetime_days']} d)"
    return Removal(reason, keep, row["changed_at"] if row["value"] else None)


def _count_days(at: datetime, now: datetime) -> str:
    return f"{max(0, (now - at).days)} d"
