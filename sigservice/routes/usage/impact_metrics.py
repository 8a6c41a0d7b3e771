"""Impact metrics for Prometheus."""

from sigservice import telemetry
from sigservice.routes.system.health import check_metrics_access
from sigservice.web import Context, HTTPResponse, Public, Router

router = Router(Public)


@router.get("/internal-backstage/impact/metrics")
def get_impact_metrics(context: Context) -> HTTPResponse:
    check_metrics_access(context)
    body = context.impact_exposition.read()
    return HTTPResponse(body, 200, {"Content-Type": telemetry.CONTENT_TYPE})
