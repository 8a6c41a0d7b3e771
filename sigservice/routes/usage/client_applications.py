"""Registration: an SDK reports at its start in which application it runs."""

import msgspec

from sigservice.delivery.revision_cache import Access
from sigservice.routes.flags.frontend import has_proxy_paths
from sigservice.routes.usage.client_metrics import Count, Name, Text, Time, store_report
from sigservice.services.usage.client_applications import Instance
from sigservice.services.usage.client_metrics import parse_count, parse_time
from sigservice.telemetry.flags import SDK_LABELS
from sigservice.web import ClientGuard, Context, HTTPResponse, Router, respond

# For callers without a token, who could fill the metrics with invented labels.
NO_LABELS = ("", "", ("",) * len(SDK_LABELS))


class RegistrationBody(msgspec.Struct, rename="camel"):
    """The token determines environment and projects, not the body."""

    app_name: Name
    interval: Count
    started: Time
    strategies: list[str]
    instance_id: Text | None = None
    sdk_version: Text | None = None
    platform_name: Text | None = None
    platform_version: Text | None = None
    yggdrasil_version: Text | None = None
    spec_version: Text | None = None

    def to_sdk_labels(self) -> tuple[str, ...]:
        """The values of SDK_LABELS; SDKs send `sdkVersion` as `name:version`."""
        name, _, version = (self.sdk_version or "").partition(":")
        platform = (self.platform_name, self.platform_version)
        rest = (*platform, self.yggdrasil_version, self.spec_version)
        return (name, version, *(text or "" for text in rest))

    def __post_init__(self) -> None:
        parse_count(self.interval)
        parse_time(self.started)


class FrontendRegistrationBody(msgspec.Struct, rename="camel"):
    app_name: Name


router = Router(ClientGuard, "client")
frontend_router = Router(ClientGuard, "frontend")
proxy_router = Router(ClientGuard, "frontend", is_enabled=has_proxy_paths)


@router.post(
    "/api/client/register",
    takes=RegistrationBody,
    limit="client_register",
)
def register_application(context: Context, access: Access, body: RegistrationBody) -> HTTPResponse:
    """Body: `{appName, started, interval, strategies, instanceId?, sdkVersion?}`. 202."""
    instance = Instance(
        body.app_name,
        body.instance_id or "",
        access.environment,
        body.sdk_version,
        "backend",
        body.strategies,
    )
    store_report(context, access, [instance], [])
    labels = (body.app_name, str(parse_count(body.interval)), body.to_sdk_labels())
    app_name, interval, sdk = NO_LABELS if access.is_anonymous else labels
    context.telemetry.flags.count_registration(app_name, access.environment, interval, sdk)
    return respond.empty(202)


# Browsers are stored only when they send metrics.
@frontend_router.post(
    "/api/frontend/client/register", takes=FrontendRegistrationBody, limit="frontend_register"
)
@frontend_router.post(
    "/api/frontend/register", takes=FrontendRegistrationBody, limit="frontend_register"
)
@proxy_router.post(
    "/api/proxy/client/register", takes=FrontendRegistrationBody, limit="frontend_register"
)
def register_frontend_application(
    context: Context, access: Access, body: FrontendRegistrationBody
) -> HTTPResponse:
    """Body: `{appName}`. 200 `OK`; nothing is stored. All names have one rate limit."""
    return respond.text("OK")
