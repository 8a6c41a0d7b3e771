"""Archiving, reviving and permanently deleting flags, pages."""

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.routes.pages.flags.feature_page import find_feature
from sigservice.services.flags import feature_view, features
from sigservice.services.identity import EDIT, Identity
from sigservice.web import respond
from sigservice.web.forms import Form
from sigservice.web.guards import PageGuard
from sigservice.web.links import flag_path
from sigservice.web.router import Router

FLAG = "/admin/features/<name>"

router = Router(PageGuard)


def _render_confirmation(
    context: Context, identity: Identity, name: str, action: str, error: AppError | None = None
) -> HTTPResponse:
    """`action` is archive, for a flag that isn't archived, or delete, for one that is."""
    with context.database.transaction() as conn:
        row = find_feature(conn, name)
        if (row["archived_at"] is None) != (action == "archive"):
            return respond.redirect(context, flag_path(name))
        feature = feature_view.build_view(conn, row["project"], name, identity.user_id)
    return respond.page(
        context,
        f"flags/features/{action}",
        identity,
        form_error=error,
        title=f"{action.title()} {name}?",
        name=name,
        children=feature["children"],
        flag_path=flag_path,
        enabled_in=", ".join(e["name"] for e in feature["environments"] if e["enabled"]),
    )


@router.get(f"{FLAG}/archive", needs=EDIT)
def confirm_feature_archiving(context: Context, identity: Identity, name: str) -> HTTPResponse:
    return _render_confirmation(context, identity, name, "archive")


@router.post(f"{FLAG}/archive", needs=EDIT)
def archive_feature(context: Context, identity: Identity, name: str, form: Form) -> HTTPResponse:
    try:
        with context.database.transaction() as conn:
            features.archive(conn, find_feature(conn, name)["project"], [name], identity)
    except AppError as error:
        if error.status != 403:
            raise
        return _render_confirmation(context, identity, name, "archive", error)
    return respond.redirect(context, f"{flag_path(name)}?done=archived")


@router.post(f"{FLAG}/revive", needs=EDIT)
def revive_feature(context: Context, identity: Identity, name: str, form: Form) -> HTTPResponse:
    with context.database.transaction() as conn:
        features.revive(conn, [name], identity)
    return respond.redirect(context, f"{flag_path(name)}?done=revived")


@router.get(f"{FLAG}/delete", needs=EDIT)
def confirm_feature_deletion(context: Context, identity: Identity, name: str) -> HTTPResponse:
    return _render_confirmation(context, identity, name, "delete")


@router.post(f"{FLAG}/delete", needs=EDIT)
def delete_feature(context: Context, identity: Identity, name: str, form: Form) -> HTTPResponse:
    with context.database.transaction() as conn:
        find_feature(conn, name)
        features.delete(conn, [name], identity)
    return respond.redirect(context, "/admin/features?life=archived&done=deleted")
