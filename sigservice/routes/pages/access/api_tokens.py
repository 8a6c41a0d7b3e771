"""API tokens, pages: list, new (the secret is seen once), delete."""

from __future__ import annotations

from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.repository.access import api_tokens as repository
from sigservice.services.access import api_tokens
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

PATH = "/admin/api-tokens"
TYPES = (
    ("client", "Client: SDKs on servers"),
    ("frontend", "Frontend: SDKs in browsers and apps"),
    ("admin", "Admin: scripts that manage this service"),
)


router = Router(PageGuard)


@router.get(PATH, needs=ADMIN)
def show_list(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        tokens = repository.list_all(conn)
    deleted = read_query(request.environ).get("done") == "deleted"
    return respond.page(
        context,
        "access/api_tokens/list",
        identity,
        title="API tokens",
        tokens=tokens,
        now=context.clock.now(),
        notice="The token was deleted; it is refused from now on." if deleted else "",
    )


def form_page(
    context: Context, identity: Identity, values: dict[str, Any], **more: Any
) -> HTTPResponse:
    with context.database.autocommit() as conn:
        choices = repository.find_choices(conn)
    return respond.page(
        context,
        "access/api_tokens/form",
        identity,
        values=values,
        choices=choices,
        types=TYPES,
        **({"title": "New API token"} | more),
    )


@router.get(f"{PATH}/new", needs=ADMIN)
def new(context: Context, identity: Identity) -> HTTPResponse:
    start = {"type": "client", "environment": "development", "scope": "all"}
    return form_page(context, identity, _values(start))


@router.post(f"{PATH}/new", needs=ADMIN)
def create(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
    values = _values(form)
    is_admin = values["type"] == "admin"
    try:
        fields = api_tokens.check_fields(
            name=values["tokenName"],
            type=values["type"],
            environment=None if is_admin else values["environment"],
            projects=_projects(values),
            expires_at=values["expiresAt"],
        )
        with context.database.transaction() as conn:
            token, secret = api_tokens.create(conn, fields, identity)
    except AppError as error:
        if error.status != 400:
            raise
        return form_page(
            context,
            identity,
            values,
            status=error.status,
            problems=error.details,
            title="Problem: New API token",
        )
    return respond.page(
        context,
        "access/api_tokens/created",
        identity,
        title="API token created",
        token=token,
        secret=secret,
    )


@router.get(f"{PATH}/<api_token_id:id>/delete", needs=ADMIN)
def confirm_delete(context: Context, identity: Identity, api_token_id: int) -> HTTPResponse:
    with context.database.autocommit() as conn:
        token = api_tokens.get(conn, api_token_id)
    return respond.page(
        context,
        "access/api_tokens/delete",
        identity,
        token=token,
        title=f"Delete API token {token['token_name']} ({api_token_id})?",
    )


@router.post(f"{PATH}/<api_token_id:id>/delete", needs=ADMIN)
def delete(
    context: Context, identity: Identity, api_token_id: int, form: dict[str, str]
) -> HTTPResponse:
    with context.database.transaction() as conn:
        api_tokens.get(conn, api_token_id)
        api_tokens.delete(conn, api_token_id, identity)
    return respond.redirect(context, f"{PATH}?done=deleted")


def _projects(values: dict[str, Any]) -> list[str]:
    """Both what the radio button and what the ticks say: services/access/api_tokens.py refuses a
    contradiction. Without ticks an admin token is for all projects."""
    ticked: list[str] = values["projects"]
    is_for_all = values["scope"] == "all" or (values["type"] == "admin" and not ticked)
    return [api_tokens.ALL, *ticked] if is_for_all else ticked


def _values(form: dict[str, str]) -> dict[str, Any]:
    names = ("tokenName", "type", "environment", "scope", "expiresAt")
    projects = [name.removeprefix("project:") for name in form if name.startswith("project:")]
    return {name: form.get(name, "").strip() for name in names} | {"projects": projects}
