"""The expected lifetime of a flag type, page."""

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.errors import AppError, BadDataError
from sigservice.routes.pages.projects.types import BREADCRUMBS, PATH
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.projects import feature_types
from sigservice.services.projects.feature_types import Lifetime
from sigservice.web import respond
from sigservice.web.forms import Field, Form, read_whole_number
from sigservice.web.guards import PageGuard
from sigservice.web.helpers import join_path
from sigservice.web.router import Router

FLAGS = f"{PATH}/flags"
EDIT_ONE = f"{FLAGS}/<feature_type>/edit"

router = Router(PageGuard)


@router.get(EDIT_ONE, needs=ADMIN)
def show_feature_type(context: Context, identity: Identity, feature_type: str) -> HTTPResponse:
    return _render_form(context, identity, feature_type)


@router.post(EDIT_ONE, needs=ADMIN)
def update_feature_type(
    context: Context, identity: Identity, feature_type: str, form: Form
) -> HTTPResponse:
    text = form.get("lifetimeDays", "").strip()
    try:
        lifetime = Lifetime(read_whole_number(text, None))
        with context.database.transaction() as conn:
            feature_types.update(conn, feature_type, lifetime, identity)
    except BadDataError as error:
        return _render_form(context, identity, feature_type, text, error)
    return respond.redirect(context, f"{PATH}?done=saved")


def _render_form(
    context: Context,
    identity: Identity,
    feature_type: str,
    text: str | None = None,
    error: AppError | None = None,
) -> HTTPResponse:
    with context.database.autocommit() as conn:
        row = feature_types.get(conn, feature_type)
    hint = "Older flags of this type count as stale. Empty: they never do."
    value = (row["lifetime_days"] or "") if text is None else text
    field = Field("lifetimeDays", "Expected lifetime in days", value, "number", hint)
    return respond.page(
        context,
        "projects/types/form",
        identity,
        form_error=error,
        title=f"Flag type {row['name']}",
        breadcrumbs=BREADCRUMBS,
        action=context.prefix + join_path(FLAGS, feature_type, "edit"),
        fields=[field],
        parameters=None,
        cancel_path=PATH,
    )
