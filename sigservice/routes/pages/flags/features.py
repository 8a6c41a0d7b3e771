"""Flags, pages: list with a switch for each environment, new, one flag, edit, clone."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from sigservice.errors import AppError, BadDataError
from sigservice.repository.flags import features as feature_rows
from sigservice.repository.flags.features import SORTS, FeatureFilter
from sigservice.repository.projects import projects, tags
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
from sigservice.services.flags import feature_tags, feature_view, features, removal
from sigservice.services.flags.feature_tags import Tag
from sigservice.services.flags.features import Metadata
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import Connection, Context, Page, PageGuard, Router, read_query, request
from sigservice.web.body import read_number
from sigservice.web.form_pages import make_form_page, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Form, fill, read, report_at, split_lines
from sigservice.web.links import flag_path, make_own_url
from sigservice.web.resource_limits import explain_limit, make_limit_page
from sigservice.wording import plural

PAGE_SIZE = 50
MAX_TAGS = 100  # in the menu that filters by one

router = Router(PageGuard)


@router.get("/admin/features", needs=VIEW)
def list_features(context: Context, identity: Identity, entry: Entry = NO_ENTRY) -> Page:
    """`entry` is a change of several flags; its `back` is the query of the list."""
    place = {"QUERY_STRING": entry.form.get("back", "")} if entry.form else {}
    query = read_query(request.environ | place)
    filters = {name: query.get(name, "").strip() for name in feature_table.FILTERS}
    sort, is_descending = query.get("sort") or "name", query.get("order") == "desc"
    offset = read_number(query, "offset", 0, 0, 10**9) or 0
    page = {name: value for name, value in filters.items() if value}
    page |= {name: query[name] for name in ("sort", "order", "cols") if query.get(name)}
    is_archive, is_removal = filters["life"] == "archived", filters["state"] == "remove"
    url = make_own_url(context, request.environ) + "/admin/features"
    days, user_id = context.config["staleFlagDays"], identity.user_id
    with context.database.transaction() as conn:
        causes = feature_table.read_causes(conn)
        removable = removal.list_names(conn, days, filters["project"] or None)
        names = feature_table.list_names_by_state(
            conn, causes, removable, filters["project"], user_id
        )
        filter = _to_filter(filters, names, offset, sort, is_descending, user_id)
        rows, total, offset = _find_page(conn, filter, user_id)
        environments = feature_table.order_environments(rows)
        titles = {row["id"]: row["name"] for row in projects.list_names(conn)}
        page_names = [row["name"] for row in rows] if is_removal else []
        removals = removal.list_removals(conn, days, context.clock.now(), page_names, url)
        if is_removal:  # the reason may just have gone
            rows = [row for row in rows if row["name"] in removals]
        features = feature_table.make_rows(conn, rows, environments, causes, removals, titles)
        types = {row["id"]: row["name"] for row in feature_rows.list_types(conn)}
        tag_rows = tags.list_all(conn)[:MAX_TAGS]
    columns, column_links = feature_table.make_columns(page)
    here = urlencode(page | ({"offset": offset} if offset else {}))
    active = feature_table.make_active_filters(page, types)
    tag_texts = [f"{row['type']}:{row['value']}" for row in tag_rows]
    choices = {"Type": types, "Tag": {text: text for text in tag_texts}}
    menus = [
        (label, [(text, urlencode({**page, label.lower(): id})) for id, text in items.items()])
        for label, items in choices.items()
        if items and not filters[label.lower()]
    ]
    return Page(
        "flags/features/list",
        title="Archived flags" if is_archive else "Flags",
        count=plural(total, "flag"),
        query=filters["query"],
        hidden={name: value for name, value in page.items() if name != "query"},
        filters=feature_table.make_filters(names, page),
        menus=[*menus, ("Columns", column_links)],
        archive=urlencode(page | {"life": "archived"}),
        active=active,
        environments=environments,
        columns=columns,
        heads=feature_table.make_heads(
            environments, columns, sort, is_descending, page, shows_reasons=is_removal
        ),
        features=features,
        is_empty=not (rows or active or offset),
        is_archive=is_archive,
        is_removal=is_removal,
        can_edit=identity.has_permission("EDIT"),
        entry_form=entry.form,
        tag_field=fill([feature_fields.BULK_TAG_FIELD], entry.form)[0],
        here=here,
        place=f"{offset + 1:,}–{offset + len(rows):,} of {total:,}" if total > len(rows) else "",
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
    filters: Mapping[str, str],
    names: Mapping[str, list[str]],
    offset: int,
    sort: str,
    is_descending: bool,
    user_id: int,
) -> FeatureFilter:
    """`names` are the flags of each state. Raises BadDataError."""
    key, _, sort_environment = sort.partition(":")
    if key not in SORTS:
        raise BadDataError(f"sort must be one of {', '.join(SORTS)}.", path="sort")
    return FeatureFilter(
        archived=filters["life"] == "archived",
        names=names.get(filters["state"], []) if filters["state"] else None,
        projects=[filters["project"]] if filters["project"] else None,
        types=[filters["type"]] if filters["type"] else None,
        tags=[filters["tag"]] if filters["tag"] else None,
        text=filters["query"] or None,
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
