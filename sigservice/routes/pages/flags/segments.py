"""Segments, pages: list with where they are used, new, edit, delete."""

from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import AppError, ConflictError
from sigservice.repository.flags import segments as repository
from sigservice.repository.projects import context_fields, projects
from sigservice.routes.pages.flags import constraint_fields
from sigservice.services.flags import segments, strategy_summaries
from sigservice.services.flags.segments import Segment
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import respond
from sigservice.web.forms import Field, Form
from sigservice.web.growing_forms import GROWING_FORM, change_rows
from sigservice.web.guards import PageGuard
from sigservice.web.links import flag_path
from sigservice.web.router import Router

SEGMENTS = "/admin/segments"
NOTICES = {
    "created": "Segment created. Strategies can use it now.",
    "saved": "Segment saved.",
    "deleted": "Segment deleted.",
}
BLANK = {"name": "", "description": "", "project": "", "constraints": [constraint_fields.BLANK]}

router = Router(PageGuard)


@router.get(SEGMENTS, needs=VIEW)
def list_segments(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.transaction() as conn:
        rows = repository.list_all(conn)
    return respond.page(
        context,
        "flags/segments/list",
        identity,
        title="Segments",
        segments=[
            row | {"summary": strategy_summaries.summarize_segment(segments.to_json(row))}
            for row in rows
        ],
        flag_path=flag_path,
        notice=respond.find_notice(NOTICES),
    )


def _render_form(
    context: Context,
    identity: Identity,
    values: dict[str, Any],
    heading: str,
    error: AppError | None = None,
) -> HTTPResponse:
    with context.database.transaction() as conn:
        context_rows = context_fields.list_all(conn)
        choices = [(row["id"], row["name"]) for row in projects.list_names(conn)]
    if error:
        error.details = constraint_fields.to_form_problems(error.details)
    description, project = values["description"], values["project"]
    fields = [
        Field("name", "Name", values["name"], hint="e.g. beta testers", is_required=True),
        Field("description", "Description", description, "textarea", "Optional. Who it covers."),
        Field("project", "Project", project, "select", choices=[("", "All projects"), *choices]),
    ]
    return respond.page(
        context,
        "flags/segments/form",
        identity,
        form_error=error,
        title=heading,
        heading=heading,
        action=context.prefix + request.environ["PATH_INFO"],
        fields=fields,
        constraints=constraint_fields.make_section(
            values["constraints"], context_rows, "Users match if all constraints match (AND)."
        ),
        context_fields=context_rows,
    )


@router.get(f"{SEGMENTS}/new", needs=EDIT)
def show_new_segment(context: Context, identity: Identity) -> HTTPResponse:
    return _render_form(context, identity, BLANK, "New segment")


@router.post(f"{SEGMENTS}/new", needs=EDIT, **GROWING_FORM)
def create_segment(context: Context, identity: Identity, form: Form) -> HTTPResponse:
    return _submit(context, identity, form, "New segment")


@router.get(f"{SEGMENTS}/<segment_id:id>", needs=EDIT)
def show_segment(context: Context, identity: Identity, segment_id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        segment = segments.to_json(segments.get(conn, segment_id))
    values = {name: segment[name] or "" for name in ("name", "description", "project")}
    values["constraints"] = constraint_fields.to_rows(segment["constraints"])
    return _render_form(context, identity, values, f"Segment {segment['name']}")


@router.post(f"{SEGMENTS}/<segment_id:id>", needs=EDIT, **GROWING_FORM)
def save_segment(context: Context, identity: Identity, segment_id: int, form: Form) -> HTTPResponse:
    with context.database.transaction() as conn:
        heading = f"Segment {segments.get(conn, segment_id)['name']}"
    return _submit(context, identity, form, heading, segment_id)


def _submit(
    context: Context, identity: Identity, form: Form, heading: str, segment_id: int | None = None
) -> HTTPResponse:
    """Creates a segment, or saves the one with this ID."""
    values = _read_values(form)
    if form.get("do"):
        return _render_form(context, identity, values, heading)
    limit, project = context.config["segmentValuesLimit"], values["project"] or None
    constraints = constraint_fields.to_constraints(values["constraints"])
    fields = Segment(values["name"], constraints, values["description"], project)
    try:
        with context.database.transaction() as conn:
            if segment_id is None:
                segments.create(conn, fields, identity, max_values=limit)
            else:
                segments.update(conn, segment_id, fields, identity, max_values=limit)
    except AppError as error:
        if error.status not in (400, 409):
            raise
        return _render_form(context, identity, values, heading, error)
    return respond.redirect(context, f"{SEGMENTS}?done={'saved' if segment_id else 'created'}")


def _render_deletion(
    context: Context, identity: Identity, segment_id: int, error: ConflictError | None = None
) -> HTTPResponse:
    with context.database.transaction() as conn:
        segment = segments.get(conn, segment_id)
        users = repository.list_strategies(conn, segment_id)
    return respond.page(
        context,
        "flags/segments/delete",
        identity,
        form_error=error,
        problems=[{"message": error.message}] if error else [],
        title=f"Delete segment {segment['name']}?",
        segment=segment,
        users=users,
        flag_path=flag_path,
    )


@router.get(f"{SEGMENTS}/<segment_id:id>/delete", needs=EDIT)
def confirm_segment_deletion(context: Context, identity: Identity, segment_id: int) -> HTTPResponse:
    return _render_deletion(context, identity, segment_id)


@router.post(f"{SEGMENTS}/<segment_id:id>/delete", needs=EDIT)
def delete_segment(
    context: Context, identity: Identity, segment_id: int, form: Form
) -> HTTPResponse:
    try:
        with context.database.transaction() as conn:
            segments.delete(conn, segment_id, identity)
    except ConflictError as error:
        return _render_deletion(context, identity, segment_id, error)
    return respond.redirect(context, f"{SEGMENTS}?done=deleted")


def _read_values(form: Form) -> dict[str, Any]:
    names = ("name", "description", "project")
    values = {name: form.get(name, "").replace("\r\n", "\n").strip() for name in names}
    rows, button = constraint_fields.read_rows(form), form.get("do", "")
    rows = change_rows(rows, "constraints", constraint_fields.BLANK, button)
    return values | {"constraints": rows}
