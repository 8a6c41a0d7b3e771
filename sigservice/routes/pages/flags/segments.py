"""Segments, pages: list with where they are used, new, edit, delete."""

from dataclasses import replace
from operator import itemgetter
from typing import Any

import msgspec

from sigservice.repository.flags import segments as segment_rows
from sigservice.repository.projects import context_fields, projects
from sigservice.routes.pages.flag_questions import add_reason, join_names, make_change_question
from sigservice.routes.pages.flags import constraint_fields
from sigservice.services import strategy_summaries
from sigservice.services.flags import segments
from sigservice.services.flags.segments import Segment
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.projects.project_settings import must_confirm
from sigservice.web import Connection, Context, Page, PageGuard, Router, Row
from sigservice.web.form_pages import (
    Confirmation,
    ask_first,
    confirms,
    make_form_page,
    shows_errors_in,
)
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, read, to_form
from sigservice.web.growing_forms import GROWING_FORM
from sigservice.web.helpers import join_path
from sigservice.web.links import flag_path
from sigservice.web.resource_limits import explain_limit, make_limit_page
from sigservice.web.tables import Cell, Column, make_list_page, make_table

SEGMENTS = "/admin/segments"
ONE = f"{SEGMENTS}/<segment_id:id>"
NOTICES = {
    "created": "Segment created. Strategies can use it now.",
    "saved": "Segment saved.",
    "deleted": "Segment deleted.",
}
FIELDS = [
    Field("name", "Name", hint="e.g. beta testers", is_required=True),
    Field("description", "Description", type="textarea", hint="Optional. Who it covers."),
]
COLUMNS = (
    Column("Name", lambda row: Cell(row["name"], row["path"], hint=row["description"] or "")),
    Column("Users", lambda row: Cell(row["summary"])),
    Column("Project", lambda row: Cell(row["project"] or "all")),
    Column("Used by", lambda _: Cell(template="flags/segments/flags_cell.tpl")),
)

router = Router(PageGuard, notices=NOTICES)


@router.get(SEGMENTS, needs=VIEW)
def list_segments(context: Context, identity: Identity) -> Page:
    with context.database.transaction() as conn:
        rows = segment_rows.list_all(conn)
    can_edit = identity.has_permission(EDIT)
    table = make_table(
        "segments",
        COLUMNS,
        [
            row
            | {
                "summary": strategy_summaries.summarize_segment(segments.to_json(row)),
                "path": f"{SEGMENTS}/{row['id']}" if can_edit else "",
                "flags": [(name, flag_path(name)) for name in row["first_features"]],
            }
            for row in rows
        ],
        _make_links if can_edit else None,
        itemgetter("name"),
        empty="No segments yet. A segment is a reusable set of constraints, e.g. beta testers.",
    )
    return make_list_page(
        [table],
        title="Segments",
        hint="Reusable sets of constraints. Changes apply immediately to every strategy that uses"
        " them.",
        new=("New segment", f"{SEGMENTS}/new") if can_edit else None,
    )


def _make_links(row: Row) -> list[tuple[str, str]]:
    return [("Edit", row["path"]), ("Delete", f"{row['path']}/delete")]


