"""The lifecycle of flags, JSON."""

from sigservice.services.flags import feature_lifecycle
from sigservice.services.flags.feature_lifecycle import Completion
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import AdminGuard, Connection, Context, Json, Router

LIFECYCLE = "/api/admin/projects/<project>/features/<name>/lifecycle"

router = Router(AdminGuard)


@router.get(LIFECYCLE, needs=VIEW)
def list_stages(conn: Connection, identity: Identity, project: str, name: str) -> Json:
    """`[{stage, enteredStageAt, status?}]`, oldest first; `[]` for an unknown flag."""
    return feature_lifecycle.list_stages(conn, project, name)


@router.post(f"{LIFECYCLE}/complete", needs=EDIT, takes=Completion, any_content_type=True)
def complete_feature(
    conn: Connection, identity: Identity, project: str, name: str, body: Completion
) -> None:
    """Body: `{status: kept | discarded, statusValue?}`, with any content type. Changes nothing if
    it is completed."""
    feature_lifecycle.complete(conn, project, name, body, identity)


@router.post(f"{LIFECYCLE}/uncomplete", needs=EDIT)
def uncomplete_feature(conn: Connection, identity: Identity, project: str, name: str) -> None:
    """Reverts the completion."""
    feature_lifecycle.uncomplete(conn, project, name, identity)


@router.get("/api/admin/lifecycle/count", needs=VIEW)
def count_flags_by_stage(context: Context, identity: Identity) -> Json:
    """`{initial, preLive, live, completed, archived}`: the flags in each stage."""
    with context.database.autocommit(is_slow=True) as conn:
        return feature_lifecycle.count_flags(conn)
