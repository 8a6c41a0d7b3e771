"""Signal endpoints, JSON: list, create, read, replace, enable, disable, delete."""

from typing import Any

from sigservice.db import Connection, Row
from sigservice.repository.signals import refused_calls as refused_call_rows
from sigservice.repository.signals import signal_endpoint_tokens
from sigservice.repository.signals import signal_endpoints as signal_endpoint_rows
from sigservice.senders import check_name, find_external
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import refused_calls, signal_endpoints
from sigservice.services.signals import signal_endpoint_tokens as token_service
from sigservice.services.signals.signal_endpoints import Endpoint
from sigservice.web import AdminGuard, Context, Json, Router, request, respond
from sigservice.web.links import make_signal_url

PATH = "/api/admin/signal-endpoints"


class NewEndpoint(Endpoint):
    """The template fills absent options."""

    def apply_template(self) -> None:
        """Raises BadDataError for an unknown template."""
        if isinstance(self.template, str):
            options = find_external(self.template).endpoint_options
            self.options = options if self.options is None else self.options


router = Router(AdminGuard)


def _describe(context: Context, conn: Connection, row: Row) -> dict[str, Any]:
    tokens = signal_endpoint_tokens.list_for_endpoint(conn, row["id"])
    return signal_endpoints.to_json(row) | {
        "tokens": [token_service.to_json(token) for token in tokens],
        "url": make_signal_url(context, request.environ, row["name"]),
    }


@router.get(PATH, needs=ADMIN)
def list_signal_endpoints(conn: Connection, identity: Identity) -> Json:
    """`{"signalEndpoints": [endpoint with tokens]}`."""
    rows = signal_endpoint_rows.list_all(conn)
    tokens = signal_endpoint_tokens.list_all(conn)
    tokens_by_endpoint: dict[int, list[dict[str, Any]]] = {row["id"]: [] for row in rows}
    for token in tokens:
        tokens_by_endpoint.setdefault(token["signal_endpoint_id"], []).append(
            token_service.to_json(token)
        )
    endpoints = [
        signal_endpoints.to_json(row) | {"tokens": tokens_by_endpoint[row["id"]]} for row in rows
    ]
    return {"signalEndpoints": endpoints}


@router.post(PATH, needs=ADMIN, takes=NewEndpoint)
def create_signal_endpoint(context: Context, identity: Identity, body: NewEndpoint) -> Json:
    """Body: `{name, description?, enabled?, options?, template?}`; the
    [template](senders/README.md) fills absent `options`. 201 endpoint with `tokens`, `url`,
    `Location`."""
    body.apply_template()
    with context.database.transaction() as conn:
        row = signal_endpoints.create(
            conn,
            signal_endpoints.check_fields(body),
            identity,
            limit=context.config["signals"]["endpointsLimit"],
        )
        endpoint = _describe(context, conn, row)
    return respond.Created(endpoint, f"{PATH}/{row['id']}")


@router.get(f"{PATH}/<id:id>", needs=ADMIN)
def get_signal_endpoint(context: Context, identity: Identity, id: int) -> Json:
    """Endpoint with `tokens` and `url`."""
    with context.database.transaction() as conn:
        return _describe(context, conn, signal_endpoints.get(conn, id))


@router.put(f"{PATH}/<id:id>", needs=ADMIN, takes=Endpoint)
def replace_signal_endpoint(context: Context, identity: Identity, id: int, body: Endpoint) -> Json:
    """Body: as create; without `enabled`, `options` and `template` they stay unchanged, without
    `description` it is cleared. A new `template` changes no options. Endpoint."""
    check_name(body.template)
    with context.database.transaction() as conn:
        new = signal_endpoints.check_fields(body)
        row = signal_endpoints.update(conn, id, new, identity)
        return _describe(context, conn, row)


@router.delete(f"{PATH}/<id:id>", needs=ADMIN)
def delete_signal_endpoint(conn: Connection, identity: Identity, id: int) -> None:
    """Deletes its tokens and signals too."""
    signal_endpoints.delete(conn, id, identity)


@router.post(f"{PATH}/<id:id>/<is_on:switch>", needs=ADMIN)
def switch_signal_endpoint(context: Context, identity: Identity, id: int, is_on: bool) -> Json:
    """Endpoint."""
    with context.database.transaction() as conn:
        body = _describe(context, conn, signal_endpoints.set_enabled(conn, id, is_on, identity))
    return body


@router.get("/api/admin/signal-endpoints/<id:id>/refused-calls", needs=ADMIN)
def list_refused_calls_of_endpoint(conn: Connection, identity: Identity, id: int) -> Json:
    """`{"refusedCalls": [{endpointName, status, reason, secretPrefix, address, userAgent, calls,
    firstAt, lastAt}]}`, newest first."""
    signal_endpoints.get(conn, id)
    rows = refused_call_rows.list_of_endpoint(conn, id)
    return {"refusedCalls": [refused_calls.to_json(row) for row in rows]}


@router.get("/api/admin/refused-calls", needs=ADMIN, autocommit=True)
def list_refused_calls_of_unknown_names(conn: Connection, identity: Identity) -> Json:
    """`{"refusedCalls": […]}` of names that no endpoint has."""
    rows = refused_call_rows.list_of_endpoint(conn, None)
    return {"refusedCalls": [refused_calls.to_json(row) for row in rows]}
