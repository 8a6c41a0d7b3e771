"""API tokens, pages: list, create (a page shows the secret once), delete."""

import json
import re

from sigservice.errors import BadDataError
from sigservice.repository.access import api_tokens as api_token_rows
from sigservice.routes.admin.access.api_tokens import ApiTokenBody
from sigservice.services.access import api_tokens
from sigservice.services.identity import ADMIN, SYSTEM_ID, Identity, name_actor
from sigservice.web import (
    Connection,
    Context,
    Page,
    PageGuard,
    Router,
    Row,
    ShownOnce,
    request,
)
from sigservice.web.form_pages import Confirmation, confirms, make_form_page, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, make_choices, read
from sigservice.web.guide import load_guide
from sigservice.web.links import make_own_url
from sigservice.web.resource_limits import explain_limit, make_limit_page
from sigservice.web.tables import Cell, Column, make_list_page, make_table

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
LOCAL_URL = "http://localhost:4242"  # in the programs of the guide
_PROGRAM = re.compile(r"^```(?:python|js)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TYPE_HINT = "Admin tokens have full access: to all environments and all projects."
EXPIRY_HINT = "The beginning of this date. Leave empty for no expiry."


def _find_secret(prefix: str) -> str:
    """What follows the projects and the environment, which have columns of their own."""
    return prefix.rpartition(".")[2] or prefix


def _name_creator(row: Row) -> str:
    name, user_id = row["created_by"], row["created_by_user_id"]
    return name_actor(name, user_id) if name and user_id != SYSTEM_ID else "the configuration"


COLUMNS = (
    Column("Name", lambda row: Cell(row["token_name"])),
    Column("Type", lambda row: Cell(badges=[row["type"]])),
    Column("Token", lambda row: Cell(f"{_find_secret(row['secret_prefix'])}…")),
    Column("Environment", lambda row: Cell(row["environment"].replace("*", "all"))),
    Column(
        "Projects",
        lambda row: Cell("all" if "*" in row["projects"] else ", ".join(row["projects"])),
    ),
    Column(
        "Expires",
        lambda row: Cell(
            badges=["expired"] if row["has_expired"] else [],
            at=row["expires_at"],
            missing="never",
        ),
    ),
    Column("Last used", lambda row: Cell(at=row["seen_at"], missing="never")),
    Column(
        "Created",
        lambda row: Cell(
            at=row["created_at"],
            hint=f"by {_name_creator(row)}",
        ),
    ),
)

router = Router(PageGuard, notices=NOTICES)


@router.get(PATH, needs=ADMIN)
def list_api_tokens(context: Context, identity: Identity) -> Page:
    with context.database.autocommit() as conn:
        tokens = api_token_rows.list_all(conn)
    now = context.clock.now()
    table = make_table(
        "tokens",
        COLUMNS,
        [row | {"has_expired": row["expires_at"] and row["expires_at"] <= now} for row in tokens],
        lambda row: [("Delete token", f"{PATH}/{row['id']}/delete")],
        lambda row: f"{row['token_name']} {row['secret_prefix']}",
        empty="No API tokens yet. Create one to connect an SDK.",
    )
    return make_list_page(
        [table],
        title="API tokens",
        hint="Used by SDKs and scripts. Deleting a token revokes access immediately.",
        new=("New API token", f"{PATH}/new"),
    )


@router.get(f"{PATH}/new", needs=ADMIN, autocommit=True)
def show_new_api_token(conn: Connection, identity: Identity, entry: Entry = NO_ENTRY) -> Page:
    choices = api_token_rows.find_choices(conn)
    count = api_token_rows.count(conn)
    if not entry.form and count >= api_tokens.MAX_TOKENS:
        text = explain_limit("API token", api_tokens.MAX_TOKENS)
        return make_limit_page("New API token", text, ("API tokens", PATH))
    environments = make_choices(choices["environments"])
    fields = [
        Field("tokenName", "Name", hint="e.g. web-shop", is_required=True),
        Field("type", "Type", type="select", hint=TYPE_HINT, choices=TYPES),
        Field("environment", "Environment", type="select", choices=environments),
        Field("projects", "Projects", type="radio", choices=SCOPES),
        *(Field(f"projects.{id}", id, type="checkbox") for id in choices["projects"]),
        Field("expiresAt", "Expires on", type="date", hint=EXPIRY_HINT),
    ]
    blank = {"type": "client", "environment": "development", "projects": "all"}
    return make_form_page(
        fill(fields, entry.form or blank),
        title="New API token",
        breadcrumbs=[("API tokens", PATH)],
        button="Create token",
    )


@router.post(f"{PATH}/new", needs=ADMIN)
@shows_errors_in(show_new_api_token)
def create_api_token(context: Context, identity: Identity, form: Form) -> ShownOnce:
    body = read(form, ApiTokenBody, projects=_choose_projects(form))
    body.environment = None if body.type == "admin" else body.environment
    new = body.check_fields()
    if new.expires_at is not None and new.expires_at <= context.clock.now():
        raise BadDataError("The date must be in the future.", path="expiresAt")
    with context.database.transaction() as conn:
        token, secret = api_tokens.create(conn, new, identity)
    own_url = make_own_url(context, request.environ)
    copy_fields = [Field("secret", "Token", secret)]
    if token["type"] in SDK_PATHS:
        copy_fields.append(Field("sdk-url", "URL for the SDK", own_url + SDK_PATHS[token["type"]]))
    page = Page(
        "access/api_tokens/created",
        title=f"Token for {token['token_name']} ({token['environment'].replace('*', 'all')})",
        copy_fields=copy_fields,
        programs=_list_programs(token, secret, own_url),
    )
    return ShownOnce(page, PATH)


@confirms(router, f"{PATH}/<api_token_id:id>/delete", needs=ADMIN)
def delete_api_token(conn: Connection, identity: Identity, api_token_id: int) -> Confirmation:
    token = api_tokens.get(conn, api_token_id)
    return Confirmation(
        f"Delete API token {token['token_name']} ({api_token_id})?",
        [
            f"Applications using this token ({token['secret_prefix']}…) lose access immediately. "
            "This can't be undone."
        ],
        "Delete API token",
        PATH,
        lambda: api_tokens.delete(conn, api_token_id, identity),
        f"{PATH}?done=deleted",
        breadcrumbs=[("API tokens", PATH)],
    )


def _list_programs(token: Row, secret: str, own_url: str) -> list[tuple[str, str]]:
    """(label, program) that evaluate a flag with the token, those of the guide, and a request."""
    programs = []
    for section in load_guide().pages["sdk"].file.read_text(encoding="utf-8").split("\n## ")[1:]:
        label, code = section.partition("\n")[0], _PROGRAM.search(section)
        if code and (mark := f"<{token['type']} token>") in code[1]:
            text = code[1].replace(mark, secret).replace(LOCAL_URL, own_url)
            programs.append((label, text.replace('"shop"', json.dumps(token["token_name"]))))
    request_text = f"curl -H 'Authorization: {secret}' \\\n  '{own_url}{TEST_PATHS[token['type']]}'"
    return [*sorted(programs), ("curl", request_text)]


def _choose_projects(form: Form) -> list[str]:
    """What both the radio buttons and the checkboxes select; services/access/api_tokens.py rejects
    a contradiction. An admin token without checked projects applies to all."""
    ids = [name.removeprefix("projects.") for name in form if name.startswith("projects.")]
    is_for_all = form.get("projects") == "all" or (form.get("type") == "admin" and not ids)
    return [api_tokens.ALL, *ids] if is_for_all else ids
