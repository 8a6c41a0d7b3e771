"""Impact metrics of a flag, JSON: by variant, and by minute or hour."""

from sigservice.db.pool import Connection
from sigservice.errors import BadDataError
from sigservice.routes.admin.usage.client_metrics import VERSION
from sigservice.services.identity import VIEW, Identity
from sigservice.services.usage import impact_metrics
from sigservice.web import AdminGuard, Json, Router, read_query, request

router = Router(AdminGuard)


@router.get("/api/admin/impact-metrics/features/<name>", needs=VIEW, autocommit=True)
def list_impact_metrics(conn: Connection, identity: Identity, name: str) -> Json:
    range = read_query(request.environ).get("range", "day")
    if range not in impact_metrics.RANGES:
        raise BadDataError("range must be hour or day.", path="range")
    metrics = impact_metrics.summarize(conn, name, range)
    data = [impact_metrics.to_json(metric) for metric in metrics]
    return VERSION | {"featureName": name, "range": range, "data": data}
