"""API tokens, JSON. Only the answer to a creation contains the secret."""

from urllib.parse import quote

import msgspec

from sigservice.db.pool import Connection
from sigservice.errors import BadDataError
from sigservice.repository.access import api_tokens as api_token_rows
from sigservice.services.access import api_tokens
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import AdminGuard, Json, Router, respond

PATH = "/api/admin/api-tokens"


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


router = Router(AdminGuard)


@router.post(PATH, needs=ADMIN, takes=ApiTokenBody)
def create_api_token(conn: Connection, identity: Identity, body: ApiTokenBody) -> Json:
    fields = body.check_fields()
    row, secret = api_tokens.create(conn, fields, identity)
    return respond.Created(
        api_tokens.to_json(row) | {"secret": secret},
        f"/api/admin/api-tokens/{quote(row['token_name'])}",
    )


@router.get(PATH, needs=ADMIN, autocommit=True)
@router.get(f"{PATH}/<name:path>", needs=ADMIN, autocommit=True)
def list_api_tokens(conn: Connection, identity: Identity, name: str | None = None) -> Json:
    rows = api_token_rows.list_all(conn, token_name=name)
    return {"tokens": [api_tokens.to_json(row) for row in rows]}


@router.put(f"{PATH}/<token:path>", needs=ADMIN, takes=ExpiryBody)
def update_api_token(conn: Connection, identity: Identity, token: str, body: ExpiryBody) -> None:
    api_tokens.update(conn, token, body.expiresAt, identity)


@router.delete(f"{PATH}/<token:path>", needs=ADMIN)
def delete_api_token(conn: Connection, identity: Identity, token: str) -> None:
    api_tokens.delete(conn, token, identity)
