"""Signal endpoints, pages: list, new, edit, switch, delete."""

from __future__ import annotations

from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import AppError, BadDataError
from sigservice.repository.actions import action_sets
from sigservice.repository.signals import signal_endpoint_tokens, signals
from sigservice.repository.signals import signal_endpoints as repository
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signal_endpoints
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.forms import Field
from sigservice.web.guards import PageGuard
from sigservice.web.links import make_signal_url
from sigservice.web.router import Router
from sigservice.web.sparkline import bars

MAX_COUNT = 10_000
NOTICES = {
    "created": "The signal endpoint was created.",
    "saved": "The signal endpoint was saved.",
    "deleted": "The signal endpoint was deleted.",
    "on": "The signal endpoint is enabled.",
    "off": "The signal endpoint is disabled.",
    "token-renamed": "The token was renamed.",
    "token-deleted": "The token was deleted; its callers are refused from now on.",
}


router = Router(PageGuard)


def notice() -> str:
    return NOTICES.get(read_query(request.environ).get("done", ""), "")


@router.get("/admin/signals", needs=ADMIN)
def show_list(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.transaction() as conn:
        rows = repository.list_all(conn)
        tokens = signal_endpoint_tokens.list_all(conn)
        last = signals.list_last_received(conn)
        hours = signals.count_by_hour(conn)
    endpoints = [
        row
        | {
            "url": make_signal_url(context, request.environ, row["name"]),
            "tokens": [t for t in tokens if t["signal_endpoint_id"] == row["id"]],
            "last": _last_of(last, row["id"]),
            "bars": bars(
                {h["hours_ago"]: h["signals"] for h in hours if h["endpoint_id"] == row["id"]}
            ),
            "today": sum(h["signals"] for h in hours if h["endpoint_id"] == row["id"]),
        }
        for row in rows
    ]
    return respond.page(
        context,
        "signals/signal_endpoints/list",
        identity,
        title="Signal endpoints",
        endpoints=endpoints,
        limit=context.config["signals"]["endpointsLimit"],
        notice=notice(),
    )


def form_page(
    context: Context, identity: Identity, values: dict[str, Any], **more: Any
) -> HTTPResponse:
    return respond.page(
        context,
        "signals/signal_endpoints/form",
        identity,
        endpoint=None,
        tokens=[],
        values=values,
        fields=_fields(values),
        token_name=Field(
            "token_name", "Token name", values["token_name"], hint="e.g. alertmanager-eu"
        ),
        call_url=make_signal_url(context, request.environ, values["name"] or "NAME"),
        **({"title": "New signal endpoint"} | more),
    )


@router.get("/admin/signals/new", needs=ADMIN)
def new(context: Context, identity: Identity) -> HTTPResponse:
    values = {"enabled": "on", "token": "now"}
    return form_page(context, identity, _values(values))


@router.post("/admin/signals/new", needs=ADMIN)
def create(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
    values = _values(form)
    with_token = values["token"] == "now"
    try:
        fields = _checked(values, with_token)
        with context.database.transaction() as conn:
            endpoint = signal_endpoints.create(
                conn, fields, identity, limit=context.config["signals"]["endpointsLimit"]
            )
            if with_token:
                token, secret = signal_endpoints.create_token(
                    conn,
                    endpoint["id"],
                    values["token_name"],
                    identity,
                    limit=context.config["signals"]["tokensPerEndpointLimit"],
                )
    except AppError as error:
        if error.status >= 500:
            raise
        return form_page(
            context,
            identity,
            values,
            status=error.status,
            problems=error.details,
            title="Problem: New signal endpoint",
        )
    if not with_token:
        return respond.redirect(context, f"/admin/signals/{endpoint['id']}?done=created")
    return created_page(context, identity, endpoint, token, secret, notice=NOTICES["created"])


@router.get("/admin/signals/<id:id>", needs=ADMIN)
def edit(context: Context, identity: Identity, id: int) -> HTTPResponse:
    return edit_page(context, identity, id, notice=notice())


@router.post("/admin/signals/<id:id>", needs=ADMIN)
def save(context: Context, identity: Identity, id: int, form: dict[str, str]) -> HTTPResponse:
    values = _values(form)
    try:
        fields = signal_endpoints.check_fields(
            values["name"], values["description"], values["enabled"] == "on"
        )
        with context.database.transaction() as conn:
            signal_endpoints.update(conn, id, fields, identity)
    except AppError as error:
        if error.status not in (400, 409):
            raise
        return edit_page(
            context,
            identity,
            id,
            values,
            status=error.status,
            problems=error.details,
            title="Problem: Signal endpoint",
        )
    return respond.redirect(context, f"/admin/signals/{id}?done=saved")


def switch(context: Context, identity: Identity, id: int, enabled: bool) -> HTTPResponse:
    with context.database.transaction() as conn:
        signal_endpoints.set_enabled(conn, id, enabled, identity)
    return respond.redirect(context, f"/admin/signals?done={'on' if enabled else 'off'}")


@router.post("/admin/signals/<id:id>/on", needs=ADMIN)
def switch_on(context: Context, identity: Identity, id: int, form: dict[str, str]) -> HTTPResponse:
    return switch(context, identity, id, True)


@router.post("/admin/signals/<id:id>/off", needs=ADMIN)
def switch_off(context: Context, identity: Identity, id: int, form: dict[str, str]) -> HTTPResponse:
    return switch(context, identity, id, False)


@router.get("/admin/signals/<id:id>/delete", needs=ADMIN)
def confirm_delete(context: Context, identity: Identity, id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        endpoint = signal_endpoints.get(conn, id)
        tokens = signal_endpoint_tokens.list_for_endpoint(conn, id)
        triggered_sets = action_sets.list_of_endpoint(conn, id)
        count = signals.count_for_endpoint(conn, id, max_count=MAX_COUNT)
    return respond.page(
        context,
        "signals/signal_endpoints/delete",
        identity,
        endpoint=endpoint,
        tokens=tokens,
        triggered_sets=triggered_sets,
        count=f"{count}{' or more' if count == MAX_COUNT else ''}",
        title=f"Delete {endpoint['name']}?",
    )


@router.post("/admin/signals/<id:id>/delete", needs=ADMIN)
def delete(context: Context, identity: Identity, id: int, form: dict[str, str]) -> HTTPResponse:
    with context.database.transaction() as conn:
        signal_endpoints.delete(conn, id, identity)
    return respond.redirect(context, "/admin/signals?done=deleted")


def created_page(
    context: Context, identity: Identity, endpoint: Row, token: Row, secret: str, **more: Any
) -> HTTPResponse:
    """A new token with its secret: the answer of the POST, so that no address shows it again."""
    return respond.page(
        context,
        "signals/signal_endpoint_tokens/created",
        identity,
        title="Token created",
        endpoint=endpoint,
        token=token,
        secret=secret,
        call_url=make_signal_url(context, request.environ, endpoint["name"]),
        **more,
    )


def edit_page(
    context: Context,
    identity: Identity,
    id: int,
    values: dict[str, Any] | None = None,
    **more: Any,
) -> HTTPResponse:
    """An endpoint's form with its tokens; `values` are what was submitted, if that was wrong."""
    with context.database.transaction() as conn:
        endpoint = signal_endpoints.get(conn, id)
        tokens = signal_endpoint_tokens.list_for_endpoint(conn, id)
        last = signals.list_last_received(conn)
    stored = {
        "name": endpoint["name"],
        "description": endpoint["description"] or "",
        "enabled": "on" if endpoint["enabled"] else "",
    }
    values = {"token_name": "", "token_names": {}} | stored | (values or {})
    return respond.page(
        context,
        "signals/signal_endpoints/form",
        identity,
        endpoint=endpoint,
        tokens=[token | {"last": _last_of(last, id, token["id"])} for token in tokens],
        token_limit=context.config["signals"]["tokensPerEndpointLimit"],
        values=values,
        fields=_fields(values),
        call_url=make_signal_url(context, request.environ, endpoint["name"]),
        **({"title": f"Signal endpoint {endpoint['name']}"} | more),
    )


def _fields(values: dict[str, Any]) -> list[Field]:
    name_hint = (
        "Part of the URL; renaming breaks existing senders. Lower-case letters, digits, - and _"
    )
    return [
        Field("name", "Name", values["name"], hint=name_hint, is_required=True),
        Field(
            "description", "Description", values["description"], hint="Optional. What sends here."
        ),
        Field("enabled", "Enabled", values["enabled"], type="checkbox"),
    ]


def _values(form: dict[str, str]) -> dict[str, str]:
    names = ("name", "description", "enabled", "token", "token_name")
    return {name: form.get(name, "").strip() for name in names}


def _checked(values: dict[str, str], with_token: bool) -> signal_endpoints.EndpointFields:
    """Raises BadDataError naming everything that is wrong in the form of a new endpoint."""
    problems: list[dict[str, Any]] = []
    fields = None
    try:
        fields = signal_endpoints.check_fields(
            values["name"], values["description"], values["enabled"] == "on"
        )
    except BadDataError as error:
        problems += error.details
    try:
        if with_token:
            signal_endpoints.check_token_name(values["token_name"])
    except BadDataError as error:
        problems += [detail | {"path": "token_name"} for detail in error.details]
    if problems or fields is None:
        raise BadDataError(problems[0]["message"], details=problems)
    return fields


def _last_of(last: list[dict[str, Any]], endpoint_id: int, token_id: int | None = None) -> Any:
    for row in last:
        if row["endpoint_id"] == endpoint_id and row["token_id"] == token_id:
            return row["created_at"]
    return None
