"""Pages of context fields."""

from operator import itemgetter

from msgspec.structs import replace

from sigservice.repository.projects import context_fields as context_field_rows
from sigservice.services import revisions
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.projects import context_fields
from sigservice.services.projects.context_fields import ContextField, ContextFieldChanges
from sigservice.web import Connection, Context, Page, PageGuard, Router, Row
from sigservice.web.form_pages import Confirmation, confirms, make_form_page, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, read, split_lines, to_form
from sigservice.web.tables import Cell, Column, make_list_page, make_table
from sigservice.wording import plural

PATH = "/admin/context"
ONE = f"{PATH}/<field>"
NOTICES = {
    "created": "The context field was created.",
    "saved": "The context field was saved.",
    "deleted": "The context field was deleted.",
}
MAX_LISTED_VALUES = 10
FIELDS = [
    Field("name", "Name", hint="As SDKs send it. Letters, numbers, - . _ ~", is_required=True),
    Field("description", "Description"),
    Field("stickiness", "Allow as stickiness field", type="checkbox"),
    Field(
        "legalValues",
        "Legal values",
        type="textarea",
        hint="Optional. Suggested values, one per line.",
        attributes={"rows": 6},
    ),
]
COLUMNS = (
    Column(
        "Name",
        lambda row: Cell(row["name"], badges=["stickiness"] if row["stickiness"] else []),
    ),
    Column("Description", lambda row: Cell(row["description"] or "")),
    Column("Legal values", lambda row: Cell(row["values"])),
    Column("Used by", lambda row: Cell(plural(row["feature_count"], "flag"))),
)

router = Router(PageGuard, notices=NOTICES)


@router.get(PATH, needs=VIEW)
def list_context_fields(conn: Connection, identity: Identity) -> Page:
    rows = context_field_rows.list_with_uses(conn)
    can_edit = identity.has_permission(EDIT)
    return make_list_page(
        [
            make_table(
                "context-fields",
                COLUMNS,
                [row | {"values": _format_values(row)} for row in rows],
                _make_links if can_edit else None,
                itemgetter("name"),
            )
        ],
        title="Context fields",
        hint="Context fields available in constraints.",
        new=("New context field", f"{PATH}/new") if can_edit else None,
    )


def _make_links(row: Row) -> list[tuple[str, str]]:
    links = [("Edit", f"{PATH}/{row['name']}/edit")]
    return links if row["built_in"] else [*links, ("Delete", f"{PATH}/{row['name']}/delete")]


@router.get(f"{PATH}/new", needs=EDIT)
@router.get(f"{ONE}/edit", needs=EDIT)
def show_context_field(
    context: Context, identity: Identity, field: str = "", entry: Entry = NO_ENTRY
) -> Page:
    existing, deletion = {}, None
    if field:
        with context.database.autocommit() as conn:
            row = context_fields.get(conn, field)
        existing = to_form(row) | {"legalValues": "\n".join(_list_values(row))}
        if not row["built_in"]:
            deletion = ("Delete this context field", f"{PATH}/{field}/delete")
    return make_form_page(
        fill(FIELDS[1:] if field else FIELDS, entry.form or existing),
        title=f"Context field {field}" if field else "New context field",
        breadcrumbs=[("Context fields", PATH)],
        button="Save" if field else "Create context field",
        deletion=deletion,
    )


@router.post(f"{PATH}/new", needs=EDIT)
@shows_errors_in(show_context_field)
def create_context_field(conn: Connection, identity: Identity, form: Form) -> str:
    new = read(form, ContextField, legalValues=_read_legal_values(form))
    context_fields.create(conn, new, identity)
    return f"{PATH}?done=created"


@router.post(f"{ONE}/edit", needs=EDIT)
@shows_errors_in(show_context_field)
def update_context_field(conn: Connection, identity: Identity, field: str, form: Form) -> str:
    revisions.lock(conn)  # descriptions, which the form has no fields for, must not change
    row = context_fields.get(conn, field)
    existing = {legal.value: legal for legal in context_fields.parse_legal_values(row)}
    changes = read(form, ContextFieldChanges, legalValues=_read_legal_values(form))
    values = [existing.get(legal.value, legal) for legal in changes.legal_values or []]
    if form.get("legalValues", "").replace("\r\n", "\n") == "\n".join(existing):
        values = [*existing.values()]  # may have blanks and line breaks, which a text can't show
    context_fields.update(conn, field, replace(changes, legal_values=values), identity)
    return f"{PATH}?done=saved"


@confirms(router, f"{ONE}/delete", needs=EDIT)
def delete_context_field(conn: Connection, identity: Identity, field: str) -> Confirmation:
    row = context_fields.get(conn, field)
    flags = dict.fromkeys(row["feature"] for row in context_field_rows.list_strategies(conn, field))
    is_one = len(flags) == 1
    text = (
        f"{plural(len(flags), 'flag')} still {'uses' if is_one else 'use'} it; "
        f"{'its' if is_one else 'their'} constraints keep working:"
    )
    if row["built_in"]:
        text, flags = "Built-in context fields can't be deleted.", {}
    return Confirmation(
        f"Delete the context field {field}?",
        [text if flags or row["built_in"] else "No strategy uses it.", [(n, "") for n in flags]],
        "" if row["built_in"] else "Delete context field",
        PATH,
        lambda: context_fields.delete(conn, field, identity),
        f"{PATH}?done=deleted",
        breadcrumbs=[("Context fields", PATH)],
    )


def _read_legal_values(form: Form) -> list[dict[str, str]]:
    return [{"value": line} for line in split_lines(form.get("legalValues", ""))]


def _list_values(row: Row) -> list[str]:
    return [legal.value for legal in context_fields.parse_legal_values(row)]


def _format_values(row: Row) -> str:
    values = _list_values(row)
    return ", ".join(values[:MAX_LISTED_VALUES] + ["…"] * (len(values) > MAX_LISTED_VALUES))
