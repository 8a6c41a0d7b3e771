"""Archiving, reviving and permanently deleting flags, pages."""

from sigservice.routes.pages.flags.feature_page import find_feature
from sigservice.services.flags import feature_view, features
from sigservice.services.identity import EDIT, Identity
from sigservice.web import Connection, Context, PageGuard, Router, respond
from sigservice.web.form_pages import Confirmation, confirms
from sigservice.web.forms import Form
from sigservice.web.links import flag_path

FLAG = "/admin/features/<name>"

router = Router(PageGuard)


@confirms(router, f"{FLAG}/archive", needs=EDIT)
def archive_feature(
    context: Context, conn: Connection, identity: Identity, name: str
) -> Confirmation:
    row = find_feature(conn, name)
    if row["archived_at"]:
        raise respond.redirect(context, flag_path(name))
    feature = feature_view.build_view(conn, row["project"], name, identity.user_id)
    children = [(child, flag_path(child)) for child in feature["children"]]
    texts = ["Can't archive: these flags depend on it. Remove their parent flag first:"]
    if not children:
        texts = [
            "SDKs will evaluate it as disabled. You can revive it later; it comes back disabled "
            "everywhere."
        ]
        if names := [e["name"] for e in feature["environments"] if e["enabled"]]:
            texts.append(f"Currently enabled in: {', '.join(names)}")
    return Confirmation(
        f"Archive {name}?",
        [*texts, children],
        "" if children else "Archive flag",
        flag_path(name),
        lambda: features.archive(conn, row["project"], [name], identity),
        f"{flag_path(name)}?done=archived",
        cancel=f"Back to {name}" if children else "Cancel",
        breadcrumbs=[("Flags", "/admin/features"), (name, flag_path(name))],
    )


@router.post(f"{FLAG}/revive", needs=EDIT)
def revive_feature(conn: Connection, identity: Identity, name: str, form: Form) -> str:
    features.revive(conn, [name], identity)
    return f"{flag_path(name)}?done=revived"


@confirms(router, f"{FLAG}/delete", needs=EDIT)
def delete_feature(
    context: Context, conn: Connection, identity: Identity, name: str
) -> Confirmation:
    if not find_feature(conn, name)["archived_at"]:
        raise respond.redirect(context, flag_path(name))
    return Confirmation(
        f"Delete {name}?",
        [
            "Permanently deletes the flag, its strategies and tags. Events are kept; the name can "
            "be reused."
        ],
        "Delete permanently",
        flag_path(name),
        lambda: features.delete(conn, [name], identity),
        "/admin/features?life=archived&done=deleted",
        breadcrumbs=[("Flags", "/admin/features"), (name, flag_path(name))],
    )
