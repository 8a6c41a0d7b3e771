"""The expected lifetime of a flag type, page."""

from sigservice.db.pool import Connection
from sigservice.routes.pages.projects.types import BREADCRUMBS, PATH
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.projects import feature_types
from sigservice.services.projects.feature_types import Lifetime
from sigservice.web import Page, PageGuard, Router
from sigservice.web.form_pages import make_form_page, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, read, to_form

EDIT_ONE = f"{PATH}/flags/<feature_type>/edit"
HINT = "Older flags of this type are past their expected lifetime. Empty: they never are."
FIELDS = [Field("lifetimeDays", "Expected lifetime in days", type="number", hint=HINT)]

router = Router(PageGuard)


@router.get(EDIT_ONE, needs=ADMIN, autocommit=True)
def show_feature_type(
    conn: Connection, identity: Identity, feature_type: str, entry: Entry = NO_ENTRY
) -> Page:
    row = feature_types.get(conn, feature_type)
    return make_form_page(
        fill(FIELDS, entry.form or to_form(feature_types.to_json(row))),
        entry=entry,
        title=f"Flag type {row['name']}",
        breadcrumbs=BREADCRUMBS,
        button="Save type",
        cancel_path=PATH,
    )


@router.post(EDIT_ONE, needs=ADMIN)
@shows_errors_in(show_feature_type)
def update_feature_type(conn: Connection, identity: Identity, feature_type: str, form: Form) -> str:
    feature_types.update(conn, feature_type, read(form, Lifetime), identity)
    return f"{PATH}?done=saved"
