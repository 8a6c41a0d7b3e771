"""The lifecycle of a flag: initial, pre-live, live, completed, archived; each stage at most once.

No stage changes an evaluation, so no revision is bumped.
"""

from typing import Any, Literal

import msgspec

from sigservice.clock import format_iso
from sigservice.db import Connection
from sigservice.repository.flags import feature_lifecycle
from sigservice.services.flags import features
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems
from sigservice.services.system import events

STAGES = {
    "initial": "initial",
    "pre-live": "preLive",
    "live": "live",
    "completed": "completed",
    "archived": "archived",
}


class Completion(msgspec.Struct):
    """Whether the code keeps the flag's behavior; `statusValue` is the variant that it keeps."""

    status: Literal["kept", "discarded"]
    statusValue: str | None = None


def list_stages(conn: Connection, project: str, name: str) -> list[dict[str, Any]]:
    """The stages with their times, oldest first; none for an unknown flag. Includes what SDKs have
    just reported, before the job stores it."""
    feature_lifecycle.add_reached(conn, [name])
    return [
        {"stage": row["stage"], "enteredStageAt": format_iso(row["entered_at"])}
        | ({"status": row["status"]} if row["status"] else {})
        for row in feature_lifecycle.list_stages(conn, project, name)
    ]


def count_flags(conn: Connection) -> dict[str, int]:
    """The number of flags that are in each stage, of all projects."""
    flags = {row["stage"]: row["flags"] for row in feature_lifecycle.summarize(conn)}
    return {name: flags.get(stage, 0) for stage, name in STAGES.items()}


def summarize(conn: Connection, project: str) -> dict[str, Any]:
    """The flags in each stage, and the days that flags spent there before the next stage."""
    rows = {row["stage"]: row for row in feature_lifecycle.summarize(conn, project)}
    archived = rows.pop("archived")
    summary: dict[str, Any] = {}
    for stage, name in STAGES.items():
        row = rows.get(stage, {"flags": 0, "average_days": None})
        days = row["average_days"]
        summary[name] = {
            "averageDays": None if days is None else round(days, 1),
            "currentFlags": row["flags"],
        }
    summary["archived"] = {
        "currentFlags": archived["flags"],
        "last30Days": archived["entered_last_30_days"],
    }
    return summary


def complete(conn: Connection, project: str, name: str, new: Completion, by: Identity) -> None:
    """Does nothing for a completed flag. Raises NotFoundError, also for an archived one,
    BadDataError."""
    Problems().check_text(new.statusValue, "statusValue", max_length=100).raise_if_any()
    features.get_active(conn, project, name)
    if feature_lifecycle.complete(conn, name, new.status, new.statusValue):
        data = msgspec.to_builtins(new)
        events.record(conn, "feature-completed", by, data=data, project=project, feature_name=name)


def uncomplete(conn: Connection, project: str, name: str, by: Identity) -> None:
    """Does nothing for a flag that isn't completed. Raises NotFoundError."""
    features.get_active(conn, project, name)
    if feature_lifecycle.uncomplete(conn, name):
        events.record(conn, "feature-uncompleted", by, project=project, feature_name=name)
