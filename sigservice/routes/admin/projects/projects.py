"""Projects, JSON: list, create, read, replace, delete, overview."""

from __future__ import annotations

from typing import Any

import msgspec
from bottle import HTTPResponse
from msgspec import UNSET, UnsetType

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.repository.projects import project_environments as links
from sigservice.repository.projects import projects as repository
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.projects import project_environments, projects
from sigservice.web import respond
from sigservice.web.guards import AdminGuard
from sigservice.web.router import Router

PATH = "/api/admin/projects"
STATISTICS = {
    "avgTimeToProdCurrentWindow": 0,
    "createdCurrentWindow": 0,
    "createdPastWindow": 0,
    "archivedCurrentWindow": 0,
    "archivedPastWindow": 0,
    "projectActivityCurrentWindow": 0,
    "projectActivityPastWindow": 0,
    "projectMembersAddedCurrentWindow": 0,
}


class ProjectBody(msgspec.Struct):
    """Without an id it is made from the name; without environments it uses all that are on."""

    name: str
    id: str | None = None
    description: str | None = None
    mode: str = "open"
    defaultStickiness: str = "default"
    environments: list[str] | None = None

    def fields(self) -> projects.Fields:
        return projects.fields(self.name, self.description, self.mode, self.defaultStickiness)


class UpdateBody(msgspec.Struct):
    """What is absent stays as it is; null clears the description."""

    name: str
    description: str | UnsetType | None = UNSET
    mode: str | None = None
    defaultStickiness: str | None = None


class IdBody(msgspec.Struct):
    id: str


router = Router(AdminGuard)


def full(conn: Connection, row: Row) -> dict[str, Any]:
    shown = [project_environments.to_json(link) for link in links.list_of_project(conn, row["id"])]
    return {"version": 1, **projects.to_json(row), "environments": shown}


@router.get(PATH, needs=VIEW)
def list_all(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = repository.list_all(conn)
    return respond.json({"version": 1, "projects": [projects.to_json(row) for row in rows]})


@router.post(PATH, needs=ADMIN, takes=ProjectBody)
def create(context: Context, identity: Identity, body: ProjectBody) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = projects.create(conn, body.id, body.fields(), identity, use=body.environments)
        shown = full(conn, row)
    return respond.json(shown, 201, location=f"{context.prefix}{PATH}/{row['id']}")


@router.post(f"{PATH}/validate", needs=VIEW, takes=IdBody)
def validate(context: Context, identity: Identity, body: IdBody) -> HTTPResponse:
    with context.database.autocommit() as conn:
        projects.check_free(conn, body.id)
    return respond.empty()


@router.get(f"{PATH}/<project>", needs=VIEW)
def read(context: Context, identity: Identity, project: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        return respond.json(full(conn, projects.get(conn, project)))


@router.get(f"{PATH}/<project>/overview", needs=VIEW)
def overview(context: Context, identity: Identity, project: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = projects.get(conn, project)
        shown = full(conn, row)
        types = repository.count_feature_types(conn, project)
    more = {
        "members": row["member_count"],
        "featureTypeCounts": types,
        "stats": STATISTICS,
        "featureLimit": None,
        "linkTemplates": [],
        "onboardingStatus": {"status": "onboarded"},
    }
    return respond.json(shown | more)


@router.put(f"{PATH}/<project>", needs=EDIT, takes=UpdateBody)
def replace(context: Context, identity: Identity, project: str, body: UpdateBody) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = projects.update(
            conn,
            project,
            identity,
            name=body.name,
            description=body.description,
            mode=body.mode,
            default_stickiness=body.defaultStickiness,
        )
        shown = full(conn, row)
    return respond.json(shown)


@router.delete(f"{PATH}/<project>", needs=ADMIN)
def delete(context: Context, identity: Identity, project: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        projects.delete(conn, project, identity)
    return respond.empty()
