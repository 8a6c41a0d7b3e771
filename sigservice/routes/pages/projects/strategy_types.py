"""Custom strategy types, pages: create, edit, deprecate, delete."""

import msgspec

from sigservice.routes.pages.projects.types import BREADCRUMBS, PATH
from sigservice.services.identity import EDIT, Identity
from sigservice.services.projects import strategy_types
from sigservice.services.projects.strategy_types import (
    MAX_PARAMETERS,
    PARAMETER_TYPES,
    NewStrategyType,
    StrategyTypeChanges,
)
from sigservice.web import Connection, Context, Page, PageGuard, Router
from sigservice.web.form_pages import Confirmation, confirms, make_form_page, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, make_choices, read, to_form
from sigservice.web.growing_forms import GROWING_FORM, make_section

STRATEGIES = f"{PATH}/strategies"
ONE = f"{STRATEGIES}/<strategy_type>"
FIELDS = [
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
HINT = "What a strategy of this type configures; SDKs get the values as text."

router = Router(PageGuard)


@router.get(f"{STRATEGIES}/new", needs=EDIT)
@router.get(f"{ONE}/edit", needs=EDIT)
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
        fill(FIELDS[1:] if strategy_type else FIELDS, texts),
        title=f"Strategy type {strategy_type}" if strategy_type else "New strategy type",
        breadcrumbs=BREADCRUMBS,
        sections=[
            make_section(
                texts,
                "parameters",
                "Parameters",
                "parameter",
                HINT,
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


@router.post(f"{ONE}/edit", needs=EDIT, **GROWING_FORM)
@shows_errors_in(show_strategy_type)
def update_strategy_type(
    conn: Connection, identity: Identity, strategy_type: str, form: Form
) -> str:
    strategy_types.update(conn, strategy_type, read(form, StrategyTypeChanges), identity)
    return f"{PATH}?done=saved"


@router.post(f"{ONE}/<is_active:switch>", needs=EDIT)
def deprecate_strategy_type(
    conn: Connection, identity: Identity, strategy_type: str, is_active: bool, form: Form
) -> str:
    strategy_types.deprecate(conn, strategy_type, not is_active, identity)
    done = "reactivated" if is_active else "deprecated"
    return f"{PATH}?done={done}"


@confirms(router, f"{ONE}/delete", needs=EDIT)
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
