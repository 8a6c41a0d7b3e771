"""Signal endpoints, pages: list, create, edit, enable, disable, delete."""

from datetime import datetime
from typing import Any

from bottle import HTTPResponse, request

from sigservice import senders
from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import AppError
from sigservice.repository.actions import action_runs, action_sets
from sigservice.repository.signals import (
    refused_calls,
    signal_endpoint_tokens,
    signals,
    silence_checks,
)
from sigservice.repository.signals import signal_endpoints as repository
from sigservice.routes.pages.signals import endpoint_options_form
from sigservice.routes.pages.signals.signal_token_list import describe_token
from sigservice.senders import Sender
from sigservice.services.channel_delivery import DeliverySettings
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signal_endpoint_tokens as token_service
from sigservice.services.signals import signal_endpoints
from sigservice.services.signals.endpoint_options import EndpointOptions, parse_options
from sigservice.services.signals.signal_endpoint_tokens import TokenFields
from sigservice.web import respond
from sigservice.web.forms import Field
from sigservice.web.guards import PageGuard
from sigservice.web.links import make_signal_url
from sigservice.web.router import Router
from sigservice.web.sparkline import build_bars, build_marks
from sigservice.wording import plural

MAX_COUNT = 10_000
NOTICES = {
    "created": "Signal endpoint created.",
    "saved": "Signal endpoint saved.",
    "deleted": "Signal endpoint deleted.",
    "on": "Signal endpoint enabled.",
    "off": "Signal endpoint disabled.",
    "token-saved": "Token saved.",
    "grace-ended": "The grace period has ended. Senders with the previous secret get 401.",
    "token-deleted": "Token deleted. Senders that use it get 401.",
}


router = Router(PageGuard)


