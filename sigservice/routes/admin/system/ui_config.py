"""Admin API: version, limits and texts for a user interface, and the CORS origins."""

from typing import Any

import msgspec

from sigservice.db import Connection
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.projects.resource_limits import list_resource_limits
from sigservice.services.system import settings
from sigservice.version import __version__
from sigservice.web import AdminGuard, Context, HTTPResponse, Json, Router, request, respond
from sigservice.web.links import make_own_url

PATH = "/api/admin/ui-config"


class CorsBody(msgspec.Struct):
    frontendApiOrigins: list[str]


router = Router(AdminGuard)


@router.get(PATH, needs=VIEW)
def get_ui_config(context: Context, identity: Identity) -> Json:
    """`version`, `environment` and `slogan` (option `ui`), `resourceLimits`, `versionInfo`,
    `unleashUrl`, `baseUriPath`, `frontendApiOrigins` and more."""
    with context.database.autocommit() as conn:
        instance_id = settings.find_instance_id(conn)
        origins = settings.list_frontend_origins(conn)
    current = {
        "unleashUrl": make_own_url(context, request.environ),
        "frontendApiOrigins": origins,
        "versionInfo": {
            "current": {"oss": __version__, "enterprise": ""},
            "latest": context.version_status.versions or {},
            "isLatest": context.version_status.is_latest,
            "instanceId": instance_id,
        },
    }
    return _describe_config(context) | current


@router.post(f"{PATH}/cors", needs=ADMIN, takes=CorsBody)
def set_cors_origins(conn: Connection, identity: Identity, body: CorsBody) -> HTTPResponse:
    """Body: `{frontendApiOrigins: [origin]}`. 204; an origin is `scheme://host[:port]` or `*`; an
    empty list allows any."""
    settings.set_frontend_origins(conn, body.frontendApiOrigins, identity)
    return respond.empty(204)


def _describe_config(context: Context) -> dict[str, Any]:
    config = context.config
    return {
        "name": "sigservice",
        "version": __version__,
        "environment": config["ui"].get("environment", ""),
        "slogan": config["ui"].get("slogan", ""),
        "baseUriPath": context.base,
        "authenticationType": config["authentication"]["type"],
        "disablePasswordAuth": not context.authentication.has_passwords,
        "oidcConfiguredThroughEnv": context.provider is not None,
        "emailEnabled": bool(config["email"]["host"]),
        "maintenanceMode": False,
        "prometheusAPIAvailable": False,
        "flags": {},
        "links": [],
        "resourceLimits": list_resource_limits(config),
    }
