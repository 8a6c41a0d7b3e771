"""The button on the page of a flag that makes it a favorite."""

from sigservice.routes.pages.flags.feature_page import find_feature
from sigservice.services.identity import VIEW, Identity
from sigservice.services.projects import favorites
from sigservice.web import Connection, PageGuard, Router
from sigservice.web.forms import Form
from sigservice.web.links import flag_path

FAVORITE = "/admin/features/<name>/favorite"

router = Router(PageGuard)


@router.post(FAVORITE, needs=VIEW)
def add_favorite(conn: Connection, identity: Identity, name: str, form: Form) -> str:
    favorites.add_feature(conn, find_feature(conn, name)["project"], name, identity)
    return flag_path(name)


@router.post(f"{FAVORITE}/remove", needs=VIEW)
def remove_favorite(conn: Connection, identity: Identity, name: str, form: Form) -> str:
    favorites.remove_feature(conn, find_feature(conn, name)["project"], name, identity)
    return flag_path(name)
