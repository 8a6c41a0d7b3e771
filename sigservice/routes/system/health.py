"""Liveness (/health), readiness with the database (/ready), and metrics: of the service, and the
impact metrics of applications."""

from sigservice import telemetry
from sigservice.crypto import secrets
from sigservice.errors import NotFoundError, UnauthorizedError, UnavailableError
from sigservice.web import Context, HTTPResponse, Public, Router, request, respond
from sigservice.web.guards import read_bearer_token

router = Router(Public)


@router.get("/health")
def check_health(context: Context) -> HTTPResponse:
    """`{"health": "GOOD"}` while the process responds; 503 [while
    stopping](run.md#health-logs-stopping)."""
    _check_not_stopping(context)
    return respond.json({"health": "GOOD"})


@router.get("/ready")
def check_readiness(context: Context) -> HTTPResponse:
    """As `/health` while the database responds and accepts new connections too, otherwise 503."""
    _check_not_stopping(context)
    context.database.ping()
    return respond.json({"health": "GOOD"})


def _check_not_stopping(context: Context) -> None:
    if context.draining.is_set():
        raise UnavailableError("The service is stopping.")


@router.get("/internal-backstage/prometheus")
def get_metrics(context: Context) -> HTTPResponse:
    """Metrics; 404 if `server.serverMetrics` is false."""
    check_metrics_access(context)
    body = context.telemetry.write_exposition()
    return HTTPResponse(body, 200, {"Content-Type": telemetry.CONTENT_TYPE})


def check_metrics_access(context: Context) -> None:
    """Raises NotFoundError if metrics are disabled, UnauthorizedError without their token."""
    if not context.telemetry.enabled:
        raise NotFoundError("Metrics are disabled.")
    if context.config["server"]["metricsToken"] and not secrets.is_equal(
        read_bearer_token(request.environ), context.config["server"]["metricsToken"]
    ):
        raise UnauthorizedError("Metrics require their token (SERVICE_METRICS_TOKEN).")


@router.get("/internal-backstage/impact/metrics")
def get_impact_metrics(context: Context) -> HTTPResponse:
    """[Impact metrics](impact-metrics.md); 404 if `server.serverMetrics` is false."""
    check_metrics_access(context)
    body = context.impact_exposition.read()
    return HTTPResponse(body, 200, {"Content-Type": telemetry.CONTENT_TYPE})
