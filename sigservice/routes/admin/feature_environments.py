"""Flags in environments, JSON: state, on and off, one or many."""

from __future__ import annotations

from typing import Any

import msgspec
from bottle import Bottle, HTTPResponse, request

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.services import feature_states, strategies, switching
from sigservice.services.feature_states import Place
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.body import read_query
from sigservice.web.doors import AdminDoor

STATE = "/api/admin/projects/<project>/features/<name>/environments/<environment>"
BULK = "/api/admin/projects/<project>/bulk_features/environments/<environment>"


class BulkBody(msgspec.Struct):
    features: list[str]


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))

    @area.get(STATE, needs=VIEW)
    def read(identity: Identity, project: str, name: str, environment: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            return respond.json(_state(conn, Place(project, name, environment)))

    @area.get(f"{STATE}/variants", needs=VIEW)
    def variants(identity: Identity, project: str, name: str, environment: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            state = feature_states.get_state(conn, Place(project, name, environment))
        variants = msgspec.Raw(state["variants"].encode())
        return respond.json({"version": 1, "variants": variants})

    def switch(place: Place, enabled: bool, identity: Identity) -> HTTPResponse:
        query = read_query(request.environ)
        with context.database.transaction() as conn:
            switching.switch(
                conn,
                place,
                enabled,
                identity,
                activate_disabled=query.get("shouldActivateDisabledStrategies") == "true",
            )
        return respond.empty()

    @area.post(f"{STATE}/on", needs=EDIT)
    def switch_on(identity: Identity, project: str, name: str, environment: str) -> HTTPResponse:
        return switch(Place(project, name, environment), True, identity)

    @area.post(f"{STATE}/off", needs=EDIT)
    def switch_off(identity: Identity, project: str, name: str, environment: str) -> HTTPResponse:
        return switch(Place(project, name, environment), False, identity)

    def switch_all(
        project: str, environment: str, names: list[str], enabled: bool, identity: Identity
    ) -> HTTPResponse:
        with context.database.transaction() as conn:
            switching.switch_all(conn, project, environment, names, enabled, identity)
        return respond.empty()

    @area.post(f"{BULK}/on", needs=EDIT, takes=BulkBody)
    def all_on(identity: Identity, project: str, environment: str, body: BulkBody) -> HTTPResponse:
        return switch_all(project, environment, body.features, True, identity)

    @area.post(f"{BULK}/off", needs=EDIT, takes=BulkBody)
    def all_off(identity: Identity, project: str, environment: str, body: BulkBody) -> HTTPResponse:
        return switch_all(project, environment, body.features, False, identity)

    return area


def _state(conn: Connection, place: Place) -> dict[str, Any]:
    state = feature_states.get_state(conn, place)
    return {
        "name": place.feature,
        "featureName": place.feature,
        "environment": place.environment,
        "enabled": state["enabled"],
        "strategies": strategies.list_of(conn, place),
    }
