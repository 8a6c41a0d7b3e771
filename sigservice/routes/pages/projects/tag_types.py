"""Tag types, pages: create, edit, delete."""

from sigservice.routes.pages.projects.types import BREADCRUMBS, PATH
from sigservice.services.identity import EDIT, Identity
from sigservice.services.projects import tag_types
from sigservice.services.projects.tag_types import TagType, TagTypeChanges
from sigservice.web import Connection, Context, Page, PageGuard, Router
from sigservice.web.form_pages import Confirmation, confirms, make_form_page, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, read, to_form

TAGS = f"{PATH}/tags"
ONE = f"{TAGS}/<tag_type>"
FIELDS = [
    Field("name", "Name", hint="2 to 50 letters, numbers, - . _ ~"),
    Field("description", "Description"),
    Field("icon", "Icon", hint="Optional: a letter or two."),
    Field("color", "Color", hint="Optional, such as #1f5fbf."),
]

router = Router(PageGuard)


@router.get(f"{TAGS}/new", needs=EDIT)
@router.get(f"{ONE}/edit", needs=EDIT)
def show_tag_type(
    context: Context, identity: Identity, tag_type: str = "", entry: Entry = NO_ENTRY
) -> Page:
    existing: Form = {}
    if tag_type:
        with context.database.autocommit() as conn:
            existing = to_form(tag_types.get(conn, tag_type))
    return make_form_page(
        fill(FIELDS[1:] if tag_type else FIELDS, entry.form or existing),
        title=f"Tag type {tag_type}" if tag_type else "New tag type",
        breadcrumbs=BREADCRUMBS,
        button="Save type",
        cancel_path=PATH,
    )


@router.post(f"{TAGS}/new", needs=EDIT)
@shows_errors_in(show_tag_type)
def create_tag_type(conn: Connection, identity: Identity, form: Form) -> str:
    tag_types.create(conn, read(form, TagType), identity)
    return f"{PATH}?done=created"


@router.post(f"{ONE}/edit", needs=EDIT)
@shows_errors_in(show_tag_type)
def update_tag_type(conn: Connection, identity: Identity, tag_type: str, form: Form) -> str:
    tag_types.update(conn, tag_type, read(form, TagTypeChanges), identity)
    return f"{PATH}?done=saved"


@confirms(router, f"{ONE}/delete", needs=EDIT)
def delete_tag_type(conn: Connection, identity: Identity, tag_type: str) -> Confirmation:
    tag_types.get(conn, tag_type)
    return Confirmation(
        f"Delete tag type {tag_type}?",
        ["Its tags are removed from all flags. This can't be undone."],
        "Delete",
        PATH,
        lambda: tag_types.delete(conn, tag_type, identity),
        f"{PATH}?done=deleted",
        breadcrumbs=BREADCRUMBS,
    )
