"""Impact metrics for Prometheus."""

from bottle import HTTPResponse

from sigservice import telemetry
from sigservice.context import Context
from sigservice.routes.system.health import check_metrics_access
from sigservice.web.guards import Public
from sigservice.web.router import Router

router = Router(Public)


@router.get("/internal-backstage/impact/metrics")
def get_impact_metrics(context: Context) -> HTTPResponse:
    check_metrics_access(context)
    body = context.impact_exposition.read()
    return HTTPResponse(body, 200, {"Content-Type": telemetry.CONTENT_TYPE})
