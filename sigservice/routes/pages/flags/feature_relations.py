"""Tags and the parent flag of a flag, pages."""

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.errors import AppError, BadDataError
from sigservice.routes.pages.flags.feature_page import find_feature, render_feature
from sigservice.services.flags import dependencies, feature_tags
from sigservice.services.flags.feature_tags import Tag
from sigservice.services.identity import EDIT, Identity
from sigservice.web import respond
from sigservice.web.forms import Form
from sigservice.web.growing_forms import split_lines
from sigservice.web.guards import PageGuard
from sigservice.web.links import flag_path
from sigservice.web.router import Router

FLAG = "/admin/features/<name>"

router = Router(PageGuard)


# The response to a form with a problem is a page; reloading its address shows the flag.
@router.get(f"{FLAG}/edit", needs=EDIT)
@router.get(f"{FLAG}/clone", needs=EDIT)
@router.get(f"{FLAG}/tags", needs=EDIT)
@router.get(f"{FLAG}/parent", needs=EDIT)
def redirect_to_feature(context: Context, identity: Identity, name: str) -> HTTPResponse:
    return respond.redirect(context, flag_path(name))


@router.post(f"{FLAG}/tags", needs=EDIT)
def add_tag(context: Context, identity: Identity, name: str, form: Form) -> HTTPResponse:
    text = form.get("tag", "").strip()
    type, colon, value = text.partition(":")
    try:
        if not colon:
            raise BadDataError("The tag must be in the form type:value, e.g. simple:checkout.")
        with context.database.transaction() as conn:
            tag = Tag(type.strip(), value.strip())
            feature_tags.change(conn, [name], identity, add=[tag])
    except BadDataError as error:
        error.details = [detail | {"path": "tag"} for detail in error.details]
        return render_feature(context, identity, name, {"tag": text}, error=error, form="Tag")
    return respond.redirect(context, f"{flag_path(name)}?done=tagged#tags")


@router.post(f"{FLAG}/tags/remove", needs=EDIT)
def remove_tag(context: Context, identity: Identity, name: str, form: Form) -> HTTPResponse:
    type, _, value = form.get("tag", "").partition(":")
    with context.database.transaction() as conn:
        feature_tags.change(conn, [name], identity, remove=[Tag(type, value)])
    return respond.redirect(context, f"{flag_path(name)}?done=untagged#tags")


@router.post(f"{FLAG}/parent", needs=EDIT)
def set_parent(context: Context, identity: Identity, name: str, form: Form) -> HTTPResponse:
    values = {key: form.get(key, "").strip() for key in ("parent", "state", "parent_variants")}
    try:
        with context.database.transaction() as conn:
            dependencies.set_parent(
                conn,
                find_feature(conn, name)["project"],
                name,
                values["parent"],
                identity,
                enabled=values["state"] != "off",
                variants=split_lines(values["parent_variants"]),
            )
    except AppError as error:
        if error.status not in (400, 403):
            raise
        path = "parent_variants" if error.details[0].get("path") == "variants" else "parent"
        error.details = [detail | {"path": path} for detail in error.details]
        return render_feature(context, identity, name, values, error=error, form="Parent")
    return respond.redirect(context, f"{flag_path(name)}?done=parent#parent-flag")


@router.post(f"{FLAG}/parent/remove", needs=EDIT)
def remove_parent(context: Context, identity: Identity, name: str, form: Form) -> HTTPResponse:
    with context.database.transaction() as conn:
        dependencies.remove_parent(conn, find_feature(conn, name)["project"], name, identity)
    return respond.redirect(context, f"{flag_path(name)}?done=no-parent#parent-flag")
