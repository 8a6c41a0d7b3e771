"""Admin API: the caller's favorites. Admin tokens share theirs."""

from sigservice.db.pool import Connection
from sigservice.services.identity import VIEW, Identity
from sigservice.services.projects import favorites
from sigservice.web import AdminGuard, Router

PROJECT = "/api/admin/projects/<project>/favorites"
FEATURE = "/api/admin/projects/<project>/features/<name>/favorites"

router = Router(AdminGuard)


@router.post(FEATURE, needs=VIEW)
def add_favorite_feature(conn: Connection, identity: Identity, project: str, name: str) -> None:
    favorites.add_feature(conn, project, name, identity)


@router.delete(FEATURE, needs=VIEW)
def remove_favorite_feature(conn: Connection, identity: Identity, project: str, name: str) -> None:
    favorites.remove_feature(conn, project, name, identity)


@router.post(PROJECT, needs=VIEW)
def add_favorite_project(conn: Connection, identity: Identity, project: str) -> None:
    favorites.add_project(conn, project, identity)


@router.delete(PROJECT, needs=VIEW)
def remove_favorite_project(conn: Connection, identity: Identity, project: str) -> None:
    favorites.remove_project(conn, project, identity)
