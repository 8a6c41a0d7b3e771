"""Tokens of a signal endpoint, pages: create, edit, rotate, end the grace period, delete."""

from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import AppError, BadDataError, ExceedsLimitError
from sigservice.routes.pages.signals import signal_token_form
from sigservice.routes.pages.signals.signal_endpoints import (
    create_bearer_token,
    render_form,
    render_secret,
)
from sigservice.routes.pages.signals.signal_token_form import BEARER, INSTRUCTIONS, KINDS
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signal_endpoint_tokens, signal_endpoints
from sigservice.services.signals.signal_endpoint_tokens import DEFAULT_GRACE_HOURS, MAX_GRACE_HOURS
from sigservice.web import respond
from sigservice.web.forms import Field, read_whole_number
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

PATH = "/admin/signals/<id:id>/tokens"
TOKEN_PATH = f"{PATH}/<token_id:id>"
FORM_STATUSES = (400, 409, 422)  # of errors that the form shows; 422 without an encryption key


router = Router(PageGuard)


@router.post(PATH, needs=ADMIN)
def create_token(
    context: Context, identity: Identity, id: int, form: dict[str, str]
) -> HTTPResponse:
    name = form.get("token_name", "")
    try:
        with context.database.transaction() as conn:
            endpoint = signal_endpoints.get(conn, id)
            token, secret = create_bearer_token(context, conn, id, name, identity)
    except AppError as error:
        if error.status not in (400, 409):
            raise
        path = {} if isinstance(error, ExceedsLimitError) else {"path": "token_name"}
        problems = [{"message": error.message, **path}]
        return render_form(
            context,
            identity,
            id,
            {"token_name": name},
            form_error=error,
            problems=problems,
        )
    return render_secret(context, identity, endpoint, token, secret)


# The POST answers with a page; reloading its URL leads back to the form.
@router.get(PATH, needs=ADMIN)
def redirect_to_tokens(context: Context, identity: Identity, id: int) -> HTTPResponse:
    return respond.redirect(context, f"/admin/signals/{id}#tokens")


@router.get(f"{PATH}/new", needs=ADMIN)
def show_new_token_form(context: Context, identity: Identity, id: int) -> HTTPResponse:
    """First the kind of the token, then its fields."""
    kind = request.query.get("kind", "")
    values = {"kind": kind, "content": "{body}", "token_name": request.query.getunicode("name", "")}
    return _render_new_form(context, identity, id, values)


@router.post(f"{PATH}/new", needs=ADMIN)
def create_token_of_kind(
    context: Context, identity: Identity, id: int, form: dict[str, str]
) -> HTTPResponse:
    values, secret = signal_token_form.read_values(form), form.get("secret", "").strip()
    try:
        if values["kind"] not in KINDS:
            raise BadDataError("Choose a type.", path="kind")
        fields = signal_token_form.parse_values(values)
        with context.database.transaction() as conn:
            endpoint = signal_endpoints.get(conn, id)
            token, new_secret = signal_endpoint_tokens.create(
                conn,
                id,
                fields,
                identity,
                limit=context.config["signals"]["tokensPerEndpointLimit"],
                now=context.clock.now(),
                encryption=context.encryption,
                secret=secret,
            )
    except AppError as error:
        if error.status not in FORM_STATUSES:
            raise
        return _render_new_form(context, identity, id, values, form_error=error)
    return _render_secret(context, identity, endpoint, token, "" if secret else new_secret)


@router.get(TOKEN_PATH, needs=ADMIN)
def show_token_form(context: Context, identity: Identity, id: int, token_id: int) -> HTTPResponse:
    return _render_edit_form(context, identity, id, token_id)


@router.post(TOKEN_PATH, needs=ADMIN)
def update_token(
    context: Context, identity: Identity, id: int, token_id: int, form: dict[str, str]
) -> HTTPResponse:
    values = signal_token_form.read_values(form)
    try:
        with context.database.transaction() as conn:
            before = signal_endpoint_tokens.lock(conn, id, token_id)
            values["kind"] = signal_token_form.find_kind(before)
            fields = signal_token_form.parse_values(values, before)
            signal_endpoint_tokens.update(
                conn, id, token_id, fields, identity, now=context.clock.now()
            )
    except AppError as error:
        if error.status not in FORM_STATUSES:
            raise
        return _render_edit_form(context, identity, id, token_id, values, form_error=error)
    return respond.redirect(context, f"/admin/signals/{id}?done=token-saved")


@router.get(f"{TOKEN_PATH}/rotate", needs=ADMIN)
def show_rotation_form(
    context: Context, identity: Identity, id: int, token_id: int
) -> HTTPResponse:
    return _render_rotation_form(context, identity, id, token_id, str(DEFAULT_GRACE_HOURS))


