"""The user's own sessions, JSON: list them and end them."""

from sigservice.db.pool import Connection
from sigservice.errors import ForbiddenError
from sigservice.services.access import sessions
from sigservice.services.identity import VIEW, Identity
from sigservice.web import AdminGuard, Context, HTTPResponse, Json, Router, respond, session

PATH = "/api/admin/user/sessions"

router = Router(AdminGuard)


@router.get(PATH, needs=VIEW)
def list_sessions(context: Context, identity: Identity) -> Json:
    _require_session(identity)
    rows = session.list_own_sessions(context, identity)
    return {"sessions": [sessions.to_json(row) for row in rows]}


@router.delete(PATH, needs=VIEW)
def end_other_sessions(conn: Connection, identity: Identity) -> None:
    _require_session(identity)
    sessions.end_other_sessions(conn, identity)


@router.delete(f"{PATH}/<id:id>", needs=VIEW)
def end_session(context: Context, identity: Identity, id: int) -> HTTPResponse:
    _require_session(identity)
    with context.database.transaction() as conn:
        is_current = sessions.end_session(conn, identity, id)
    answer = respond.empty()
    if is_current:
        session.clear_cookie(context, answer)
    return answer


def _require_session(identity: Identity) -> None:
    """Keeps a stolen token from listing and ending its owner's sessions."""
    if not identity.session_hash:
        raise ForbiddenError("Only signed-in users have sessions.")
