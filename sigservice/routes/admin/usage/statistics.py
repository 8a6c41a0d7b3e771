"""Statistics of the installation: JSON, and CSV for spreadsheets."""

import csv
import io
from typing import Any

from sigservice.clock import format_iso
from sigservice.repository.usage import statistics
from sigservice.services.identity import VIEW, Identity
from sigservice.version import __version__
from sigservice.web import AdminGuard, Context, HTTPResponse, Json, Router, respond

PATH = "/api/admin/instance-admin/statistics"


router = Router(AdminGuard)


def _collect(context: Context) -> dict[str, Any]:
    with context.database.autocommit(is_slow=True) as conn:
        row = statistics.count_everything(conn)
    return {
        "instanceId": row["instance_id"],
        "timestamp": format_iso(context.clock.now()),
        "versionOSS": __version__,
        "users": row["users"],
        "readOnlyUsers": row["read_only_users"],
        "licensedUsers": row["users"],
        "activeUsers": {f"last{days}": row[f"active_{days}"] for days in (7, 30, 60, 90)},
        "featureToggles": row["features"],
        "projects": row["projects"],
        "contextFields": row["context_fields"],
        "roles": row["roles"],
        "groups": 0,
        "environments": row["environments"],
        "segments": row["segments"],
        "strategies": row["strategies"],
        "SAMLenabled": False,
        "OIDCenabled": context.provider is not None,
        "clientApps": [
            {"range": "allTime", "count": row["apps"]},
            {"range": "30d", "count": row["apps_30"]},
            {"range": "7d", "count": row["apps_7"]},
        ],
        "featureExports": 0,  # have no event
        "featureImports": row["imports"],
        "apiTokens": {kind: row[f"{kind}_tokens"] for kind in ("admin", "client", "frontend")},
        "previousDayMetricsBucketsCount": {
            "enabledCount": row["yesterdays_metrics"],
            "variantCount": row["yesterdays_variants"],
        },
        "maxEnvironmentStrategies": row["max_strategies"],
        "maxConstraints": row["max_constraints"],
        "maxConstraintValues": row["max_constraint_values"],
    }


@router.get(PATH, needs=VIEW)
def get_statistics(context: Context, identity: Identity) -> Json:
    """Numbers of users, flags, projects, tokens and more."""
    return _collect(context)


@router.get(f"{PATH}/csv", needs=VIEW)
def get_statistics_csv(context: Context, identity: Identity) -> HTTPResponse:
    """The same numbers as CSV."""
    columns = _flatten(_collect(context))
    output = io.StringIO()
    csv.writer(output).writerows([columns.keys(), columns.values()])
    return respond.text(output.getvalue(), "text/csv")


def _flatten(statistics: dict[str, Any]) -> dict[str, Any]:
    """One column for each number: `apiTokens.admin`, `clientApps.7d`."""
    columns: dict[str, Any] = {}
    for name, value in statistics.items():
        if isinstance(value, list):
            value = {item["range"]: item["count"] for item in value}
        if isinstance(value, dict):
            columns |= {f"{name}.{inner}": number for inner, number in value.items()}
        else:
            columns[name] = value
    return columns
