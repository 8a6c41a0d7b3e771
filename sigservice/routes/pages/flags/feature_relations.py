"""Tags and the parent flag of a flag, pages."""

from sigservice.routes.admin.flags.feature_relations import ParentBody
from sigservice.routes.pages.flags.feature_fields import parse_tag
from sigservice.routes.pages.flags.feature_page import find_feature, show_feature
from sigservice.services.flags import dependencies, feature_tags
from sigservice.services.flags.feature_tags import Tag
from sigservice.services.identity import EDIT, Identity
from sigservice.web import Connection, Context, PageGuard, Router
from sigservice.web.form_pages import shows_errors_in
from sigservice.web.forms import Form, read, report_at
from sigservice.web.links import flag_path

FLAG = "/admin/features/<name>"

router = Router(PageGuard)


# The response to a form with a problem is a page; reloading its address shows the flag.
@router.get(f"{FLAG}/edit", needs=EDIT)
@router.get(f"{FLAG}/clone", needs=EDIT)
@router.get(f"{FLAG}/tags", needs=EDIT)
@router.get(f"{FLAG}/parent", needs=EDIT)
def redirect_to_feature(context: Context, identity: Identity, name: str) -> str:
    return flag_path(name)


@router.post(f"{FLAG}/tags", needs=EDIT)
@shows_errors_in(show_feature)
def add_tag(context: Context, identity: Identity, name: str, form: Form) -> str:
    with report_at("tag"), context.database.transaction() as conn:
        feature_tags.change(conn, [name], identity, add=[parse_tag(form.get("tag", ""))])
    return f"{flag_path(name)}?done=tagged#tags"


@router.post(f"{FLAG}/tags/remove", needs=EDIT)
def remove_tag(conn: Connection, identity: Identity, name: str, form: Form) -> str:
    type, _, value = form.get("tag", "").partition(":")
    feature_tags.change(conn, [name], identity, remove=[Tag(type, value)])
    return f"{flag_path(name)}?done=untagged#tags"


@router.post(f"{FLAG}/parent", needs=EDIT)
@shows_errors_in(show_feature)
def set_parent(context: Context, identity: Identity, name: str, form: Form) -> str:
    body = read(form, ParentBody, enabled=form.get("state") != "off")
    with report_at("feature", "variants"), context.database.transaction() as conn:
        dependencies.set_parent(
            conn,
            find_feature(conn, name)["project"],
            name,
            body.feature,
            identity,
            enabled=body.enabled,
            variants=body.variants,
        )
    return f"{flag_path(name)}?done=parent#parent-flag"


@router.post(f"{FLAG}/parent/remove", needs=EDIT)
def remove_parent(conn: Connection, identity: Identity, name: str, form: Form) -> str:
    dependencies.remove_parent(conn, find_feature(conn, name)["project"], name, identity)
    return f"{flag_path(name)}?done=no-parent#parent-flag"
