"""Tag types, pages: create, edit, delete."""

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.routes.pages.projects.types import BREADCRUMBS, PATH
from sigservice.services.identity import EDIT, Identity
from sigservice.services.projects import tag_types
from sigservice.services.projects.tag_types import TagType, TagTypeChanges
from sigservice.web import respond
from sigservice.web.forms import Field, Form
from sigservice.web.guards import PageGuard
from sigservice.web.helpers import join_path
from sigservice.web.router import Router

TAGS = f"{PATH}/tags"
ONE = f"{TAGS}/<tag_type>"
VALUES = ("name", "description", "icon", "color")

router = Router(PageGuard)


@router.get(f"{TAGS}/new", needs=EDIT)
def show_new_tag_type(context: Context, identity: Identity) -> HTTPResponse:
    return _render_form(context, identity, dict.fromkeys(VALUES, ""))


@router.post(f"{TAGS}/new", needs=EDIT)
def create_tag_type(context: Context, identity: Identity, form: Form) -> HTTPResponse:
    values = _read_values(form)
    try:
        with context.database.transaction() as conn:
            tag_types.create(conn, TagType(**values), identity)
    except AppError as error:
        return _render_form(context, identity, values, error=error)
    return respond.redirect(context, f"{PATH}?done=created")


@router.get(f"{ONE}/edit", needs=EDIT)
def show_tag_type(context: Context, identity: Identity, tag_type: str) -> HTTPResponse:
    with context.database.autocommit() as conn:
        row = tag_types.get(conn, tag_type)
    values = {key: row[key] or "" for key in VALUES}
    return _render_form(context, identity, values, tag_type)


@router.post(f"{ONE}/edit", needs=EDIT)
def update_tag_type(
    context: Context, identity: Identity, tag_type: str, form: Form
) -> HTTPResponse:
    values = _read_values(form) | {"name": tag_type}
    new = {key: values[key] for key in ("description", "icon", "color")}
    try:
        with context.database.transaction() as conn:
            tag_types.update(conn, tag_type, TagTypeChanges(**new), identity)
    except AppError as error:
        return _render_form(context, identity, values, tag_type, error=error)
    return respond.redirect(context, f"{PATH}?done=saved")


@router.get(f"{ONE}/delete", needs=EDIT)
def confirm_tag_type_deletion(context: Context, identity: Identity, tag_type: str) -> HTTPResponse:
    with context.database.autocommit() as conn:
        tag_types.get(conn, tag_type)
    return respond.page(
        context,
        "projects/types/delete",
        identity,
        title=f"Delete tag type {tag_type}?",
        breadcrumbs=BREADCRUMBS,
        action=join_path(TAGS, tag_type, "delete"),
        text="Its tags are removed from all flags. This can't be undone.",
        cancel_path=PATH,
    )


@router.post(f"{ONE}/delete", needs=EDIT)
def delete_tag_type(
    context: Context, identity: Identity, tag_type: str, form: Form
) -> HTTPResponse:
    with context.database.transaction() as conn:
        tag_types.delete(conn, tag_type, identity)
    return respond.redirect(context, f"{PATH}?done=deleted")


def _render_form(
    context: Context,
    identity: Identity,
    values: dict[str, str],
    name: str = "",
    error: AppError | None = None,
) -> HTTPResponse:
    """Of a new type without a `name`. Raises errors that the form can't show."""
    if error and error.status not in (400, 409):
        raise error
    fields = [
        Field("name", "Name", values["name"], hint="2 to 50 letters, numbers, - . _ ~"),
        Field("description", "Description", values["description"]),
        Field("icon", "Icon", values["icon"], hint="Optional: a letter or two."),
        Field("color", "Color", values["color"], hint="Optional, such as #1f5fbf."),
    ]
    return respond.page(
        context,
        "projects/types/form",
        identity,
        form_error=error,
        title=f"Tag type {name}" if name else "New tag type",
        breadcrumbs=BREADCRUMBS,
        action=context.prefix + (join_path(TAGS, name, "edit") if name else f"{TAGS}/new"),
        fields=fields[1:] if name else fields,
        parameters=None,
        cancel_path=PATH,
    )


def _read_values(form: Form) -> dict[str, str]:
    return {key: form.get(key, "").strip() for key in VALUES}
