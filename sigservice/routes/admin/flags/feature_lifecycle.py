"""The lifecycle of flags, JSON."""

from sigservice.services.flags import feature_lifecycle
from sigservice.services.flags.feature_lifecycle import Completion
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import AdminGuard, Connection, Context, Json, Router

LIFECYCLE = "/api/admin/projects/<project>/features/<name>/lifecycle"

router = Router(AdminGuard)


@router.get(LIFECYCLE, needs=VIEW)
def list_stages(conn: Connection, identity: Identity, project: str, name: str) -> Json:
    return feature_lifecycle.list_stages(conn, project, name)


@router.post(f"{LIFECYCLE}/complete", needs=EDIT, takes=Completion, any_content_type=True)
def complete_feature(
    conn: Connection, identity: Identity, project: str, name: str, body: Completion
) -> None:
    feature_lifecycle.complete(conn, project, name, body, identity)


@router.post(f"{LIFECYCLE}/uncomplete", needs=EDIT)
def uncomplete_feature(conn: Connection, identity: Identity, project: str, name: str) -> None:
    feature_lifecycle.uncomplete(conn, project, name, identity)


@router.get("/api/admin/lifecycle/count", needs=VIEW)
def count_flags_by_stage(context: Context, identity: Identity) -> Json:
    with context.database.autocommit(is_slow=True) as conn:
        return feature_lifecycle.count_flags(conn)
