"""Flags, pages: list with a switch for each environment, new, one flag, edit, clone."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.errors import AppError, BadDataError
from sigservice.repository.flags import features as repository
from sigservice.repository.flags.features import SORTS, FeatureFilter
from sigservice.repository.projects import environments, projects
from sigservice.routes.pages.flags import feature_fields, feature_table
from sigservice.routes.pages.flags.feature_page import (
    TABLE,
    find_feature,
    find_notice,
    find_undo,
    render_feature,
)
from sigservice.services.flags import feature_tags, feature_view, features
from sigservice.services.flags.feature_tags import Tag
from sigservice.services.flags.features import Metadata
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import respond
from sigservice.web.body import read_number, read_query
from sigservice.web.filter_chips import make_chips
from sigservice.web.forms import Form
from sigservice.web.growing_forms import split_lines
from sigservice.web.guards import PageGuard
from sigservice.web.links import flag_path
from sigservice.web.router import Router
from sigservice.wording import plural

PAGE_SIZE = 50
FLAG = "/admin/features/<name>"

router = Router(PageGuard)


@router.get("/admin/features", needs=VIEW)
def list_features(context: Context, identity: Identity) -> HTTPResponse:
    query = read_query(request.environ)
    filters = {name: query.get(name, "").strip() for name in feature_table.FILTERS}
    sort, is_descending = query.get("sort") or "name", query.get("order") == "desc"
    offset = read_number(query, "offset", 0, 0, 10**9) or 0
    filter = _to_filter(filters, offset, sort, is_descending, identity.user_id)
    with context.database.transaction() as conn:
        rows, total, offset = _find_page(conn, filter, identity.user_id)
        environment_names = environments.list_enabled_names(conn)
        confirming = projects.list_confirming(conn)
        fields = feature_fields.make_filter_fields(
            filters, projects.list_names(conn), repository.list_types(conn), environment_names
        )
    applied = {name: value for name, value in filters.items() if value}
    page = applied | ({"sort": sort, "order": query.get("order", "")} if "sort" in query else {})
    can_edit = identity.has_permission("EDIT")
    columns = feature_table.order_environments(rows)
    here = urlencode(page | ({"offset": offset} if offset else {}))
    return respond.page(
        context,
        "flags/features/list",
        identity,
        title="Flags",
        fields=fields,
        chips=make_chips(fields, page),
        environments=columns,
        heads=feature_table.make_heads(columns, sort, is_descending, page),
        features=[feature_table.make_row(row, columns, confirming, page) for row in rows],
        changes=feature_fields.make_bulk_fields(columns),
        count=_count(offset, len(rows), total),
        is_filtered=bool(applied),
        is_empty=not (rows or applied or offset),
        is_archive=filters["life"] == "archived",
        can_edit=can_edit,
        can_change=can_edit and filters["life"] != "archived",
        here=here,
        previous=urlencode(page | {"offset": max(0, offset - PAGE_SIZE)}) if offset else "",
        next=urlencode(page | {"offset": offset + PAGE_SIZE}) if offset + PAGE_SIZE < total else "",
        notice=find_notice(),
        undo=find_undo(TABLE, here),
    )


def _find_page(
    conn: Connection, filter: FeatureFilter, user_id: int
) -> tuple[list[dict[str, Any]], int, int]:
    """(flags, total, offset). The last page if the offset is past it, such as after all flags of
    the last page were archived."""
    rows, total = feature_view.search(conn, filter, user_id)
    if filter.offset and not rows:
        filter = replace(filter, offset=max(0, total - 1) // PAGE_SIZE * PAGE_SIZE)
        rows, total = feature_view.search(conn, filter, user_id)
    return rows, total, filter.offset


def _count(offset: int, rows: int, total: int) -> str:
    if total > rows:
        return f"{offset + 1:,}–{offset + rows:,} of {total:,} flags"
    return plural(total, "flag")


def _render_form(
    context: Context, identity: Identity, values: dict[str, str], error: AppError | None = None
) -> HTTPResponse:
    with context.database.transaction() as conn:
        fields = feature_fields.make_new_fields(
            values, projects.list_names(conn), repository.list_types(conn)
        )
    return respond.page(
        context, "flags/features/form", identity, form_error=error, title="New flag", fields=fields
    )


@router.get("/admin/features/new", needs=EDIT)
def show_new_feature(context: Context, identity: Identity) -> HTTPResponse:
    project = read_query(request.environ).get("project") or "default"
    return _render_form(context, identity, _read_values({"project": project, "type": "release"}))


@router.post("/admin/features/new", needs=EDIT)
def create_feature(context: Context, identity: Identity, form: Form) -> HTTPResponse:
    values = _read_values(form)
    try:
        with context.database.transaction() as conn:
            _create(conn, values, identity)
    except AppError as error:
        if error.status >= 500:
            raise
        return _render_form(context, identity, values, error)
    return respond.redirect(context, f"{flag_path(values['name'])}?done=created")


# The second address is for a flag with the name "new".
@router.get(FLAG, needs=VIEW)
@router.get(f"{FLAG}/flag", needs=VIEW)
def show_feature(context: Context, identity: Identity, name: str) -> HTTPResponse:
    return render_feature(context, identity, name, notice=find_notice())


@router.post(f"{FLAG}/edit", needs=EDIT)
def edit_feature(context: Context, identity: Identity, name: str, form: Form) -> HTTPResponse:
    metadata = Metadata(
        form.get("type", ""),
        form.get("description", "").replace("\r\n", "\n").strip() or None,
        "impression_data" in form,
        "stale" in form,
    )
    try:
        with context.database.transaction() as conn:
            features.update(conn, find_feature(conn, name)["project"], name, metadata, identity)
    except BadDataError as error:
        values = {"metadata": metadata}
        return render_feature(context, identity, name, values, error=error, form="Edit")
    return respond.redirect(context, f"{flag_path(name)}?done=saved")


@router.post(f"{FLAG}/clone", needs=EDIT)
def clone_feature(context: Context, identity: Identity, name: str, form: Form) -> HTTPResponse:
    clone = form.get("clone_name", "").strip()
    try:
        with context.database.transaction() as conn:
            project = find_feature(conn, name)["project"]
            features.clone(conn, project, name, clone, replace_group_id=True, by=identity)
    except AppError as error:
        if error.status not in (400, 409):
            raise
        error.details = [detail | {"path": "clone_name"} for detail in error.details]
        values = {"clone_name": clone}
        return render_feature(context, identity, name, values, error=error, form="Clone")
    return respond.redirect(context, f"{flag_path(clone)}?done=cloned")


def _to_filter(
    filters: dict[str, str], offset: int, sort: str, is_descending: bool, user_id: int
) -> FeatureFilter:
    """Raises BadDataError."""
    key, _, sort_environment = sort.partition(":")
    if key not in SORTS:
        raise BadDataError(f"sort must be one of {', '.join(SORTS)}.", path="sort")
    state, _, environment = filters["state"].partition(":")
    return FeatureFilter(
        archived=filters["life"] == "archived",
        stale=True if filters["life"] == "stale" else None,
        projects=[filters["project"]] if filters["project"] else None,
        types=[filters["type"]] if filters["type"] else None,
        tags=[filters["tag"]] if filters["tag"] else None,
        text=filters["query"] or None,
        environment=environment or None,
        enabled=state == "on",
        sort=key,
        sort_environment=sort_environment or None,
        descending=is_descending,
        favorites_of=user_id,
        limit=PAGE_SIZE,
        offset=offset,
    )


def _read_values(form: Form) -> dict[str, str]:
    names = ("name", "project", "type", "description", "tags", "impression_data")
    return {name: form.get(name, "").replace("\r\n", "\n").strip() for name in names}


def _create(conn: Connection, values: dict[str, str], by: Identity) -> None:
    """Raises AppError with all problems of the form."""
    tags, problems = _parse_tags(conn, values["tags"])
    metadata = Metadata(
        values["type"], values["description"] or None, bool(values["impression_data"])
    )
    try:
        features.create(conn, values["project"], values["name"], metadata, by)
    except AppError as error:
        error.details += problems
        raise
    if problems:
        raise BadDataError(problems[0]["message"], details=problems)
    if tags:
        feature_tags.change(conn, [values["name"]], by, add=tags)


def _parse_tags(conn: Connection, text: str) -> tuple[list[Tag], list[dict[str, Any]]]:
    """The tags of a text with one `type:value` per line, and their problems."""
    tags, problems = [], []
    for line in split_lines(text):
        type, colon, value = line.partition(":")
        tags.append(Tag(type.strip(), value.strip()))
        if not colon:
            message = f'"{line}" must be in the form type:value.'
            problems.append({"message": message, "path": "tags"})
    if not problems:
        try:
            feature_tags.check(conn, tags)
        except BadDataError as error:
            problems = [detail | {"path": "tags"} for detail in error.details]
    return tags, problems
