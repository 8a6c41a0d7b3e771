"""Metrics of a flag, JSON: how often it was evaluated, and its impact metrics."""

from sigservice.clock import format_iso
from sigservice.errors import BadDataError
from sigservice.repository.usage import client_metrics as client_metric_rows
from sigservice.services.identity import VIEW, Identity
from sigservice.services.usage import client_metrics, impact_metrics
from sigservice.web import AdminGuard, Connection, Context, Json, Router, read_query, request
from sigservice.web.body import read_number

PATH = "/api/admin/client-metrics/features/<name>"
VERSION = {"version": 1, "maturity": "stable"}
DEFAULT_HOURS, MAX_HOURS = 24, 48


router = Router(AdminGuard)


@router.get(PATH, needs=VIEW)
def get_feature_metrics(conn: Connection, identity: Identity, name: str) -> Json:
    """`{featureName, lastHourUsage: [{environment, timestamp, yes, no}], seenApplications}`."""
    rows = client_metric_rows.list_hours(conn, name, 1)
    applications = client_metric_rows.list_app_names(conn, name)
    usage = [
        {
            "environment": row["environment"],
            "timestamp": format_iso(row["hour"]),
            "yes": row["yes"],
            "no": row["no"],
        }
        for row in rows
    ]
    return VERSION | {"featureName": name, "lastHourUsage": usage, "seenApplications": applications}


@router.get(f"{PATH}/raw", needs=VIEW)
def list_raw_feature_metrics(context: Context, identity: Identity, name: str) -> Json:
    """`{data: [{featureName, appName, environment, timestamp, yes, no, variants?, frontend?}]}`;
    `frontend` is `{yes, no}`, the part that frontend tokens reported."""
    query = read_query(request.environ)
    hours = read_number(query, "hoursBack", DEFAULT_HOURS, 1, MAX_HOURS) or DEFAULT_HOURS
    with context.database.autocommit() as conn:
        data = client_metrics.list_raw(conn, name, hours, context.clock.now())
    return VERSION | {"data": data}


@router.get("/api/admin/impact-metrics/features/<name>", needs=VIEW, autocommit=True)
def list_impact_metrics(conn: Connection, identity: Identity, name: str) -> Json:
    """`{featureName, range, data: [{metricName, type, help, environment, appName, sdkType, variant,
    value, data: [{timestamp, value}]}]}`, histograms with `count` and `sum` instead of `value`;
    `sdkType` is `frontend` if a frontend token reported the values, otherwise `backend`; `range` is
    `day` (by hour) or `hour` (by minute); see [impact-metrics.md](impact-metrics.md)."""
    range = read_query(request.environ).get("range", "day")
    if range not in impact_metrics.RANGES:
        raise BadDataError("range must be hour or day.", path="range")
    metrics = impact_metrics.summarize(conn, name, range)
    data = [impact_metrics.to_json(metric) for metric in metrics]
    return VERSION | {"featureName": name, "range": range, "data": data}
