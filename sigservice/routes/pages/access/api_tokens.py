"""API tokens, pages: list, create (the answer alone contains the secret), delete."""

from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.repository.access import api_tokens as repository
from sigservice.services.access import api_tokens
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import respond
from sigservice.web.forms import Field, find_errors, make_choices
from sigservice.web.guards import PageGuard
from sigservice.web.links import make_own_url
from sigservice.web.router import Router

PATH = "/admin/api-tokens"
NOTICES = {"deleted": "Token deleted. It is no longer valid."}
TYPES = (
    ("client", "Client: server-side SDKs"),
    ("frontend", "Frontend: SDKs in browsers and apps"),
    ("admin", "Admin: scripts that manage this service"),
)
SCOPES = (("all", "All current and future projects"), ("some", "Selected projects"))
# The URL of an SDK and a request to try, by the type of the token.
SDK_PATHS = {"client": "/api", "frontend": "/api/frontend"}
TEST_PATHS = {
    "client": "/api/client/features",
    "frontend": "/api/frontend",
    "admin": "/api/admin/projects",
}


router = Router(PageGuard)


@router.get(PATH, needs=ADMIN)
def list_api_tokens(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        tokens = repository.list_all(conn)
    return respond.page(
        context,
        "access/api_tokens/list",
        identity,
        title="API tokens",
        tokens=tokens,
        now=context.clock.now(),
        notice=respond.find_notice(NOTICES),
    )


@router.get(f"{PATH}/new", needs=ADMIN)
def show_new_api_token(context: Context, identity: Identity) -> HTTPResponse:
    values = {"type": "client", "environment": "development", "scope": "all"}
    return _render_form(context, identity, _read_values(values))


@router.post(f"{PATH}/new", needs=ADMIN)
def create_api_token(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
    values = _read_values(form)
    try:
        fields = api_tokens.check_fields(
            name=values["tokenName"],
            type=values["type"],
            environment=None if values["type"] == "admin" else values["environment"],
            projects=_choose_projects(values),
            expires_at=values["expiresAt"],
        )
        with context.database.transaction() as conn:
            token, secret = api_tokens.create(conn, fields, identity)
    except AppError as error:
        if error.status != 400:
            raise
        return _render_form(context, identity, values, error)
    own_url, copy_fields = (
        make_own_url(context, request.environ),
        [Field("secret", "Token", secret)],
    )
    if token["type"] in SDK_PATHS:
        copy_fields.append(Field("sdk-url", "SDK URL", own_url + SDK_PATHS[token["type"]]))
    return respond.page(
        context,
        "access/api_tokens/created",
        identity,
        title="API token created",
        token=token,
        secret=secret,
        copy_fields=copy_fields,
        test_url=own_url + TEST_PATHS[token["type"]],
    )


@router.get(f"{PATH}/<api_token_id:id>/delete", needs=ADMIN)
def confirm_delete_api_token(
    context: Context, identity: Identity, api_token_id: int
) -> HTTPResponse:
    with context.database.autocommit() as conn:
        token = api_tokens.get(conn, api_token_id)
    title = f"Delete API token {token['token_name']} ({api_token_id})?"
    return respond.page(context, "access/api_tokens/delete", identity, token=token, title=title)


@router.post(f"{PATH}/<api_token_id:id>/delete", needs=ADMIN)
def delete_api_token(
    context: Context, identity: Identity, api_token_id: int, form: dict[str, str]
) -> HTTPResponse:
    with context.database.transaction() as conn:
        api_tokens.get(conn, api_token_id)
        api_tokens.delete(conn, api_token_id, identity)
    return respond.redirect(context, f"{PATH}?done=deleted")


def _render_form(
    context: Context, identity: Identity, values: dict[str, Any], error: AppError | None = None
) -> HTTPResponse:
    with context.database.autocommit() as conn:
        choices = repository.find_choices(conn)
    environments = make_choices(choices["environments"])
    type_hint = "Admin tokens have full access; environment and projects are ignored."
    expiry_hint = "00:00 UTC on this date. Leave empty for no expiry."
    fields = [
        Field("tokenName", "Name", values["tokenName"], hint="e.g. web-shop", is_required=True),
        Field("type", "Type", values["type"], "select", type_hint, choices=TYPES),
        Field("environment", "Environment", values["environment"], "select", choices=environments),
    ]
    projects = [
        Field(f"project:{id}", id, id in values["projects"], "checkbox", id=f"project-{id}")
        for id in choices["projects"]
    ]
    return respond.page(
        context,
        "access/api_tokens/form",
        identity,
        fields=fields,
        scope=Field("scope", "Projects", values["scope"], "radio", choices=SCOPES),
        projects=projects,
        project_errors=find_errors(error.details if error else (), "projects"),
        expiry=Field("expiresAt", "Expires on", values["expiresAt"], "date", expiry_hint),
        title="New API token",
        form_error=error,
    )


def _choose_projects(values: dict[str, Any]) -> list[str]:
    """What both the radio buttons and the checkboxes select; services/access/api_tokens.py rejects
    a contradiction. An admin token without checked projects applies to all."""
    projects: list[str] = values["projects"]
    is_for_all = values["scope"] == "all" or (values["type"] == "admin" and not projects)
    return [api_tokens.ALL, *projects] if is_for_all else projects


def _read_values(form: dict[str, str]) -> dict[str, Any]:
    names = ("tokenName", "type", "environment", "scope", "expiresAt")
    projects = [name.removeprefix("project:") for name in form if name.startswith("project:")]
    return {name: form.get(name, "").strip() for name in names} | {"projects": projects}
