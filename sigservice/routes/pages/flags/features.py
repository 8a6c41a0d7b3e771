"""Flags, pages: list with a switch for each environment, new, one flag, edit, clone."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.errors import AppError, BadDataError
from sigservice.repository.flags import features as repository
from sigservice.repository.flags.features import FeatureFilter
from sigservice.repository.projects import environments, projects
from sigservice.routes.pages.flags.feature_page import feature_page, find_feature, flag_path, said
from sigservice.services.flags import feature_tags, feature_view, features
from sigservice.services.flags.feature_tags import Tag
from sigservice.services.flags.features import Metadata
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import respond
from sigservice.web.body import read_number, read_query
from sigservice.web.growing_forms import split_lines
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

SHOWN = 50
FILTERS = ("query", "project", "type", "tag", "state", "life")
LIVES = (("", "in use"), ("stale", "stale"), ("archived", "archived"))
FLAG = "/admin/features/<name>"


router = Router(PageGuard)


@router.get("/admin/features", needs=VIEW)
def show_list(context: Context, identity: Identity) -> HTTPResponse:
    query = read_query(request.environ)
    asked = {name: query.get(name, "").strip() for name in FILTERS}
    offset = read_number(query, "offset", 0, 0, 10**9) or 0
    with context.database.transaction() as conn:
        found, total = feature_view.search(conn, _filter(asked, offset))
        choices = _choices(conn)
        places = environments.list_all(conn)
    kept = {name: value for name, value in asked.items() if value}
    states = [
        (f"{state}:{place['name']}", f"{state} in {place['name']}")
        for place in places
        if place["enabled"]
        for state in ("on", "off")
    ]
    return respond.page(
        context,
        "flags/features/list",
        identity,
        title="Flags",
        features=[
            row | {"path": flag_path(row["name"]), "seen": _moment(row["lastSeenAt"])}
            for row in found
        ],
        total=total,
        offset=offset,
        filters=asked,
        is_filtered=bool(kept),
        here=urlencode(kept | ({"offset": offset} if offset else {})),
        previous=urlencode(kept | {"offset": max(0, offset - SHOWN)}) if offset else "",
        next=urlencode(kept | {"offset": offset + SHOWN}) if total > offset + SHOWN else "",
        states=[("", "any"), *states],
        lives=LIVES,
        notice=said(query),
        **choices,
    )


def form_page(
    context: Context, identity: Identity, values: dict[str, Any], **more: Any
) -> HTTPResponse:
    with context.database.transaction() as conn:
        choices = _choices(conn)
    return respond.page(
        context,
        "flags/features/form",
        identity,
        values=values,
        **choices,
        **({"title": "New flag"} | more),
    )


@router.get("/admin/features/new", needs=EDIT)
def new(context: Context, identity: Identity) -> HTTPResponse:
    project = read_query(request.environ).get("project") or "default"
    return form_page(context, identity, _values({"project": project, "type": "release"}))


@router.post("/admin/features/new", needs=EDIT)
def create(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
    values = _values(form)
    try:
        with context.database.transaction() as conn:
            _create(conn, values, identity)
    except AppError as error:
        if error.status >= 500:
            raise
        return form_page(
            context,
            identity,
            values,
            status=error.status,
            problems=error.details,
            title="Problem: New flag",
        )
    return respond.redirect(context, f"{flag_path(values['name'])}?done=created")


# A flag may be called new; its page is at the second address.
@router.get(FLAG, needs=VIEW)
@router.get(f"{FLAG}/flag", needs=VIEW)
def show(context: Context, identity: Identity, name: str) -> HTTPResponse:
    return feature_page(context, identity, name, notice=said(read_query(request.environ)))


# The answer to a form with a problem is a page; loading its address again shows the flag.
@router.get(f"{FLAG}/edit", needs=EDIT)
@router.get(f"{FLAG}/clone", needs=EDIT)
def show_flag_again(context: Context, identity: Identity, name: str) -> HTTPResponse:
    return respond.redirect(context, flag_path(name))


@router.post(f"{FLAG}/edit", needs=EDIT)
def edit(context: Context, identity: Identity, name: str, form: dict[str, str]) -> HTTPResponse:
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
        return feature_page(
            context, identity, name, {"metadata": metadata}, error=error, what="Edit"
        )
    return respond.redirect(context, f"{flag_path(name)}?done=saved")


@router.post(f"{FLAG}/clone", needs=EDIT)
def clone(context: Context, identity: Identity, name: str, form: dict[str, str]) -> HTTPResponse:
    to = form.get("clone_name", "").strip()
    try:
        with context.database.transaction() as conn:
            project = find_feature(conn, name)["project"]
            features.clone(conn, project, name, to, replace_group_id=True, by=identity)
    except AppError as error:
        if error.status not in (400, 409):
            raise
        error.details = [d | {"path": "clone_name"} for d in error.details]
        return feature_page(context, identity, name, {"clone_name": to}, error=error, what="Clone")
    return respond.redirect(context, f"{flag_path(to)}?done=cloned")


def _filter(asked: dict[str, str], offset: int) -> FeatureFilter:
    state, _, environment = asked["state"].partition(":")
    return FeatureFilter(
        archived=asked["life"] == "archived",
        stale=True if asked["life"] == "stale" else None,
        projects=[asked["project"]] if asked["project"] else None,
        types=[asked["type"]] if asked["type"] else None,
        tags=[asked["tag"]] if asked["tag"] else None,
        text=asked["query"] or None,
        environment=environment or None,
        enabled=state == "on",
        limit=SHOWN,
        offset=offset,
    )


def _choices(conn: Connection) -> dict[str, Any]:
    return {"projects": projects.list_all(conn), "types": repository.list_types(conn)}


def _values(form: dict[str, str]) -> dict[str, str]:
    names = ("name", "project", "type", "description", "tags", "impression_data")
    return {name: form.get(name, "").replace("\r\n", "\n").strip() for name in names}


def _create(conn: Connection, values: dict[str, str], by: Identity) -> None:
    """Raises AppError that names everything which is wrong in the form."""
    tags, problems = _tags(conn, values["tags"])
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


def _tags(conn: Connection, text: str) -> tuple[list[Tag], list[dict[str, Any]]]:
    """The tags of a text with one `type:value` on each line, and what is wrong with them."""
    tags, problems = [], []
    for line in split_lines(text):
        type, colon, value = line.partition(":")
        tags.append(Tag(type.strip(), value.strip()))
        if not colon:
            problems.append({"message": f"{line} is not like type:value.", "path": "tags"})
    if not problems:
        try:
            feature_tags.check(conn, tags)
        except BadDataError as error:
            problems = [detail | {"path": "tags"} for detail in error.details]
    return tags, problems


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
