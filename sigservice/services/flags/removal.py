"""Flags that are ready to be removed, and why."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from sigservice.db import Connection, Row
from sigservice.repository.flags import features
from sigservice.repository.usage import client_metrics
from sigservice.services.identity import name_actor


class Removal(NamedTuple):
    """`keep` is what to keep in the code: `on`, `off` or `?`; `task` says what there is to do."""

    reason: str
    keep: str
    task: str


def list_names(conn: Connection, days: int, project: str | None) -> set[str]:
    """The flags, of a project or of all, that have a reason; `days` is the option `staleFlagDays`.
    What production serves is only read for flags that no cheaper reason decides."""
    rows = features.list_old(conn, days, project)
    undecided = [row["name"] for row in rows if not row["is_ready"]]
    removable = features.list_removable(conn, days, undecided) if undecided else []
    return {row["name"] for row in rows if row["is_ready"]} | {row["name"] for row in removable}


def list_removals(
    conn: Connection, days: int, now: datetime, names: Sequence[str], url: str
) -> dict[str, Removal]:
    """The flags among these that have a reason; `url` is the address of the list of flags."""
    if not (rows := features.list_removable(conn, days, names) if names else []):
        return {}
    applications = client_metrics.list_applications(conn, [row["name"] for row in rows])
    removals = {}
    for row in rows:
        name, keep, reason = row["name"], row["value"] or "?", _explain(row, now)
        since = f"{row['changed_at'].astimezone(UTC):%-d %b %Y}"
        why = f"{keep} for everyone in production since {since}" if row["value"] else reason
        if name in applications:
            why += f"; used by {', '.join(applications[name])}"
        check = f"Delete the check, keep the code for “{keep}”."
        if not row["value"]:
            check = "Decide which code to keep, and delete the check."
        task = (
            f"Remove the flag {name}. Keep: {keep}. {why[:1].upper()}{why[1:]}. 1. {check}"
            f" 2. Deploy; its page shows when nobody asks any longer: {url}/{name}. 3. Archive it."
        )
        removals[name] = Removal(reason, keep, task)
    return removals


def _explain(row: Row, now: datetime) -> str:
    if row["stale"] and row["marked_at"]:
        actor = name_actor(row["marked_by"], row["marked_by_id"])
        return f"marked by {actor} {_count_days(row['marked_at'], now)} ago"
    if row["stale"]:
        return "marked"
    if row["is_unchanged"]:
        return f"{row['value']} for everyone, unchanged for {_count_days(row['changed_at'], now)}"
    if row["is_unseen"]:
        return f"not evaluated for {_count_days(row['seen_at'], now)}"
    return f"older than {row['type_name']} flags live ({row['lifetime_days']} d)"


def _count_days(at: datetime, now: datetime) -> str:
    return f"{max(0, (now - at).days)} d"
