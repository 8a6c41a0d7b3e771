"""The lifecycle of flags, JSON."""

from sigservice.services.flags import feature_lifecycle
from sigservice.services.flags.feature_lifecycle import Completion
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import AdminGuard, Context, HTTPResponse, Router, respond

LIFECYCLE = "/api/admin/projects/<project>/features/<name>/lifecycle"

router = Router(AdminGuard)


@router.get(LIFECYCLE, needs=VIEW)
def list_stages(context: Context, identity: Identity, project: str, name: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        return respond.json(feature_lifecycle.list_stages(conn, project, name))


@router.post(f"{LIFECYCLE}/complete", needs=EDIT, takes=Completion, any_content_type=True)
def complete_feature(
    context: Context, identity: Identity, project: str, name: str, body: Completion
) -> HTTPResponse:
    with context.database.transaction() as conn:
        feature_lifecycle.complete(conn, project, name, body, identity)
    return respond.empty()


@router.post(f"{LIFECYCLE}/uncomplete", needs=EDIT)
def uncomplete_feature(
    context: Context, identity: Identity, project: str, name: str
) -> HTTPResponse:
    with context.database.transaction() as conn:
        feature_lifecycle.uncomplete(conn, project, name, identity)
    return respond.empty()


@router.get("/api/admin/lifecycle/count", needs=VIEW)
def count_flags_by_stage(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit(bulkhead="search") as conn:
        return respond.json(feature_lifecycle.count_flags(conn))
