"""What a user interface asks first: version, limits, texts; and the origins of browsers."""

from __future__ import annotations

from typing import Any

import msgspec
from bottle import Bottle, HTTPResponse, request

from sigservice.context import Context
from sigservice.services import (
    api_tokens,
    constraints,
    environments,
    features,
    projects,
    segments,
    settings,
    strategies,
)
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.version import __version__
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.doors import AdminDoor
from sigservice.web.links import own_url

PATH = "/api/admin/ui-config"


class CorsBody(msgspec.Struct):
    frontendApiOrigins: list[str]


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))
    config = context.config
    shared = {
        "name": "sigservice",
        "version": __version__,
        "environment": str(config["ui"].get("environment", "")),
        "slogan": str(config["ui"].get("slogan", "")),
        "baseUriPath": context.base,
        "authenticationType": config["authentication"]["type"],
        "disablePasswordAuth": not context.authentication.type.has_passwords,
        "emailEnabled": bool(config["email"]["host"]),
        "maintenanceMode": False,
        "prometheusAPIAvailable": False,
        "flags": {},
        "links": [],
        "resourceLimits": _limits(config),
    }

    @area.get(PATH, needs=VIEW)
    def read(identity: Identity) -> HTTPResponse:
        with context.database.autocommit() as conn:
            instance_id = settings.instance_id(conn)
            origins = settings.frontend_origins(conn)
        current = {
            "unleashUrl": own_url(context, request.environ),
            "frontendApiOrigins": origins,
            "versionInfo": {
                "current": {"oss": __version__},
                "latest": {},
                "isLatest": True,
                "instanceId": instance_id,
            },
        }
        return respond.json(shared | current)

    @area.post(f"{PATH}/cors", needs=ADMIN, takes=CorsBody)
    def set_origins(identity: Identity, body: CorsBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            settings.set_frontend_origins(conn, body.frontendApiOrigins, identity)
        return respond.empty(204)

    return area


def _limits(config: dict[str, Any]) -> dict[str, int]:
    """Under the names that tools of the field read."""
    return {
        "segmentValues": config["segmentValuesLimit"],
        "strategySegments": config["strategySegmentsLimit"],
        "signalEndpoints": config["signals"]["endpointsLimit"],
        "signalTokensPerEndpoint": config["signals"]["tokensPerEndpointLimit"],
        "actionSetsPerProject": config["actions"]["setsPerProjectLimit"],
        "actionSetActions": config["actions"]["actionsLimit"],
        "actionSetFilters": config["actions"]["filtersLimit"],
        "actionSetFilterValues": config["actions"]["filterValuesLimit"],
        "featureEnvironmentStrategies": strategies.MOST_STRATEGIES,
        "constraints": constraints.MOST_CONSTRAINTS,
        "constraintValues": constraints.MOST_VALUES,
        "environments": environments.MOST_ENVIRONMENTS,
        "projects": projects.MOST_PROJECTS,
        "apiTokens": api_tokens.MOST_TOKENS,
        "segments": segments.MOST_SEGMENTS,
        "featureFlags": features.MOST_FEATURES,
        "releaseTemplates": 5,
    }
