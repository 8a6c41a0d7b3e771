"""The freeze of releases, JSON."""

from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.releases import freeze
from sigservice.services.releases.freeze import Freeze
from sigservice.web import AdminGuard, Connection, Json, Router

FREEZE = "/api/admin/releases/freeze"

router = Router(AdminGuard)


@router.get(FREEZE, needs=VIEW)
def show_freeze(conn: Connection, identity: Identity) -> Json:
    return freeze.read_freeze(conn)


@router.put(FREEZE, needs=ADMIN, takes=Freeze)
def set_freeze(conn: Connection, identity: Identity, body: Freeze) -> Json:
    return freeze.set_freeze(conn, body, identity)
