"""Tokens of a signal endpoint, pages: create, rename, delete."""

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.errors import AppError, ExceedsLimitError
from sigservice.routes.pages.signals.signal_endpoints import (
    create_bearer_token,
    render_form,
    render_secret,
)
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signal_endpoint_tokens, signal_endpoints
from sigservice.services.signals.signal_endpoint_tokens import TokenFields
from sigservice.web import respond
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

PATH = "/admin/signals/<id:id>/tokens"


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


@router.post(f"{PATH}/<token_id:id>", needs=ADMIN)
def rename_token(
    context: Context, identity: Identity, id: int, token_id: int, form: dict[str, str]
) -> HTTPResponse:
    name = form.get("token_name", "")
    try:
        with context.database.transaction() as conn:
            token = signal_endpoint_tokens.get(conn, id, token_id)
            fields = TokenFields(
                name,
                token["expires_at"],
                token["allowed_addresses"],
                signal_endpoint_tokens.parse_signature(token),
            )
            signal_endpoint_tokens.update(
                conn, id, token_id, fields, identity, now=context.clock.now()
            )
    except AppError as error:
        if error.status not in (400, 409):
            raise
        return render_form(
            context,
            identity,
            id,
            {"token_names": {token_id: name}},
            form_error=error,
            problems=[{"message": error.message, "path": f"name-{token_id}"}],
        )
    return respond.redirect(context, f"/admin/signals/{id}?done=token-renamed")


@router.get(f"{PATH}/<token_id:id>/delete", needs=ADMIN)
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


@router.post(f"{PATH}/<token_id:id>/delete", needs=ADMIN)
def delete_token(
    context: Context, identity: Identity, id: int, token_id: int, form: dict[str, str]
) -> HTTPResponse:
    with context.database.transaction() as conn:
        signal_endpoint_tokens.delete(conn, id, token_id, identity)
    return respond.redirect(context, f"/admin/signals/{id}?done=token-deleted")
