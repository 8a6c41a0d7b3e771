"""Admin API: the configuration of change requests, which this service doesn't have.

Tools such as the Terraform provider read it and write that change requests are disabled.
"""

import msgspec

from sigservice.errors import BadDataError, NotFoundError
from sigservice.repository.projects import environments
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.projects import projects
from sigservice.web import AdminGuard, Connection, HTTPResponse, Json, Router, Row, respond

PROJECT = "/api/admin/projects/<project>"


class ChangeRequestBody(msgspec.Struct):
    """Unleash writes this member with an s and reads `changeRequestEnabled`."""

    changeRequestsEnabled: bool
    requiredApprovals: int | None = None


router = Router(AdminGuard)


@router.get(f"{PROJECT}/change-requests/config", needs=VIEW)
def list_change_request_settings(conn: Connection, identity: Identity, project: str) -> Json:
    """`[{environment, type, changeRequestEnabled: false, requiredApprovals: null}]`; this service
    has no change requests."""
    rows = _list_environments(conn, project)
    return [
        {
            "environment": row["name"],
            "type": row["type"],
            "changeRequestEnabled": False,
            "requiredApprovals": None,
        }
        for row in rows
    ]


@router.put(
    f"{PROJECT}/environments/<environment>/change-requests/config",
    needs=EDIT,
    takes=ChangeRequestBody,
)
def set_change_request_settings(
    conn: Connection, identity: Identity, project: str, environment: str, body: ChangeRequestBody
) -> HTTPResponse:
    """Body: `{changeRequestsEnabled, requiredApprovals?}`. 204 for `false`, without effect; 400 for
    `true`."""
    if environment not in {row["name"] for row in _list_environments(conn, project)}:
        raise NotFoundError(f"Environment {environment} not found in project {project}.")
    if body.changeRequestsEnabled:
        raise BadDataError(
            "This service has no change requests: changes of flags take effect immediately."
            " Set changeRequestsEnabled to false.",
            path="changeRequestsEnabled",
        )
    return respond.empty(204)


def _list_environments(conn: Connection, project: str) -> list[Row]:
    """Those that the project uses. Raises NotFoundError for the project."""
    projects.get(conn, project)
    return [row for row in environments.list_by_project(conn, project) if row["visible"]]
