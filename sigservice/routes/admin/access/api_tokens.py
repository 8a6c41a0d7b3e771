"""API tokens, JSON. Only the answer to a creation contains the secret, the lists a mask of it. The
list of a project has all tokens with access to it; its other routes create and delete tokens of
this project only."""

from typing import Any
from urllib.parse import quote

import msgspec

from sigservice.errors import BadDataError
from sigservice.repository.access import api_tokens as api_token_rows
from sigservice.services.access import api_tokens
from sigservice.services.identity import ADMIN, DEFAULT_ENVIRONMENT, Identity
from sigservice.web import AdminGuard, Connection, Json, Router, Row, respond

PATH = "/api/admin/api-tokens"
PROJECT_PATH = "/api/admin/projects/<project>/api-tokens"


class ApiTokenBody(msgspec.Struct):
    """Older tools send `username` and `project` instead of `tokenName` and `projects`."""

    type: str
    tokenName: str | None = None
    username: str | None = None
    environment: str | None = None
    projects: list[str] | None = None
    project: str | None = None
    expiresAt: str | None = None

    def check_fields(self) -> api_tokens.TokenFields:
        legacy = None if self.project is None else [self.project]
        if legacy and self.projects is not None and self.project != ",".join(self.projects):
            raise BadDataError(
                "project and projects must not differ; send projects only.", path="projects"
            )
        return api_tokens.check_fields(
            name=self.tokenName if self.tokenName is not None else self.username,
            type=self.type,
            environment=self.environment,
            projects=self.projects if self.projects is not None else legacy,
            expires_at=self.expiresAt,
        )


class ExpiryBody(msgspec.Struct):
    expiresAt: str


class ProjectTokenBody(msgspec.Struct):
    type: str
    tokenName: str
    environment: str = DEFAULT_ENVIRONMENT
    expiresAt: str | None = None


router = Router(AdminGuard)


@router.post(PATH, needs=ADMIN, takes=ApiTokenBody)
def create_api_token(conn: Connection, identity: Identity, body: ApiTokenBody) -> Json:
    """Body: `{tokenName, type, environment?, projects?, expiresAt?}`; without `projects` all; `*`
    together with other projects is rejected. 201 token with `secret`, only here."""
    return _create(conn, body.check_fields(), identity)


@router.get(PATH, needs=ADMIN, autocommit=True)
@router.get(f"{PATH}/<name:path>", needs=ADMIN, autocommit=True)
def list_api_tokens(conn: Connection, identity: Identity, name: str | None = None) -> Json:
    """`{"tokens": [token]}`, all or those of a name."""
    rows = api_token_rows.list_all(conn, token_name=name)
    return {"tokens": [_to_json(row) for row in rows]}


@router.put(f"{PATH}/<token:path>", needs=ADMIN, takes=ExpiryBody)
def update_api_token(conn: Connection, identity: Identity, token: str, body: ExpiryBody) -> None:
    """Body: `{expiresAt}`."""
    api_tokens.update(conn, token, body.expiresAt, identity)


@router.delete(f"{PATH}/<token:path>", needs=ADMIN)
def delete_api_token(conn: Connection, identity: Identity, token: str) -> None:
    """200, also for an unknown token."""
    api_tokens.delete(conn, token, identity)


@router.get(PROJECT_PATH, needs=ADMIN)
def list_project_api_tokens(conn: Connection, identity: Identity, project: str) -> Json:
    """The tokens of the project."""
    api_tokens.check_project(conn, project)
    rows = api_token_rows.list_of_project(conn, project)
    return {"tokens": [_to_json(row) for row in rows]}


@router.post(PROJECT_PATH, needs=ADMIN, takes=ProjectTokenBody)
def create_project_api_token(
    conn: Connection, identity: Identity, project: str, body: ProjectTokenBody
) -> Json:
    """Body: `{tokenName, type, environment?, expiresAt?}`. 201 token with `secret`, for this
    project only."""
    fields = api_tokens.check_fields(
        name=body.tokenName,
        type=body.type,
        environment=body.environment,
        projects=[project],
        expires_at=body.expiresAt,
    )
    api_tokens.check_project(conn, project)
    return _create(conn, fields, identity)


@router.delete(f"{PROJECT_PATH}/<token:path>", needs=ADMIN)
def delete_project_api_token(
    conn: Connection, identity: Identity, project: str, token: str
) -> None:
    """400 if the token is for other projects too."""
    api_tokens.check_project(conn, project)
    api_tokens.delete_from_project(conn, project, token, identity)


def _to_json(row: Row) -> dict[str, Any]:
    return api_tokens.to_json(row) | {"secret": api_tokens.mask_secret(row)}


def _create(conn: Connection, fields: api_tokens.TokenFields, identity: Identity) -> Json:
    row, secret = api_tokens.create(conn, fields, identity)
    path = f"{PATH}/{quote(row['token_name'])}"
    return respond.Created(api_tokens.to_json(row) | {"secret": secret}, path)
