"""API tokens of one project, JSON. Lists all tokens with access to the project; creates and
deletes tokens of this project only."""

from urllib.parse import quote

import msgspec

from sigservice.db.pool import Connection
from sigservice.repository.access import api_tokens as api_token_rows
from sigservice.services.access import api_tokens
from sigservice.services.identity import ADMIN, DEFAULT_ENVIRONMENT, Identity
from sigservice.web import AdminGuard, Json, Router, respond

PATH = "/api/admin/projects/<project>/api-tokens"


class ProjectTokenBody(msgspec.Struct):
    type: str
    tokenName: str
    environment: str = DEFAULT_ENVIRONMENT
    expiresAt: str | None = None


router = Router(AdminGuard)


@router.get(PATH, needs=ADMIN)
def list_project_api_tokens(conn: Connection, identity: Identity, project: str) -> Json:
    api_tokens.check_project(conn, project)
    rows = api_token_rows.list_of_project(conn, project)
    return {"tokens": [api_tokens.to_json(row) for row in rows]}


@router.post(PATH, needs=ADMIN, takes=ProjectTokenBody)
def create_project_api_token(
    conn: Connection, identity: Identity, project: str, body: ProjectTokenBody
) -> Json:
    fields = api_tokens.check_fields(
        name=body.tokenName,
        type=body.type,
        environment=body.environment,
        projects=[project],
        expires_at=body.expiresAt,
    )
    api_tokens.check_project(conn, project)
    row, secret = api_tokens.create(conn, fields, identity)
    return respond.Created(
        api_tokens.to_json(row) | {"secret": secret},
        f"/api/admin/api-tokens/{quote(row['token_name'])}",
    )


@router.delete(f"{PATH}/<token:path>", needs=ADMIN)
def delete_project_api_token(
    conn: Connection, identity: Identity, project: str, token: str
) -> None:
    api_tokens.check_project(conn, project)
    api_tokens.delete_from_project(conn, project, token, identity)