@router.get("/admin/signals", needs=ADMIN)
def list_signal_endpoints(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.transaction() as conn:
        rows = repository.list_all(conn)
        tokens = signal_endpoint_tokens.list_all(conn)
        last_received = signals.find_last_received(conn)
        hours = signals.count_by_hour(conn)
        run_hours = action_runs.count_by_hour(conn)
        refused = {row["endpoint_id"]: row for row in refused_calls.count(conn)}
        checks = silence_checks.find_all(conn)
    endpoints = []
    for row in rows:
        counts = {h["hours_ago"]: h["signals"] for h in hours if h["endpoint_id"] == row["id"]}
        runs = {h["hours_ago"]: h["runs"] for h in run_hours if h["endpoint_id"] == row["id"]}
        total, run_total = sum(counts.values()), sum(runs.values())
        run_text = f" and {plural(run_total, 'run')}" if run_total else ""
        url = make_signal_url(context, request.environ, row["name"])
        endpoints.append(
            row
            | {
                "url": Field(f"url-{row['id']}", f"URL of {row['name']}", url),
                "tokens": [t for t in tokens if t["signal_endpoint_id"] == row["id"]],
                "last_received": last_received.get((row["id"], None)),
                "refused": refused.get(row["id"]),
                "silence": signal_endpoints.describe_silence(row, checks.get(row["id"])),
                "bars": build_bars(counts),
                "marks": build_marks(runs),
                "chart_label": f"{plural(total, 'signal')}{run_text} in the last 24 hours",
                "runs": run_total,
                "total": total,
            }
        )
    return respond.page(
        context,
        "signals/signal_endpoints/list",
        identity,
        title="Signal endpoints",
        endpoints=endpoints,
        limit=context.config["signals"]["endpointsLimit"],
        notice=respond.find_notice(NOTICES),
    )


@router.get("/admin/signals/new", needs=ADMIN)
def show_new_signal_endpoint_form(context: Context, identity: Identity) -> HTTPResponse:
    return _render_new_form(context, identity, _read_values({"enabled": "on", "token": "now"}))


@router.post("/admin/signals/new", needs=ADMIN)
def create_signal_endpoint(
    context: Context, identity: Identity, form: dict[str, str]
) -> HTTPResponse:
    values, limits = _read_values(form), context.config["signals"]
    has_token = values["token"] == "now"
    try:
        template = values["template"]
        options = senders.find_endpoint_options(template) if template else None
        fields = _check(values, has_token, options)
        with context.database.transaction() as conn:
            endpoint = signal_endpoints.create(
                conn,
                fields,
                identity,
                limit=limits["endpointsLimit"],
                policy=DeliverySettings.from_config(context.config).policy,
            )
            if has_token:
                token, secret = create_bearer_token(
                    context, conn, endpoint["id"], values["token_name"], identity
                )
    except AppError as error:
        if error.status >= 500:
            raise
        return _render_new_form(context, identity, values, form_error=error)
    if not has_token:
        return respond.redirect(context, f"/admin/signals/{endpoint['id']}?done=created")
    return render_secret(
        context,
        identity,
        endpoint,
        token,
        secret,
        notice=NOTICES["created"],
        sender=senders.SENDERS.get(template),
    )


@router.get("/admin/signals/<id:id>", needs=ADMIN)
def show_signal_endpoint_form(context: Context, identity: Identity, id: int) -> HTTPResponse:
    return render_form(context, identity, id, notice=respond.find_notice(NOTICES))


@router.post("/admin/signals/<id:id>", needs=ADMIN)
def update_signal_endpoint(
    context: Context, identity: Identity, id: int, form: dict[str, str]
) -> HTTPResponse:
    values = _read_values(form)
    option_values = endpoint_options_form.read_values(form)
    try:
        with context.database.transaction() as conn:
            existing = parse_options(signal_endpoints.lock(conn, id)["options"])
            options = endpoint_options_form.read_options(option_values, existing)
            fields = _check(values, options=options)
            policy = DeliverySettings.from_config(context.config).policy
            signal_endpoints.update(conn, id, fields, identity, policy=policy)
    except AppError as error:
        if error.status not in (400, 409):
            raise
        return render_form(
            context,
            identity,
            id,
            values | {"options": option_values},
            form_error=error,
            problems=endpoint_options_form.name_fields(error.details),
        )
    return respond.redirect(context, f"/admin/signals/{id}?done=saved")


@router.post("/admin/signals/<id:id>/on", needs=ADMIN)
def enable_signal_endpoint(
    context: Context, identity: Identity, id: int, form: dict[str, str]
) -> HTTPResponse:
    return _set_enabled(context, identity, id, True)


@router.post("/admin/signals/<id:id>/off", needs=ADMIN)
def disable_signal_endpoint(
    context: Context, identity: Identity, id: int, form: dict[str, str]
) -> HTTPResponse:
    return _set_enabled(context, identity, id, False)


def _set_enabled(context: Context, identity: Identity, id: int, enabled: bool) -> HTTPResponse:
    with context.database.transaction() as conn:
        signal_endpoints.set_enabled(conn, id, enabled, identity)
    return respond.redirect(context, f"/admin/signals?done={'on' if enabled else 'off'}")


@router.get("/admin/signals/<id:id>/delete", needs=ADMIN)
def confirm_signal_endpoint_deletion(context: Context, identity: Identity, id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        endpoint = signal_endpoints.get(conn, id)
        tokens = signal_endpoint_tokens.list_for_endpoint(conn, id)
        triggered_sets = action_sets.list_of_endpoint(conn, id)
        count = signals.count_for_endpoint(conn, id, limit=MAX_COUNT)
    return respond.page(
        context,
        "signals/signal_endpoints/delete",
        identity,
        endpoint=endpoint,
        tokens=tokens,
        triggered_sets=triggered_sets,
        signal_count=f"{count} or more signals" if count == MAX_COUNT else plural(count, "signal"),
        title=f"Delete {endpoint['name']}?",
    )


@router.post("/admin/signals/<id:id>/delete", needs=ADMIN)
def delete_signal_endpoint(
    context: Context, identity: Identity, id: int, form: dict[str, str]
) -> HTTPResponse:
    with context.database.transaction() as conn:
        signal_endpoints.delete(conn, id, identity)
    return respond.redirect(context, "/admin/signals?done=deleted")


def create_bearer_token(
    context: Context, conn: Connection, endpoint_id: int, name: str, identity: Identity
) -> tuple[Row, str]:
    """The token and its secret; raises AppError."""
    return token_service.create(
        conn,
        endpoint_id,
        TokenFields(name),
        identity,
        limit=context.config["signals"]["tokensPerEndpointLimit"],
        now=context.clock.now(),
        encryption=context.encryption,
    )


def render_secret(
    context: Context,
    identity: Identity,
    endpoint: Row,
    token: Row,
    secret: str,
    *,
    sender: Sender | None = None,
    title: str = "",
    instructions: str = "",
    grace_ends_at: datetime | None = None,
    **more: Any,
) -> HTTPResponse:
    """A new token with its secret, as the response to the POST: no URL shows the secret again.
    `secret` is "" if the sender generated it.

    With a `sender`, how to configure it; `instructions` say so for a signing sender.
    `grace_ends_at` is the time until which the replaced secret is valid.
    """
    call_url = make_signal_url(context, request.environ, endpoint["name"])
    return respond.page(
        context,
        "signals/signal_endpoint_tokens/created",
        identity,
        title=title or f"Token {token['name']} created",
        endpoint=endpoint,
        token=token,
        secret=secret,
        instructions=instructions,
        grace_ends_at=grace_ends_at,
        call_url=call_url,
        sender=sender,
        setup=sender.setup.replace("ENDPOINT_URL", call_url) if sender else "",
        **more,
    )


def render_form(
    context: Context,
    identity: Identity,
    id: int,
    values: dict[str, Any] | None = None,
    **more: Any,
) -> HTTPResponse:
    """An endpoint's form with its tokens; `values` are the input of a form with errors.

    `token_name` is the name of a new token.
    """
    with context.database.transaction() as conn:
        endpoint = signal_endpoints.get(conn, id)
        tokens = signal_endpoint_tokens.list_for_endpoint(conn, id)
        last_received = signals.find_last_received(conn)
    state = {
        "name": endpoint["name"],
        "description": endpoint["description"] or "",
        "enabled": endpoint["enabled"],
    }
    values = {"token_name": ""} | state | (values or {})
    options = values.get("options") or endpoint_options_form.make_values(
        parse_options(endpoint["options"])
    )
    return respond.page(
        context,
        "signals/signal_endpoints/form",
        identity,
        endpoint=endpoint,
        tokens=[
            describe_token(token, last_received.get((id, token["id"])), context.clock.now())
            for token in tokens
        ],
        token_limit=context.config["signals"]["tokensPerEndpointLimit"],
        **_make_fields(context, endpoint["name"], values, is_new=False),
        option_groups=endpoint_options_form.make_groups(options, context.config["signals"]),
        are_options_open=endpoint_options_form.has_problems(more.get("problems", [])),
        title=f"Signal endpoint {endpoint['name']}",
        **more,
    )


def _render_new_form(
    context: Context, identity: Identity, values: dict[str, Any], **more: Any
) -> HTTPResponse:
    return respond.page(
        context,
        "signals/signal_endpoints/form",
        identity,
        endpoint=None,
        sender=_make_sender_field(values["template"]),
        token_choice=Field(
            "token",
            "Token",
            "now" if values["token"] == "now" else "later",
            type="radio",
            choices=(("now", "Create a token now"), ("later", "Later")),
            choice_hints={"now": "Senders need a token. It is shown once, after you create it."},
        ),
        **_make_fields(context, values["name"] or "NAME", values, is_new=True),
        title="New signal endpoint",
        **more,
    )


def _make_sender_field(name: str) -> Field:
    return Field(
        "template",
        "Sender",
        name,
        "select",
        "Presets the rate limit, the idempotency key and the summary. You can change them later. "
        "Senders that aren't listed work without presets.",
        choices=[
            ("", "No presets"),
            *((key, item.title) for key, item in senders.list_external().items()),
        ],
    )


def _make_fields(
    context: Context, name: str, values: dict[str, Any], *, is_new: bool
) -> dict[str, Any]:
    hints = {
        "name": "Part of the URL; renaming breaks existing senders. "
        "Lower-case letters, digits, - and _",
        "description": "Optional. What sends here.",
        "token_name": "e.g. alertmanager-eu",
    }
    token, is_required = values["token_name"], not is_new
    url = make_signal_url(context, request.environ, name) if name else ""
    return {
        "fields": [
            Field("name", "Name", values["name"], hint=hints["name"], is_required=True),
            Field("description", "Description", values["description"], hint=hints["description"]),
            Field("enabled", "Enabled", values["enabled"], type="checkbox"),
        ],
        "call_url": Field("call-url", "Webhook URL", url),
        "token_name": Field(
            "token_name", "Token name", token, hint=hints["token_name"], is_required=is_required
        ),
    }


def _read_values(form: dict[str, str]) -> dict[str, str]:
    names = ("name", "description", "enabled", "token", "token_name", "template")
    return {name: form.get(name, "").strip() for name in names}


def _check(
    values: dict[str, str], has_token: bool = False, options: EndpointOptions | None = None
) -> signal_endpoints.Endpoint:
    is_enabled = values["enabled"] == "on"
    new = signal_endpoints.Endpoint(values["name"], is_enabled, values["description"], options)
    return signal_endpoints.check_fields(
        new, token_name=values["token_name"] if has_token else None
    )
