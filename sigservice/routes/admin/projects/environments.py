"""Admin API: environments, and their use by a project."""

from typing import Annotated

import msgspec

from sigservice.repository.projects import environments as environment_rows
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.projects import environments
from sigservice.services.projects.environments import (
    EnvironmentChanges,
    EnvironmentState,
    NewEnvironment,
)
from sigservice.web import AdminGuard, Connection, HTTPResponse, Json, Router, respond

PATH = "/api/admin/environments"
SortOrder = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]


class EnvironmentNameBody(msgspec.Struct):
    name: str


router = Router(AdminGuard)


@router.get(PATH, needs=VIEW, autocommit=True)
def list_environments(conn: Connection, identity: Identity) -> Json:
    """`{"version": 1, "environments": [environment]}` in their order."""
    rows = environment_rows.list_all(conn)
    return {"version": 1, "environments": [environments.to_json(row) for row in rows]}


@router.get(f"{PATH}/project/<project>", needs=VIEW, autocommit=True)
def list_environments_of_project(conn: Connection, identity: Identity, project: str) -> Json:
    """All environments; `visible` if the project uses it."""
    rows = environment_rows.list_by_project(conn, project)
    body = [environments.project_environment_to_json(row) for row in rows]
    return {"version": 1, "environments": body}


@router.get(f"{PATH}/<name>", needs=VIEW, autocommit=True)
def get_environment(conn: Connection, identity: Identity, name: str) -> Json:
    """Environment."""
    return environments.to_json(environments.get(conn, name))


@router.post(PATH, needs=ADMIN, takes=NewEnvironment)
def create_environment(conn: Connection, identity: Identity, body: NewEnvironment) -> Json:
    """Body: `{name, type, sortOrder?, enabled?}`. 201 environment; 50 at most."""
    row = environments.create(conn, body, identity)
    return respond.Created(environments.to_json(row), f"{PATH}/{body.name}")


@router.post(f"{PATH}/validate", needs=VIEW, takes=EnvironmentNameBody, autocommit=True)
def validate_environment_name(
    conn: Connection, identity: Identity, body: EnvironmentNameBody
) -> None:
    """Body: `{name}`. 200; 400 for an invalid name, 409 if it exists."""
    environments.KIND.check_key_available(conn, body.name)


@router.put(f"{PATH}/sort-order", needs=ADMIN, takes=dict[str, SortOrder])
def set_sort_orders(conn: Connection, identity: Identity, body: dict[str, int]) -> None:
    """Body: `{name: number}` for one or more."""
    environments.set_sort_orders(conn, body, identity)


@router.put(f"{PATH}/update/<name>", needs=ADMIN, takes=EnvironmentChanges)
@router.put(f"{PATH}/<name>", needs=ADMIN, takes=EnvironmentChanges)
def update_environment(
    conn: Connection, identity: Identity, name: str, body: EnvironmentChanges
) -> Json:
    """Body: `{type?, sortOrder?}`. Environment."""
    return environments.to_json(environments.update(conn, name, body, identity))


@router.post(f"{PATH}/<name>/<is_enabled:switch>", needs=ADMIN)
def switch_environment(
    conn: Connection, identity: Identity, name: str, is_enabled: bool
) -> HTTPResponse:
    """204; `off` hides it from the pages, SDKs keep working."""
    environments.update(conn, name, EnvironmentState(is_enabled), identity)
    return respond.empty(204)


@router.delete(f"{PATH}/<name>", needs=ADMIN)
def delete_environment(conn: Connection, identity: Identity, name: str) -> None:
    """Deletes states, strategies and releases of flags in it; 403 for `default`; 409 while API
    tokens use it."""
    environments.delete(conn, name, identity)