@router.post(f"{TOKEN_PATH}/rotate", needs=ADMIN)
def rotate_token(
    context: Context, identity: Identity, id: int, token_id: int, form: dict[str, str]
) -> HTTPResponse:
    hours, secret = form.get("graceHours", "").strip(), form.get("secret", "").strip()
    try:
        with context.database.transaction() as conn:
            endpoint = signal_endpoints.get(conn, id)
            token, new_secret = signal_endpoint_tokens.rotate(
                conn,
                id,
                token_id,
                identity,
                grace_hours=read_whole_number(hours, -1),
                now=context.clock.now(),
                encryption=context.encryption,
                secret=secret,
            )
    except AppError as error:
        if error.status not in FORM_STATUSES:
            raise
        return _render_rotation_form(context, identity, id, token_id, hours, form_error=error)
    is_in_grace = int(hours) > 0
    return _render_secret(
        context,
        identity,
        endpoint,
        token,
        "" if secret else new_secret,
        title=f"Secret of {token['name']} replaced",
        grace_ends_at=token["previous_expires_at"] if is_in_grace else None,
    )


@router.post(f"{TOKEN_PATH}/previous-secret/delete", needs=ADMIN)
def end_grace_period(
    context: Context, identity: Identity, id: int, token_id: int, form: dict[str, str]
) -> HTTPResponse:
    with context.database.transaction() as conn:
        signal_endpoint_tokens.delete_previous_secret(conn, id, token_id, identity)
    return respond.redirect(context, f"/admin/signals/{id}?done=grace-ended")


@router.get(f"{TOKEN_PATH}/delete", needs=ADMIN)
def confirm_token_deletion(
    context: Context, identity: Identity, id: int, token_id: int
) -> HTTPResponse:
    with context.database.transaction() as conn:
        endpoint = signal_endpoints.get(conn, id)
        token = signal_endpoint_tokens.get(conn, id, token_id)
    return respond.page(
        context,
        "signals/signal_endpoint_tokens/delete",
        identity,
        endpoint=endpoint,
        token=token,
        title=f"Delete token {token['name']} of {endpoint['name']}?",
    )


@router.post(f"{TOKEN_PATH}/delete", needs=ADMIN)
def delete_token(
    context: Context, identity: Identity, id: int, token_id: int, form: dict[str, str]
) -> HTTPResponse:
    with context.database.transaction() as conn:
        signal_endpoint_tokens.delete(conn, id, token_id, identity)
    return respond.redirect(context, f"/admin/signals/{id}?done=token-deleted")


def _render_new_form(
    context: Context,
    identity: Identity,
    id: int,
    values: dict[str, str],
    form_error: AppError | None = None,
) -> HTTPResponse:
    with context.database.transaction() as conn:
        endpoint = signal_endpoints.get(conn, id)
    is_chosen = values["kind"] in KINDS
    choices = tuple(KINDS.items())
    return respond.page(
        context,
        "signals/signal_endpoint_tokens/new",
        identity,
        endpoint=endpoint,
        kind=Field("kind", "Type", values["kind"] or BEARER, "select", choices=choices),
        kind_label=KINDS.get(values["kind"], ""),
        fields=signal_token_form.make_fields(values, has_secret=True) if is_chosen else [],
        form_error=form_error,
        title=f"New token of {endpoint['name']}",
        **_list_problems(form_error, values),
    )


def _render_edit_form(
    context: Context,
    identity: Identity,
    id: int,
    token_id: int,
    values: dict[str, str] | None = None,
    form_error: AppError | None = None,
) -> HTTPResponse:
    with context.database.transaction() as conn:
        endpoint = signal_endpoints.get(conn, id)
        token = signal_endpoint_tokens.get(conn, id, token_id)
    values = values or signal_token_form.make_values(token)
    return respond.page(
        context,
        "signals/signal_endpoint_tokens/edit",
        identity,
        endpoint=endpoint,
        token=token,
        kind_label=KINDS[signal_token_form.find_kind(token)],
        fields=signal_token_form.make_fields(values, has_secret=False),
        form_error=form_error,
        title=f"Token {token['name']} of {endpoint['name']}",
        **_list_problems(form_error, values),
    )


def _render_rotation_form(
    context: Context,
    identity: Identity,
    id: int,
    token_id: int,
    hours: str,
    form_error: AppError | None = None,
) -> HTTPResponse:
    with context.database.transaction() as conn:
        endpoint = signal_endpoints.get(conn, id)
        token = signal_endpoint_tokens.get(conn, id, token_id)
    kind = signal_token_form.find_kind(token)
    attributes = {"min": 0, "max": MAX_GRACE_HOURS}
    hint = "The current secret is valid for this time too. 0 refuses it at once."
    fields = [
        Field("graceHours", "Grace period in hours", hours, "number", hint, attributes=attributes)
    ]
    if kind not in (BEARER, "aws-sns"):
        fields.insert(0, signal_token_form.make_secret_field(kind))
    return respond.page(
        context,
        "signals/signal_endpoint_tokens/rotate",
        identity,
        endpoint=endpoint,
        token=token,
        fields=fields,
        form_error=form_error,
        title=f"Replace the secret of {token['name']} of {endpoint['name']}",
        **_list_problems(form_error, {}),
    )


def _render_secret(
    context: Context,
    identity: Identity,
    endpoint: Row,
    token: Row,
    secret: str,
    **more: Any,
) -> HTTPResponse:
    instructions = INSTRUCTIONS.get(signal_token_form.find_kind(token), "")
    return render_secret(
        context, identity, endpoint, token, secret, instructions=instructions, **more
    )


def _list_problems(error: AppError | None, values: dict[str, str]) -> dict[str, Any]:
    return {} if error is None else {"problems": signal_token_form.list_problems(error, values)}
