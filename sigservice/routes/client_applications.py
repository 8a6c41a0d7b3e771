"""Registration: an SDK tells at its start which application it runs in."""

from __future__ import annotations

import msgspec
from bottle import Bottle, HTTPResponse, request

from sigservice.context import Context
from sigservice.flags.state import Access
from sigservice.routes.client_metrics import Count, Moment, Name, Text
from sigservice.services import client_applications
from sigservice.services.client_applications import Instance
from sigservice.services.client_metrics import moment, whole
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.client_ip import client_ip
from sigservice.web.doors import ClientDoor


class RegistrationBody(msgspec.Struct, rename="camel"):
    """Environment and projects are the token's, whatever the body says."""

    app_name: Name
    interval: Count
    started: Moment
    strategies: list[str]
    instance_id: Text | None = None
    sdk_version: Text | None = None
    platform_name: Text | None = None
    platform_version: Text | None = None
    yggdrasil_version: Text | None = None
    spec_version: Text | None = None

    def sdk(self) -> tuple[str, ...]:
        """As telemetry's SDK_LABELS name it; SDKs write `name:version`."""
        name, _, version = (self.sdk_version or "").partition(":")
        platform = (self.platform_name, self.platform_version)
        rest = (*platform, self.yggdrasil_version, self.spec_version)
        return (name, version, *(text or "" for text in rest))

    def __post_init__(self) -> None:
        whole(self.interval)
        moment(self.started)


class FrontendRegistrationBody(msgspec.Struct, rename="camel"):
    app_name: Name


def build(context: Context) -> Bottle:
    area = new_area(context, ClientDoor(context, "client"))
    frontend = new_area(context, ClientDoor(context, "frontend"))
    trusted = context.trusted

    @area.post("/api/client/register", takes=RegistrationBody, limit="client_register")
    def register(access: Access, body: RegistrationBody) -> HTTPResponse:
        instance = Instance(
            body.app_name,
            body.instance_id or "",
            access.environment,
            body.sdk_version,
            "backend",
            body.strategies,
        )
        with context.database.transaction(bulkhead="usage") as conn:
            client_applications.report(conn, [instance], client_ip(request.environ, trusted))
        context.telemetry.flags.registered(
            body.app_name, access.environment, str(whole(body.interval)), body.sdk()
        )
        return respond.empty(202)

    # Browsers come and go: nothing is kept of them until they send metrics.
    @frontend.post(
        "/api/frontend/client/register", takes=FrontendRegistrationBody, limit="frontend_register"
    )
    @frontend.post(
        "/api/frontend/register", takes=FrontendRegistrationBody, limit="frontend_register"
    )
    def register_frontend(access: Access, body: FrontendRegistrationBody) -> HTTPResponse:
        return respond.text("OK")

    area.merge(frontend)
    return area
