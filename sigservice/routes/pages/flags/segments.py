"""Segments, pages: list with where they are used, new, edit, delete."""

from __future__ import annotations

from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import AppError, ConflictError
from sigservice.repository.flags import segments as repository
from sigservice.repository.projects import projects
from sigservice.routes.pages.flags import constraint_fields
from sigservice.routes.pages.flags.feature_page import flag_path
from sigservice.services.flags import segments, strategy_summaries
from sigservice.services.flags.segments import SegmentFields
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.growing_forms import GROWING_FORM, change_rows
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

SEGMENTS = "/admin/segments"
NOTICES = {
    "created": "The segment was created. Strategies can ask for it now.",
    "saved": "The segment was saved.",
    "deleted": "The segment was deleted.",
}


router = Router(PageGuard)


@router.get(SEGMENTS, needs=VIEW)
def show_list(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.transaction() as conn:
        rows = repository.list_all(conn)
    return respond.page(
        context,
        "flags/segments/list",
        identity,
        title="Segments",
        segments=[
            row | {"words": strategy_summaries.summarize_segment(segments.to_json(row))}
            for row in rows
        ],
        flag_path=flag_path,
        notice=NOTICES.get(read_query(request.environ).get("done", ""), ""),
    )


def form_page(
    context: Context,
    identity: Identity,
    values: dict[str, Any],
    *,
    title: str,
    error: AppError | None = None,
) -> HTTPResponse:
    with context.database.transaction() as conn:
        offered = constraint_fields.offered(conn)
        choices = [(row["id"], row["name"]) for row in projects.list_all(conn)]
    return respond.page(
        context,
        "flags/segments/form",
        identity,
        status=error.status if error else 200,
        title=f"Problem: {title}" if error else title,
        problems=constraint_fields.beside(error.details) if error else [],
        heading=title,
        action=context.prefix + request.environ["PATH_INFO"],
        values=values,
        constraints=values["constraints"],
        projects=[("", "all projects"), *choices],
        **offered,
    )


@router.get(f"{SEGMENTS}/new", needs=EDIT)
def new(context: Context, identity: Identity) -> HTTPResponse:
    values = {"name": "", "description": "", "project": ""}
    constraints = [dict(constraint_fields.BLANK)]
    return form_page(context, identity, values | {"constraints": constraints}, title="New segment")


@router.post(f"{SEGMENTS}/new", needs=EDIT, **GROWING_FORM)
def create(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
    values = _read(form)
    if form.get("do"):
        return form_page(context, identity, values, title="New segment")
    try:
        with context.database.transaction() as conn:
            segments.create(
                conn, _fields(values), identity, most_values=context.config["segmentValuesLimit"]
            )
    except AppError as error:
        if error.status >= 500:
            raise
        return form_page(context, identity, values, title="New segment", error=error)
    return respond.redirect(context, f"{SEGMENTS}?done=created")


@router.get(f"{SEGMENTS}/<segment_id:id>", needs=EDIT)
def edit(context: Context, identity: Identity, segment_id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        stored = segments.to_json(segments.get(conn, segment_id))
    values = {name: stored[name] or "" for name in ("name", "description", "project")}
    constraints = constraint_fields.show(stored["constraints"])
    return form_page(
        context, identity, values | {"constraints": constraints}, title=f"Segment {stored['name']}"
    )


@router.post(f"{SEGMENTS}/<segment_id:id>", needs=EDIT, **GROWING_FORM)
def save(
    context: Context, identity: Identity, segment_id: int, form: dict[str, str]
) -> HTTPResponse:
    with context.database.transaction() as conn:
        title = f"Segment {segments.get(conn, segment_id)['name']}"
    values = _read(form)
    if form.get("do"):
        return form_page(context, identity, values, title=title)
    try:
        with context.database.transaction() as conn:
            segments.update(
                conn,
                segment_id,
                _fields(values),
                identity,
                most_values=context.config["segmentValuesLimit"],
            )
    except AppError as error:
        if error.status not in (400, 409):
            raise
        return form_page(context, identity, values, title=title, error=error)
    return respond.redirect(context, f"{SEGMENTS}?done=saved")


def delete_page(
    context: Context, identity: Identity, segment_id: int, error: ConflictError | None = None
) -> HTTPResponse:
    with context.database.transaction() as conn:
        segment = segments.get(conn, segment_id)
        users = repository.list_users(conn, segment_id)
    title = f"Delete segment {segment['name']}?"
    return respond.page(
        context,
        "flags/segments/delete",
        identity,
        status=error.status if error else 200,
        title=f"Problem: {title}" if error else title,
        problems=[{"message": error.message}] if error else [],
        segment=segment,
        users=users,
        flag_path=flag_path,
    )


@router.get(f"{SEGMENTS}/<segment_id:id>/delete", needs=EDIT)
def confirm_delete(context: Context, identity: Identity, segment_id: int) -> HTTPResponse:
    return delete_page(context, identity, segment_id)


@router.post(f"{SEGMENTS}/<segment_id:id>/delete", needs=EDIT)
def delete(
    context: Context, identity: Identity, segment_id: int, form: dict[str, str]
) -> HTTPResponse:
    try:
        with context.database.transaction() as conn:
            segments.delete(conn, segment_id, identity)
    except ConflictError as error:
        return delete_page(context, identity, segment_id, error)
    return respond.redirect(context, f"{SEGMENTS}?done=deleted")


def _read(form: dict[str, str]) -> dict[str, Any]:
    names = ("name", "description", "project")
    rows = constraint_fields.read(form)
    return {name: form.get(name, "").replace("\r\n", "\n").strip() for name in names} | {
        "constraints": change_rows(rows, "constraints", constraint_fields.BLANK, form.get("do", ""))
    }


def _fields(values: dict[str, Any]) -> SegmentFields:
    return SegmentFields(
        values["name"],
        values["description"],
        values["project"] or None,
        constraint_fields.to_constraints(values["constraints"]),
    )
