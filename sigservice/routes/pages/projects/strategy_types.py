"""Custom strategy types, pages: create, edit, deprecate, delete."""

from typing import Any

import msgspec
from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.routes.pages.projects.types import BREADCRUMBS, PATH
from sigservice.services.identity import EDIT, Identity
from sigservice.services.projects import strategy_types
from sigservice.services.projects.strategy_types import (
    MAX_PARAMETERS,
    PARAMETER_TYPES,
    NewStrategyType,
    StrategyTypeChanges,
)
from sigservice.web import respond
from sigservice.web.forms import Field, Form, make_choices
from sigservice.web.growing_forms import (
    GROWING_FORM,
    FieldRow,
    FormRow,
    GrowingSection,
    change_rows,
    find_rows,
)
from sigservice.web.guards import PageGuard
from sigservice.web.helpers import join_path
from sigservice.web.router import Router

STRATEGIES = f"{PATH}/strategies"
ONE = f"{STRATEGIES}/<strategy_type>"
BLANK: FormRow = {"name": "", "type": "string", "description": "", "required": False}

router = Router(PageGuard)


@router.get(f"{STRATEGIES}/new", needs=EDIT)
def show_new_strategy_type(context: Context, identity: Identity) -> HTTPResponse:
    return _render_form(context, identity, _read_values({}))


@router.post(f"{STRATEGIES}/new", needs=EDIT, **GROWING_FORM)
def create_strategy_type(context: Context, identity: Identity, form: Form) -> HTTPResponse:
    values = _read_values(form)
    if form.get("do"):
        return _render_form(context, identity, values)
    try:
        with context.database.transaction() as conn:
            strategy_types.create(conn, msgspec.convert(values, NewStrategyType), identity)
    except AppError as error:
        return _render_form(context, identity, values, error=error)
    return respond.redirect(context, f"{PATH}?done=created")


@router.get(f"{ONE}/edit", needs=EDIT)
def show_strategy_type(context: Context, identity: Identity, strategy_type: str) -> HTTPResponse:
    with context.database.autocommit() as conn:
        row = strategy_types.get(conn, strategy_type)
    parameters = [BLANK | item for item in msgspec.json.decode(row["parameters"])]
    values = {key: row[key] or "" for key in ("name", "title", "description")}
    return _render_form(context, identity, values | {"parameters": parameters}, strategy_type)


@router.post(f"{ONE}/edit", needs=EDIT, **GROWING_FORM)
def update_strategy_type(
    context: Context, identity: Identity, strategy_type: str, form: Form
) -> HTTPResponse:
    values = _read_values(form) | {"name": strategy_type}
    if form.get("do"):
        return _render_form(context, identity, values, strategy_type)
    try:
        with context.database.transaction() as conn:
            strategy_types.update(
                conn, strategy_type, msgspec.convert(values, StrategyTypeChanges), identity
            )
    except AppError as error:
        return _render_form(context, identity, values, strategy_type, error=error)
    return respond.redirect(context, f"{PATH}?done=saved")


@router.post(f"{ONE}/deprecate", needs=EDIT)
def deprecate_strategy_type(
    context: Context, identity: Identity, strategy_type: str, form: Form
) -> HTTPResponse:
    return _set_deprecated(context, identity, strategy_type, True)


@router.post(f"{ONE}/reactivate", needs=EDIT)
def reactivate_strategy_type(
    context: Context, identity: Identity, strategy_type: str, form: Form
) -> HTTPResponse:
    return _set_deprecated(context, identity, strategy_type, False)


@router.get(f"{ONE}/delete", needs=EDIT)
def confirm_strategy_type_deletion(
    context: Context, identity: Identity, strategy_type: str
) -> HTTPResponse:
    with context.database.autocommit() as conn:
        strategy_types.get(conn, strategy_type)
    return respond.page(
        context,
        "projects/types/delete",
        identity,
        title=f"Delete strategy type {strategy_type}?",
        breadcrumbs=BREADCRUMBS,
        action=join_path(STRATEGIES, strategy_type, "delete"),
        text="Only a type that no strategy uses can be deleted. This can't be undone.",
        cancel_path=PATH,
    )


@router.post(f"{ONE}/delete", needs=EDIT)
def delete_strategy_type(
    context: Context, identity: Identity, strategy_type: str, form: Form
) -> HTTPResponse:
    with context.database.transaction() as conn:
        strategy_types.delete(conn, strategy_type, identity)
    return respond.redirect(context, f"{PATH}?done=deleted")


def _set_deprecated(
    context: Context, identity: Identity, strategy_type: str, is_deprecated: bool
) -> HTTPResponse:
    with context.database.transaction() as conn:
        strategy_types.deprecate(conn, strategy_type, is_deprecated, identity)
    done = "deprecated" if is_deprecated else "reactivated"
    return respond.redirect(context, f"{PATH}?done={done}")


def _render_form(
    context: Context,
    identity: Identity,
    values: dict[str, Any],
    name: str = "",
    error: AppError | None = None,
) -> HTTPResponse:
    """Of a new type without a `name`. Raises errors that the form can't show."""
    if error and error.status not in (400, 409):
        raise error
    for detail in error.details if error else ():
        detail["path"] = detail.get("path", "").replace("[", ".").replace("]", "")
    fields = [
        Field("name", "Name", values["name"], hint="As SDKs know it. Letters, numbers, - . _ ~"),
        Field("title", "Title", values["title"], hint="Optional. Shown on pages."),
        Field("description", "Description", values["description"]),
    ]
    rows = [_make_row(f"parameters.{n}", row) for n, row in enumerate(values["parameters"])]
    hint = "What a strategy of this type configures; SDKs get the values as text."
    return respond.page(
        context,
        "projects/types/form",
        identity,
        form_error=error,
        title=f"Strategy type {name}" if name else "New strategy type",
        breadcrumbs=BREADCRUMBS,
        action=context.prefix
        + (join_path(STRATEGIES, name, "edit") if name else f"{STRATEGIES}/new"),
        fields=fields[1:] if name else fields,
        parameters=GrowingSection(
            "parameters", "Parameters", "parameter", hint, rows, max_rows=MAX_PARAMETERS
        ),
        cancel_path=PATH,
    )


def _make_row(at: str, row: FormRow) -> FieldRow:
    types = make_choices(PARAMETER_TYPES)
    return FieldRow(
        [
            Field(f"{at}.name", "Name", row["name"]),
            Field(f"{at}.type", "Type", row["type"], "select", choices=types),
            Field(f"{at}.description", "Description", row["description"]),
        ],
        [Field(f"{at}.required", "Required", row["required"], "checkbox")],
    )


def _read_values(form: Form) -> dict[str, Any]:
    rows: list[FormRow] = [
        {
            "name": form.get(f"{row}.name", "").strip(),
            "type": form.get(f"{row}.type", "string"),
            "description": form.get(f"{row}.description", "").strip(),
            "required": f"{row}.required" in form,
        }
        for row in find_rows(form, "parameters")
    ]
    rows = change_rows(rows, "parameters", BLANK, form.get("do", ""))
    return {
        **{key: form.get(key, "").strip() for key in ("name", "title", "description")},
        "parameters": rows,
    }
