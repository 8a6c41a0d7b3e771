"""The page that lists the types of flags, strategies and tags, and the form of a flag type."""

from operator import itemgetter

from sigservice.repository.projects import feature_types as feature_type_rows
from sigservice.repository.projects import strategy_types, tag_types
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.projects import feature_types
from sigservice.services.projects.feature_types import Lifetime
from sigservice.web import Connection, Page, PageGuard, Router, Row
from sigservice.web.form_pages import make_form_page, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, read, to_form
from sigservice.web.tables import Cell, Column, make_list_page, make_table
from sigservice.wording import plural

PATH = "/admin/types"
BREADCRUMBS = [("Types", PATH)]
NOTICES = {
    "saved": "Type saved.",
    "created": "Type created.",
    "deleted": "Type deleted.",
    "deprecated": "Strategy type deprecated. Strategies of this type keep working.",
    "reactivated": "Strategy type reactivated.",
}
DESCRIPTION = Column("Description", lambda row: Cell(row["description"] or ""))
FLAG_COLUMNS = (
    Column("Name", lambda row: Cell(row["name"])),
    DESCRIPTION,
    Column("Lifetime", lambda row: Cell(_describe_lifetime(row["lifetime_days"]))),
)
STRATEGY_COLUMNS = (
    Column(
        "Title",
        lambda row: Cell(
            row["title"] or row["name"], badges=["deprecated"] if row["deprecated"] else []
        ),
    ),
    Column("Name", lambda row: Cell(row["name"])),
    DESCRIPTION,
)
EDIT_STRATEGY_COLUMNS = (
    *STRATEGY_COLUMNS,
    Column("State", lambda _: Cell(template="projects/types/deprecation_cell.tpl")),
)
TAG_COLUMNS = (Column("Name", lambda row: Cell(row["name"])), DESCRIPTION)

FLAG_TYPE = f"{PATH}/flags/<feature_type>/edit"
HINT = "Older flags of this type are past their expected lifetime. Empty: they never are."
FLAG_TYPE_FIELDS = [Field("lifetimeDays", "Expected lifetime in days", type="number", hint=HINT)]

router = Router(PageGuard, notices=NOTICES)


@router.get(PATH, needs=VIEW)
def list_types(conn: Connection, identity: Identity) -> Page:
    can_edit = identity.has_permission(EDIT)
    tables = [
        make_table(
            "flag-types",
            FLAG_COLUMNS,
            feature_type_rows.list_all(conn),
            _make_flag_type_links if identity.has_permission(ADMIN) else None,
            itemgetter("id"),
            title="Flag types",
            hint="A flag that is older than this is past its expected lifetime.",
        ),
        make_table(
            "strategy-types",
            EDIT_STRATEGY_COLUMNS if can_edit else STRATEGY_COLUMNS,
            strategy_types.list_all(conn),
            _make_strategy_type_links if can_edit else None,
            itemgetter("name"),
            title="Strategy types",
            new=("New strategy type", f"{PATH}/strategies/new") if can_edit else None,
        ),
        make_table(
            "tag-types",
            TAG_COLUMNS,
            tag_types.list_all(conn),
            _make_tag_type_links if can_edit else None,
            itemgetter("name"),
            title="Tag types",
            new=("New tag type", f"{PATH}/tags/new") if can_edit else None,
        ),
    ]
    return make_list_page(tables, title="Types")


def _describe_lifetime(days: int | None) -> str:
    return plural(days, "day") if days else "permanent"


def _make_flag_type_links(row: Row) -> list[tuple[str, str]]:
    return [("Edit flag type", f"{PATH}/flags/{row['id']}/edit")]


def _make_strategy_type_links(row: Row) -> list[tuple[str, str]]:
    path = f"{PATH}/strategies/{row['name']}"
    if row["built_in"]:
        return []
    return [("Edit strategy type", f"{path}/edit"), ("Delete strategy type", f"{path}/delete")]


def _make_tag_type_links(row: Row) -> list[tuple[str, str]]:
    path = f"{PATH}/tags/{row['name']}"
    links = [("Edit tag type", f"{path}/edit")]
    return links if row["name"] == "simple" else [*links, ("Delete tag type", f"{path}/delete")]


@router.get(FLAG_TYPE, needs=ADMIN, autocommit=True)
def show_feature_type(
    conn: Connection, identity: Identity, feature_type: str, entry: Entry = NO_ENTRY
) -> Page:
    row = feature_types.get(conn, feature_type)
    return make_form_page(
        fill(FLAG_TYPE_FIELDS, entry.form or to_form(feature_types.to_json(row))),
        title=f"Flag type {row['name']}",
        breadcrumbs=BREADCRUMBS,
        button="Save type",
        cancel_path=PATH,
    )


@router.post(FLAG_TYPE, needs=ADMIN)
@shows_errors_in(show_feature_type)
def update_feature_type(conn: Connection, identity: Identity, feature_type: str, form: Form) -> str:
    feature_types.update(conn, feature_type, read(form, Lifetime), identity)
    return f"{PATH}?done=saved"
