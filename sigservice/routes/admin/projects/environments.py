"""Admin API: environments, and their use by a project."""

from typing import Annotated

import msgspec
from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.repository.projects import environments as repository
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.projects import environments
from sigservice.web import respond
from sigservice.web.guards import AdminGuard
from sigservice.web.router import Router

PATH = "/api/admin/environments"
SortOrder = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]


class EnvironmentBody(msgspec.Struct):
    name: str
    type: str
    sortOrder: SortOrder | None = None
    enabled: bool = True


class UpdateEnvironmentBody(msgspec.Struct):
    """Absent members keep their values."""

    type: str | None = None
    sortOrder: SortOrder | None = None


class EnvironmentNameBody(msgspec.Struct):
    name: str


router = Router(AdminGuard)


@router.get(PATH, needs=VIEW)
def list_environments(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = repository.list_all(conn)
    return respond.json({"version": 1, "environments": [environments.to_json(row) for row in rows]})


@router.get(f"{PATH}/project/<project>", needs=VIEW)
def list_environments_of_project(
    context: Context, identity: Identity, project: str
) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = repository.list_by_project(conn, project)
    body = [environments.project_environment_to_json(row) for row in rows]
    return respond.json({"version": 1, "environments": body})


@router.get(f"{PATH}/<name>", needs=VIEW)
def get_environment(context: Context, identity: Identity, name: str) -> HTTPResponse:
    with context.database.autocommit() as conn:
        row = environments.get(conn, name)
    return respond.json(environments.to_json(row))


@router.post(PATH, needs=ADMIN, takes=EnvironmentBody)
def create_environment(context: Context, identity: Identity, body: EnvironmentBody) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = environments.create(
            conn,
            name=body.name,
            type=body.type,
            sort_order=body.sortOrder,
            enabled=body.enabled,
            by=identity,
        )
    location = f"{context.prefix}{PATH}/{body.name}"
    return respond.json(environments.to_json(row), 201, location=location)


@router.post(f"{PATH}/validate", needs=VIEW, takes=EnvironmentNameBody)
def validate_environment_name(
    context: Context, identity: Identity, body: EnvironmentNameBody
) -> HTTPResponse:
    with context.database.autocommit() as conn:
        environments.check_name_available(conn, body.name)
    return respond.empty()


@router.put(f"{PATH}/sort-order", needs=ADMIN, takes=dict[str, SortOrder])
def set_sort_orders(context: Context, identity: Identity, body: dict[str, int]) -> HTTPResponse:
    with context.database.transaction() as conn:
        environments.set_sort_orders(conn, body, identity)
    return respond.empty()


@router.put(f"{PATH}/update/<name>", needs=ADMIN, takes=UpdateEnvironmentBody)
@router.put(f"{PATH}/<name>", needs=ADMIN, takes=UpdateEnvironmentBody)
def update_environment(
    context: Context, identity: Identity, name: str, body: UpdateEnvironmentBody
) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = environments.update(conn, name, identity, type=body.type, sort_order=body.sortOrder)
    return respond.json(environments.to_json(row))


def _set_enabled(context: Context, identity: Identity, name: str, enabled: bool) -> HTTPResponse:
    with context.database.transaction() as conn:
        environments.update(conn, name, identity, enabled=enabled)
    return respond.empty(204)


@router.post(f"{PATH}/<name>/on", needs=ADMIN)
def enable_environment(context: Context, identity: Identity, name: str) -> HTTPResponse:
    return _set_enabled(context, identity, name, True)


@router.post(f"{PATH}/<name>/off", needs=ADMIN)
def disable_environment(context: Context, identity: Identity, name: str) -> HTTPResponse:
    return _set_enabled(context, identity, name, False)


@router.delete(f"{PATH}/<name>", needs=ADMIN)
def delete_environment(context: Context, identity: Identity, name: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        environments.delete(conn, name, identity)
    return respond.empty()
