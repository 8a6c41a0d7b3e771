"""Flags, pages: list with a switch for each environment, new, one flag, edit, clone."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from sigservice.errors import AppError, BadDataError
from sigservice.repository.flags import features as feature_rows
from sigservice.repository.flags.features import SORTS, FeatureFilter
from sigservice.repository.projects import environments, projects
from sigservice.routes.admin.flags.features import CloneBody, NewFeature
from sigservice.routes.pages.flags import feature_fields, feature_table
from sigservice.routes.pages.flags.feature_page import (
    FLAG,
    TABLE,
    find_feature,
    find_notice,
    find_undo,
    show_feature,
)
from sigservice.services.definitions import merge
from sigservice.services.flags import feature_tags, feature_view, features
from sigservice.services.flags.feature_tags import Tag
from sigservice.services.flags.features import Metadata
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import Connection, Context, Page, PageGuard, Router, read_query, request
from sigservice.web.body import read_number
from sigservice.web.form_pages import make_form_page, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Form, fill, read, report_at, split_lines
from sigservice.web.links import flag_path
from sigservice.web.list_filters import make_chips
from sigservice.web.resource_limits import explain_limit, make_limit_page
from sigservice.wording import plural

PAGE_SIZE = 30  # with long names and tags, 120 kB

router = Router(PageGuard)


@router.get("/admin/features", needs=VIEW)
def list_features(conn: Connection, identity: Identity, entry: Entry = NO_ENTRY) -> Page:
    """`entry` is a change of several flags; its `back` is the query of the list."""
    place = {"QUERY_STRING": entry.form.get("back", "")} if entry.form else {}
    query = read_query(request.environ | place)
    filters = {name: query.get(name, "").strip() for name in feature_table.FILTERS}
    sort, is_descending = query.get("sort") or "name", query.get("order") == "desc"
    offset = read_number(query, "offset", 0, 0, 10**9) or 0
    filter = _to_filter(filters, offset, sort, is_descending, identity.user_id)
    rows, total, offset = _find_page(conn, filter, identity.user_id)
    environment_names = environments.list_enabled_names(conn)
    reasons = feature_table.read_reasons(conn, identity, [row["name"] for row in rows])
    fields = feature_fields.make_filter_fields(
        filters, projects.list_names(conn), feature_rows.list_types(conn), environment_names
    )
    applied = {name: value for name, value in filters.items() if value}
    page = applied | ({"sort": sort, "order": query.get("order", "")} if "sort" in query else {})
    can_edit, is_archive = identity.has_permission("EDIT"), filters["life"] == "archived"
    columns = feature_table.order_environments(rows)
    here = urlencode(page | ({"offset": offset} if offset else {}))
    return Page(
        "flags/features/list",
        title="Archived flags" if is_archive else "Flags",
        fields=fields,
        sorting={name: page[name] for name in ("sort", "order") if name in page},
        chips=make_chips(fields, page),
        environments=columns,
        heads=feature_table.make_heads(columns, sort, is_descending, page),
        features=[feature_table.make_row(row, columns, page, reasons) for row in rows],
        changes=fill(feature_fields.make_bulk_fields(columns, is_archive=is_archive), entry.form),
        selected=entry.form,
        count=_count(offset, len(rows), total),
        is_empty=not (rows or applied or offset),
        is_archive=is_archive,
        can_edit=can_edit,
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


@router.get("/admin/features/new", needs=EDIT)
def show_new_feature(conn: Connection, identity: Identity, entry: Entry = NO_ENTRY) -> Page:
    project = read_query(request.environ).get("project") or "default"
    fields = feature_fields.make_new_fields(
        projects.list_names(conn), feature_rows.list_types(conn)
    )
    count = feature_rows.count(conn)
    if not entry.form and count >= features.MAX_FEATURES:
        text = explain_limit("flag", features.MAX_FEATURES)
        return make_limit_page("New flag", text, ("Flags", "/admin/features"))
    return make_form_page(
        fill(fields, entry.form or {"project": project, "type": "release"}),
        title="New flag",
        breadcrumbs=[("Flags", "/admin/features")],
        button="Create flag",
    )


@router.post("/admin/features/new", needs=EDIT)
@shows_errors_in(show_new_feature)
def create_feature(conn: Connection, identity: Identity, form: Form) -> str:
    body = read(form, NewFeature, tags=[])
    _create(conn, form.get("project", ""), body, form.get("tags", ""), identity)
    return f"{flag_path(body.name)}?done=created"


@router.post(f"{FLAG}/edit", needs=EDIT)
@shows_errors_in(show_feature)
def edit_feature(conn: Connection, identity: Identity, name: str, form: Form) -> str:
    metadata = read(form, Metadata)
    features.update(conn, find_feature(conn, name)["project"], name, metadata, identity)
    return f"{flag_path(name)}?done=saved"


@router.post(f"{FLAG}/clone", needs=EDIT)
@shows_errors_in(show_feature)
def clone_feature(context: Context, identity: Identity, name: str, form: Form) -> str:
    clone = read(form, CloneBody, replaceGroupId=True).name
    with report_at("name"), context.database.transaction() as conn:
        project = find_feature(conn, name)["project"]
        features.clone(conn, project, name, clone, replace_group_id=True, by=identity)
    return f"{flag_path(clone)}?done=cloned"


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
        stale={"stale": True, "expired": False}.get(filters["life"]),
        expired=filters["life"] == "expired",
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


def _create(conn: Connection, project: str, new: NewFeature, tags_text: str, by: Identity) -> None:
    """Raises AppError with all problems of the form."""
    tags, problems = _parse_tags(conn, tags_text)
    try:
        features.create(conn, project, new.name, merge(Metadata(), new), by)
    except AppError as error:
        error.details += problems
        raise
    if problems:
        raise BadDataError(problems[0]["message"], details=problems)
    if tags:
        feature_tags.change(conn, [new.name], by, add=tags)


def _parse_tags(conn: Connection, text: str) -> tuple[list[Tag], list[dict[str, Any]]]:
    """The tags of a text with one `type:value` per line, and their problems."""
    tags, problems = [], []
    for line in split_lines(text):
        try:
            tags.append(feature_fields.parse_tag(line))
        except BadDataError as error:
            problems.append({"message": error.message, "path": "tags"})
    if not problems:
        try:
            feature_tags.check(conn, tags)
        except BadDataError as error:
            problems = [detail | {"path": "tags"} for detail in error.details]
    return tags, problems
