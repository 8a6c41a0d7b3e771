"""Applications that use flags, with their instances: recorded, listed, deleted."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from sigservice.clock import format_iso
from sigservice.db import Connection, Row, build_like_pattern
from sigservice.errors import require_found
from sigservice.repository.usage import client_applications, client_metrics
from sigservice.services.identity import Identity
from sigservice.services.system import events

DEFAULT_INSTANCE = "default"


class Instance(NamedTuple):
    """One running instance of an application; `strategies` is None if it didn't report any."""

    app_name: str
    instance_id: str
    environment: str
    sdk_version: str | None = None
    sdk_type: str | None = None
    strategies: Sequence[str] | None = None


def get(conn: Connection, app_name: str) -> Row:
    """Raises NotFoundError."""
    return require_found(client_applications.find(conn, app_name), "Application not found.")


def list_page(
    conn: Connection, *, text: str, limit: int, offset: int
) -> tuple[list[dict[str, Any]], int]:
    """The JSON of a page, and the total count; `text` is a part of the name."""
    pattern = build_like_pattern(text)
    rows = client_applications.list_page(conn, pattern=pattern, limit=limit, offset=offset)
    features = client_metrics.list_features(conn, [row["app_name"] for row in rows])
    applications = [_to_json(row, row["environments"], features) for row in rows]
    return applications, client_applications.count(conn, pattern=pattern)


def describe(conn: Connection, app_name: str) -> dict[str, Any]:
    """The JSON of an application. Raises NotFoundError."""
    row = get(conn, app_name)
    instances = client_applications.summarize_instances(conn, app_name)
    features = client_metrics.list_features(conn, [app_name])
    return _to_json(row, [instance["environment"] for instance in instances], features)


def describe_overview(conn: Connection, app_name: str) -> dict[str, Any]:
    """The JSON of an application by environment. Raises NotFoundError."""
    row = get(conn, app_name)
    features = client_metrics.list_features(conn, [app_name])
    return {
        "projects": sorted({feature["project"] for feature in features}),
        "featureCount": len({feature["feature"] for feature in features}),
        "environments": [
            {
                "name": summary["environment"],
                "instanceCount": summary["instances"],
                "sdks": sorted({*summary["backend_sdks"], *summary["frontend_sdks"]}),
                "frontendSdks": summary["frontend_sdks"],
                "backendSdks": summary["backend_sdks"],
                "lastSeen": format_iso(summary["last_seen"]),
                "issues": {"missingFeatures": [], "outdatedSdks": []},
            }
            for summary in client_applications.summarize_instances(conn, app_name)
        ],
        "issues": {"missingStrategies": row["missing_strategies"]},
    }


def delete(conn: Connection, app_name: str, by: Identity) -> None:
    """Deletes an application with its instances, if it exists."""
    if client_applications.delete(conn, app_name):
        events.record(conn, "application-deleted", by, pre_data={"appName": app_name})


def _to_json(row: Row, environments: list[str], features: list[Row]) -> dict[str, Any]:
    """`usage` follows from the reported flags; without any the projects are unknown."""
    usage: dict[str, set[str]] = {}
    for feature in features:
        if feature["app_name"] == row["app_name"]:
            usage.setdefault(feature["project"], set()).add(feature["environment"])
    if not usage and environments:
        usage["*"] = set(environments)
    return {
        "appName": row["app_name"],
        "description": row["description"] or "",
        "strategies": msgspec.Raw(row["strategies"].encode()),
        "usage": [
            {"project": project, "environments": sorted(names)}
            for project, names in sorted(usage.items())
        ],
    }
