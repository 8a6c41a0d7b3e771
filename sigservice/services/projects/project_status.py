"""The status of a project: resources, activity, stale flags, lifecycle."""

from typing import Any

from sigservice.db.pool import Connection
from sigservice.repository.projects import project_status
from sigservice.services.flags import feature_lifecycle
from sigservice.services.projects import projects


def build_status(conn: Connection, project: str) -> dict[str, Any]:
    """Health is the percentage of flags that are neither stale nor potentially stale; technical
    debt is the rest. Raises NotFoundError."""
    members = projects.get(conn, project)["member_count"]
    counts = project_status.count(conn, project)
    stale = counts["stale"] + counts["potentially_stale"]
    health = round(100 - 100 * stale / counts["features"]) if counts["features"] else 100
    return {
        "resources": {
            "members": members,
            "apiTokens": counts["api_tokens"],
            "segments": counts["segments"],
        },
        "activityCountByDate": [
            {"date": row["day"], "count": row["events"]}
            for row in project_status.count_events_by_day(conn, project)
        ],
        "health": {"current": health},
        "technicalDebt": {"current": 100 - health},
        "staleFlags": {"total": stale},
        "lifecycleSummary": feature_lifecycle.summarize(conn, project),
    }
