"""Pages of types: the list of all, and the forms of flag types, strategy types and tag types."""

from operator import itemgetter

import msgspec

from sigservice.repository.projects import feature_types as feature_type_rows
from sigservice.repository.projects import strategy_types as strategy_type_rows
from sigservice.repository.projects import tag_types as tag_type_rows
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.projects import feature_types, strategy_types, tag_types
from sigservice.services.projects.feature_types import Lifetime
from sigservice.services.projects.strategy_types import (
    MAX_PARAMETERS,
    PARAMETER_TYPES,
    NewStrategyType,
    StrategyTypeChanges,
)
from sigservice.services.projects.tag_types import TagType, TagTypeChanges
from sigservice.web import Connection, Context, Page, PageGuard, Router, Row
from sigservice.web.form_pages import Confirmation, confirms, make_form_page, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, make_choices, read, to_form
from sigservice.web.growing_forms import GROWING_FORM, make_section
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
LIFETIME_HINT = "Older flags of this type are past their expected lifetime. Empty: they never are."
FLAG_TYPE_FIELDS = [
    Field("lifetimeDays", "Expected lifetime in days", type="number", hint=LIFETIME_HINT)
]
STRATEGIES = f"{PATH}/strategies"
STRATEGY_TYPE = f"{STRATEGIES}/<strategy_type>"
STRATEGY_FIELDS = [
    Field("name", "Name", hint="As SDKs know it. Letters, numbers, - . _ ~"),
    Field("title", "Title", hint="Optional. Shown on pages."),
    Field("description", "Description"),
]
PARAMETER_FIELDS = [
    Field("name", "Name"),
    Field("type", "Type", type="select", choices=make_choices(PARAMETER_TYPES)),
    Field("description", "Description"),
    Field("required", "Required", type="checkbox"),
]
PARAMETERS_HINT = "What a strategy of this type configures; SDKs get the values as text."
TAGS = f"{PATH}/tags"
TAG_TYPE = f"{TAGS}/<tag_type>"
TAG_FIELDS = [
    Field("name", "Name", hint="2 to 50 letters, numbers, - . _ ~"),
    Field("description", "Description"),
    Field("icon", "Icon", hint="Optional: a letter or two."),
    Field("color", "Color", hint="Optional, such as #1f5fbf."),
]

router = Router(PageGuard, notices=NOTICES)


@router.get(PATH, needs=VIEW)
def list_types(conn: Connection, identity: Identity) -> Page:
    can_edit = identity.has_permission(EDIT)
    tables = [
        make_table(
            "flag-types",
            FLAG_COLUMNS,
            feature_type_rows.list_all(conn),
            (lambda row: [("Edit flag type", f"{PATH}/flags/{row['id']}/edit")])
            if identity.has_permission(ADMIN)
            else None,
            itemgetter("id"),
            title="Flag types",
            hint="A flag that is older than this is past its expected lifetime.",
        ),
        make_table(
            "strategy-types",
            EDIT_STRATEGY_COLUMNS if can_edit else STRATEGY_COLUMNS,
            strategy_type_rows.list_all(conn),
            _make_strategy_type_links if can_edit else None,
            itemgetter("name"),
            title="Strategy types",
            new=("New strategy type", f"{PATH}/strategies/new") if can_edit else None,
        ),
        make_table(
            "tag-types",
            TAG_COLUMNS,
            tag_type_rows.list_all(conn),
            _make_tag_type_links if can_edit else None,
            itemgetter("name"),
            title="Tag types",
            new=("New tag type", f"{PATH}/tags/new") if can_edit else None,
        ),
    ]
    return make_list_page(tables, title="Types")


def _describe_lifetime(days: int | None) -> str:
    return plural(days, "day") if days else "permanent"


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


@router.get(f"{STRATEGIES}/new", needs=EDIT)
@router.get(f"{STRATEGY_TYPE}/edit", needs=EDIT)
def show_strategy_type(
    context: Context, identity: Identity, strategy_type: str = "", entry: Entry = NO_ENTRY
) -> Page:
    existing: Form = {}
    if strategy_type:
        with context.database.autocommit() as conn:
            row = strategy_types.get(conn, strategy_type)
        existing = to_form(row | {"parameters": msgspec.json.decode(row["parameters"])})
    texts = entry.form or existing
    return make_form_page(
        fill(STRATEGY_FIELDS[1:] if strategy_type else STRATEGY_FIELDS, texts),
        title=f"Strategy type {strategy_type}" if strategy_type else "New strategy type",
        breadcrumbs=BREADCRUMBS,
        sections=[
            make_section(
                texts,
                "parameters",
                "Parameters",
                "parameter",
                PARAMETERS_HINT,
                PARAMETER_FIELDS,
                max_rows=MAX_PARAMETERS,
            )
        ],
        button="Save type",
        cancel_path=PATH,
    )


@router.post(f"{STRATEGIES}/new", needs=EDIT, **GROWING_FORM)
@shows_errors_in(show_strategy_type)
def create_strategy_type(conn: Connection, identity: Identity, form: Form) -> str:
    strategy_types.create(conn, read(form, NewStrategyType), identity)
    return f"{PATH}?done=created"


@router.post(f"{STRATEGY_TYPE}/edit", needs=EDIT, **GROWING_FORM)
@shows_errors_in(show_strategy_type)
def update_strategy_type(
    conn: Connection, identity: Identity, strategy_type: str, form: Form
) -> str:
    strategy_types.update(conn, strategy_type, read(form, StrategyTypeChanges), identity)
    return f"{PATH}?done=saved"


@router.post(f"{STRATEGY_TYPE}/<is_active:switch>", needs=EDIT)
def deprecate_strategy_type(
    conn: Connection, identity: Identity, strategy_type: str, is_active: bool, form: Form
) -> str:
    strategy_types.deprecate(conn, strategy_type, not is_active, identity)
    done = "reactivated" if is_active else "deprecated"
    return f"{PATH}?done={done}"


@confirms(router, f"{STRATEGY_TYPE}/delete", needs=EDIT)
def delete_strategy_type(conn: Connection, identity: Identity, strategy_type: str) -> Confirmation:
    strategy_types.get(conn, strategy_type)
    return Confirmation(
        f"Delete strategy type {strategy_type}?",
        ["Only a type that no strategy uses can be deleted. This can't be undone."],
        "Delete",
        PATH,
        lambda: strategy_types.delete(conn, strategy_type, identity),
        f"{PATH}?done=deleted",
        breadcrumbs=BREADCRUMBS,
    )


@router.get(f"{TAGS}/new", needs=EDIT)
@router.get(f"{TAG_TYPE}/edit", needs=EDIT)
def show_tag_type(
    context: Context, identity: Identity, tag_type: str = "", entry: Entry = NO_ENTRY
) -> Page:
    existing: Form = {}
    if tag_type:
        with context.database.autocommit() as conn:
            existing = to_form(tag_types.get(conn, tag_type))
    return make_form_page(
        fill(TAG_FIELDS[1:] if tag_type else TAG_FIELDS, entry.form or existing),
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


@router.post(f"{TAG_TYPE}/edit", needs=EDIT)
@shows_errors_in(show_tag_type)
def update_tag_type(conn: Connection, identity: Identity, tag_type: str, form: Form) -> str:
    tag_types.update(conn, tag_type, read(form, TagTypeChanges), identity)
    return f"{PATH}?done=saved"


@confirms(router, f"{TAG_TYPE}/delete", needs=EDIT)
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