@router.get(f"{SEGMENTS}/new", needs=EDIT)
@router.get(ONE, needs=EDIT)
def show_segment(
    conn: Connection, identity: Identity, segment_id: int | None = None, entry: Entry = NO_ENTRY
) -> Page:
    texts = {"constraints.0.operator": "IN"}
    if segment_id is not None:
        segment = segments.to_json(segments.get(conn, segment_id))
        constraints = segment.pop("constraints")
        texts = to_form(segment) | constraint_fields.make_form(constraints)
    elif not entry.form and segment_rows.count(conn) >= segments.MAX_SEGMENTS:
        text = explain_limit("segment", segments.MAX_SEGMENTS)
        return make_limit_page("New segment", text, ("Segments", SEGMENTS))
    context_rows = context_fields.list_all(conn)
    projects_field = Field(
        "project",
        "Project",
        type="select",
        choices=[
            ("", "All projects"),
            *((row["id"], row["name"]) for row in projects.list_names(conn)),
        ],
    )
    return make_form_page(
        fill([*FIELDS, projects_field], entry.form or texts),
        title=f"Segment {texts['name']}" if segment_id is not None else "New segment",
        breadcrumbs=[("Segments", SEGMENTS)],
        sections=[
            constraint_fields.make_constraint_section(
                entry.form or texts, context_rows, "Users match if all constraints match (AND)."
            )
        ],
        button="Save segment",
        cancel_path=SEGMENTS,
    )


@router.post(f"{SEGMENTS}/new", needs=EDIT, **GROWING_FORM)
@router.post(ONE, needs=EDIT, **GROWING_FORM)
@shows_errors_in(show_segment)
def save_segment(
    context: Context, identity: Identity, form: Form, segment_id: int | None = None
) -> str:
    limit = context.config["segmentValuesLimit"]
    with context.database.transaction() as conn:
        before = {} if segment_id is None else segments.to_json(segments.get(conn, segment_id))
        existing = before.get("constraints", [])
        constraints = constraint_fields.read_constraints(form, existing)
        new = read(form, Segment, constraints=constraints)
        if segment_id is None:
            segments.create(conn, new, identity, max_values=limit)
        else:
            _ask_about_segment(conn, form, before, new)
            segments.update(conn, segment_id, new, add_reason(identity, form), max_values=limit)
    done = "created" if segment_id is None else "saved"
    return f"{SEGMENTS}?done={done}"


def _ask_about_segment(conn: Connection, form: Form, before: dict[str, Any], new: Segment) -> None:
    """Asks before it changes who gets flags that are on in production. Raises Question."""
    after = {"constraints": msgspec.to_builtins(new.constraints)}
    texts = [strategy_summaries.summarize_segment(one) for one in (before, after)]
    users = segment_rows.list_strategies(conn, before["id"])
    places: dict[str, set[str]] = {}
    for row in users:
        places.setdefault(row["environment"], set()).add(row["project"])
    asking = [name for name, ids in places.items() if must_confirm(conn, name, [*ids])]
    flags = sorted({row["feature"] for row in users if row["environment"] in asking})
    if flags and texts[0] != texts[1]:
        changes = [("del", texts[0]), ("ins", texts[1])]
        question = make_change_question(
            join_names(flags), join_names(asking), f"{before['name']} is their segment.", changes
        )
        ask_first(
            form, replace(question, cancel_path=SEGMENTS, breadcrumbs=[("Segments", SEGMENTS)])
        )


@confirms(router, f"{ONE}/delete", needs=EDIT)
def delete_segment(conn: Connection, identity: Identity, segment_id: int) -> Confirmation:
    segment = segments.get(conn, segment_id)
    users = [
        (f"{row['feature']} in {row['environment']}", flag_path(row["feature"]))
        for row in segment_rows.list_strategies(conn, segment_id)
    ]
    for row in segment_rows.list_default_strategies(conn, segment_id):
        place = (row["project"], "environments", row["environment"], "default-strategy")
        label = f"default strategy of {row['project']} in {row['environment']}"
        users.append((label, join_path("/admin/projects", *place)))
    text = "No flag uses this segment. This can't be undone."
    if users:
        text = "Can't delete: these strategies use it. Remove it from them first."
    return Confirmation(
        f"Delete segment {segment['name']}?",
        [text, users],
        "" if users else "Delete segment",
        SEGMENTS,
        lambda: segments.delete(conn, segment_id, identity),
        f"{SEGMENTS}?done=deleted",
        cancel="Back to segments" if users else "Cancel",
        breadcrumbs=[("Segments", SEGMENTS)],
    )
