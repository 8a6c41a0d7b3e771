"""For load balancers and monitoring: /health without, /ready with the database; metrics."""

from __future__ import annotations

from bottle import Bottle, HTTPResponse, request

from sigservice import secrets, telemetry
from sigservice.context import Context
from sigservice.errors import NotFoundError, UnauthorizedError, UnavailableError
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.doors import OpenDoor, bearer


def build(context: Context) -> Bottle:
    area = new_area(context, OpenDoor())
    token = context.config["server"]["metricsToken"]

    @area.get("/health")
    def health() -> HTTPResponse:
        return respond.json({"health": "GOOD"})

    @area.get("/ready")
    def ready() -> HTTPResponse:
        if context.stopping.is_set():
            raise UnavailableError("The service is stopping.")
        context.database.ping()
        return respond.json({"health": "GOOD"})

    @area.get("/internal-backstage/prometheus")
    def metrics() -> HTTPResponse:
        if not context.telemetry.enabled:
            raise NotFoundError("Metrics are switched off.")
        if token and not secrets.equal(bearer(request.environ), token):
            raise UnauthorizedError("The metrics need their token (SERVICE_METRICS_TOKEN).")
        body = context.telemetry.exposition()
        return HTTPResponse(body, 200, {"Content-Type": telemetry.CONTENT_TYPE})

    return area
