"""The button on the page of a flag that makes it a favorite."""

from sigservice.routes.pages.flags.feature_page import find_feature
from sigservice.services.identity import VIEW, Identity
from sigservice.services.projects import favorites
from sigservice.web import Context, HTTPResponse, PageGuard, Router, respond
from sigservice.web.forms import Form
from sigservice.web.links import flag_path

FAVORITE = "/admin/features/<name>/favorite"

router = Router(PageGuard)


@router.post(FAVORITE, needs=VIEW)
def add_favorite(context: Context, identity: Identity, name: str, form: Form) -> HTTPResponse:
    with context.database.transaction() as conn:
        favorites.add_feature(conn, find_feature(conn, name)["project"], name, identity)
    return respond.redirect(context, flag_path(name))


@router.post(f"{FAVORITE}/remove", needs=VIEW)
def remove_favorite(context: Context, identity: Identity, name: str, form: Form) -> HTTPResponse:
    with context.database.transaction() as conn:
        favorites.remove_feature(conn, find_feature(conn, name)["project"], name, identity)
    return respond.redirect(context, flag_path(name))
