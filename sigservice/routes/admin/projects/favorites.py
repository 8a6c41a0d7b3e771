"""Admin API: the caller's favorites. Admin tokens share theirs."""

from sigservice.services.identity import VIEW, Identity
from sigservice.services.projects import favorites
from sigservice.web import AdminGuard, Context, HTTPResponse, Router, respond

PROJECT = "/api/admin/projects/<project>/favorites"
FEATURE = "/api/admin/projects/<project>/features/<name>/favorites"

router = Router(AdminGuard)


@router.post(FEATURE, needs=VIEW)
def add_favorite_feature(
    context: Context, identity: Identity, project: str, name: str
) -> HTTPResponse:
    with context.database.transaction() as conn:
        favorites.add_feature(conn, project, name, identity)
    return respond.empty()


@router.delete(FEATURE, needs=VIEW)
def remove_favorite_feature(
    context: Context, identity: Identity, project: str, name: str
) -> HTTPResponse:
    with context.database.transaction() as conn:
        favorites.remove_feature(conn, project, name, identity)
    return respond.empty()


@router.post(PROJECT, needs=VIEW)
def add_favorite_project(context: Context, identity: Identity, project: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        favorites.add_project(conn, project, identity)
    return respond.empty()


@router.delete(PROJECT, needs=VIEW)
def remove_favorite_project(context: Context, identity: Identity, project: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        favorites.remove_project(conn, project, identity)
    return respond.empty()
