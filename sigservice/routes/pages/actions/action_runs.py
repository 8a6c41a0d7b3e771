"""Runs of an action set, pages: history, one run, undo, cancelling an auto-revert."""

from datetime import datetime
from typing import Any

import msgspec

from sigservice.db import Connection, Row
from sigservice.repository.actions import action_runs as action_run_rows
from sigservice.repository.actions import action_sets as set_rows
from sigservice.repository.system import link_targets
from sigservice.routes.pages.actions.action_sets import make_breadcrumbs
from sigservice.routes.pages.flag_questions import LEAVE, make_alert_field, name_alerts
from sigservice.services.actions import (
    action_runs,
    action_sets,
    action_summaries,
    held_flags,
    ignored_alerts,
)
from sigservice.services.actions.firing_alerts import DISABLE, IGNORE
from sigservice.services.actions.schedules import read_cause
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.problems import Problems
from sigservice.web import Context, Page, PageGuard, Router, read_query, request
from sigservice.web.form_pages import Body, Confirmation, confirms, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill
from sigservice.web.links import flag_path
from sigservice.web.paging import read_paging
from sigservice.web.timeline_marks import read_timelines
from sigservice.web.usage_charts import SHAPES, choose_period

RUNS = "/admin/projects/<project>/actions/<set_id:id>/runs"
RUN = f"{RUNS}/<run_id:id>"
PAGE_SIZE, MAX_CHANGES, MAX_PAYLOAD = 20, 100, 20_000
NOTICES = {
    "undo": "Reverting… See the newest run for the result.",
    "cancelled": "Auto-revert cancelled.",
    "watched": "The alert is no longer ignored.",
}
UNDO = "This reverts the changes below as you. Later manual changes are kept."
CAUSES = {
    "signal": "Triggered by a signal",
    "resolved": "Auto-revert: alert resolved",
    "timer": "Auto-revert: time elapsed",
    "undo": "Undo",
    "schedule": "Schedule",
}


router = Router(PageGuard, notices=NOTICES)


@router.get(RUNS, needs=VIEW)
def list_runs(conn: Connection, identity: Identity, project: str, set_id: int) -> Page:
    before = read_paging(read_query(request.environ)).before
    row = action_sets.get(conn, project, set_id)
    page = action_run_rows.list_of_set(conn, set_id, before=before, limit=PAGE_SIZE)
    last = page[-1]["id"] if page else 0
    has_older = action_run_rows.list_of_set(conn, set_id, before=last, limit=1)
    runs = _check_links(conn, [_make_view(run, identity) for run in page])
    return Page(
        "actions/action_runs/list",
        title=f"Runs of {row['name']} in {project}",
        breadcrumbs=make_breadcrumbs(project, row) if identity.has_permission(ADMIN) else [],
        project=project,
        row=row,
        runs=runs,
        older=f"before={last}" if has_older else "",
        newest="",
        at_newest=before is None,
    )


@router.get(RUN, needs=VIEW)
def show_run(
    context: Context,
    identity: Identity,
    project: str,
    set_id: int,
    run_id: int,
    entry: Entry = NO_ENTRY,
) -> Page:
    """The error says why a request came too late."""
    with context.database.transaction() as conn:
        run = action_runs.get(conn, project, set_id, run_id)
        row = set_rows.find(conn, project, set_id)
        (view,) = _check_links(conn, [_make_view(run, identity)])
        ignored_by = ignored_alerts.find_creator(conn, run)
        timelines = _read_timelines(conn, identity, run, view["targets"], context.clock.now())
    return Page(
        "actions/action_runs/show",
        title=f"Run {run_id} of {view['name']}",
        breadcrumbs=_make_breadcrumbs(identity, project, row),
        project=project,
        row=row,
        run=view,
        ignored_by=ignored_by,
        timelines=timelines,
        flag_path=flag_path,
        shapes=SHAPES,
        payload=_format_payload(run) if identity.has_permission(ADMIN) else "",
    )


@confirms(router, f"{RUN}/undo", needs=EDIT, has_form=True)
def undo_run(
    context: Context,
    conn: Connection,
    identity: Identity,
    project: str,
    set_id: int,
    run_id: int,
    form: Form,
) -> Confirmation:
    run = action_runs.get(conn, project, set_id, run_id)
    view, path = _make_view(run, identity), _make_path(project, set_id, run_id)
    body: Body = [action_runs.NOTHING_TO_UNDO]
    fields: list[Field] = []
    can_repeat = view["can_undo"] and action_runs.can_repeat(conn, run)
    if view["can_undo"]:
        body = [UNDO, [(item, "") for item in view["reverts"]]]
    if can_repeat:
        flags = [feature for feature, _ in view["targets"]]
        held_rows = held_flags.list_held_flags(conn, identity, limit=MAX_CHANGES, features=flags)
        rows = [row for row in held_rows if row["id"] == run_id] or [
            view | {"alert": "", "endpoint": "", "key": None}
        ]
        body = [*body, f"{name_alerts(rows)} still firing."]
        field = make_alert_field(identity, rows, "them" if flags[1:] else "it")
        fields = fill([field], {"alert": LEAVE} | form)
    choice = form.get("alert", "")

    def perform() -> None:  # in this order, as the job that evaluates signals locks runs first
        Problems().check_choice(choice, "alert", ["", LEAVE, IGNORE, DISABLE]).raise_if_any()
        if choice == LEAVE:
            return
        action_run_rows.lock(conn)
        if choice == IGNORE:
            ignored_alerts.ignore(conn, run, identity)
        action_runs.undo(conn, project, set_id, run_id, identity)
        if choice == DISABLE:
            action_sets.switch(conn, project, set_id, False, identity, context.clock.now())

    return Confirmation(
        f"Undo what “{view['name']}” did?",
        body,
        "Undo" if view["can_undo"] else "",
        path,
        perform,
        path if choice == LEAVE else f"{path}?done=undo",
        cancel="Cancel" if view["can_undo"] else "Back to the run",
        fields=fields,
        is_dangerous=False,
        breadcrumbs=_make_breadcrumbs(identity, project, set_rows.find(conn, project, set_id)),
        after_commit=context.signals_waiting.set,
    )


def _make_breadcrumbs(by: Identity, project: str, row: Row | None) -> list[tuple[str, str]]:
    """Of a run, whose set may be deleted. Only admins may open action sets."""
    crumbs = make_breadcrumbs(project, row) if by.has_permission(ADMIN) else []
    if row is None:
        return crumbs
    return [*crumbs, ("Runs", f"/admin/projects/{project}/actions/{row['id']}/runs")]


@router.post(f"{RUN}/watch-alert", needs=EDIT)
@shows_errors_in(show_run)
def stop_ignoring_alert(
    conn: Connection, identity: Identity, project: str, set_id: int, run_id: int, form: Form
) -> str:
    action_run_rows.lock(conn)
    run = action_runs.get(conn, project, set_id, run_id)
    ignored_alerts.stop_ignoring(conn, run, identity)
    return f"{_make_path(project, set_id, run_id)}?done=watched"


@router.post(f"{RUN}/cancel-restore", needs=EDIT)
@shows_errors_in(show_run)
def cancel_auto_revert(
    conn: Connection, identity: Identity, project: str, set_id: int, run_id: int, form: Form
) -> str:
    action_runs.cancel_auto_revert(conn, project, set_id, run_id, identity)
    return f"{_make_path(project, set_id, run_id)}?done=cancelled"


@router.get(f"{RUN}/cancel-restore", needs=EDIT)
@router.get(f"{RUN}/watch-alert", needs=EDIT)
def redirect_to_run(
    context: Context, identity: Identity, project: str, set_id: int, run_id: int
) -> str:
    """For a reload after a conflict."""
    return _make_path(project, set_id, run_id)


def _make_path(project: str, set_id: int, run_id: int) -> str:
    return f"/admin/projects/{project}/actions/{set_id}/runs/{run_id}"


def _read_timelines(
    conn: Connection, by: Identity, run: Row, targets: list[tuple[str, str]], now: datetime
) -> list[tuple[str, dict[str, Any]]]:
    """(flag, chart) of the first flag that the run changed, around the time of the run."""
    for feature, environment in targets[:1]:
        period = choose_period(run["created_at"], now)
        charts = read_timelines(conn, by, feature, period, now)
        return [(feature, chart) for chart in charts if chart["environment"] == environment]
    return []


def _make_view(run: Row, by: Identity) -> dict[str, Any]:
    """A run as the templates show it, with descriptions of its actions."""
    copy = msgspec.json.decode(run["action_set"])
    signal = msgspec.json.decode(run["signal"]) if run["signal"] else {}
    actions = [_make_action_view(item) for item in copy["actions"]]
    end = run["finished_at"]
    has_duration = end and run["state"] != "suppressed"
    seconds = (end - run["created_at"]).total_seconds() if has_duration else None
    changes = [change for item in copy["actions"] for change in item["changes"]]
    return run | {
        "name": copy["name"],
        "cause": CAUSES[read_cause(run)],
        "reason": action_runs.find_reason(run, by),
        "duration": f"{seconds * 1000:.0f} ms" if seconds is not None else "",
        "endpoint_id": signal.get("sourceId"),
        "actions": actions,
        "reverts": [action_summaries.describe_undo(change) for change in changes[:MAX_CHANGES]],
        "targets": [(change["feature"], change["environment"]) for change in changes],
        "can_undo": action_runs.can_undo(run),
    }


def _check_links(conn: Connection, views: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The views with `has_signal`, `existing_runs` and `existing_flags`: what they may link."""
    runs = {view[name] for view in views for name in ("reverts_run_id", "reverted_by_run_id")}
    targets = [("run", str(id)) for id in runs if id]
    targets += [("flag", feature) for view in views for feature, _ in view["targets"][:1]]
    targets += [
        ("signal", f"{view['endpoint_id']}/{view['signal_id']}")
        for view in views
        if view["endpoint_id"]
    ]
    existing = link_targets.list_existing(conn, targets)
    return [
        view
        | {
            "has_signal": ("signal", f"{view['endpoint_id']}/{view['signal_id']}") in existing,
            "existing_runs": [id for id in runs if ("run", str(id)) in existing],
            "existing_flags": [key for kind, key in existing if kind == "flag"],
        }
        for view in views
    ]


def _make_action_view(item: dict[str, Any]) -> dict[str, Any]:
    changes = [action_summaries.describe_change(change) for change in item["changes"]]
    return {
        "text": action_summaries.describe_action(item),
        "state": item["state"],
        "details": item["details"] or "",
        "changes": changes[:MAX_CHANGES],
        "more_changes": max(0, len(changes) - MAX_CHANGES),
    }


def _format_payload(run: Row) -> str:
    """The copy of the signal's payload."""
    if not run["signal"]:
        return ""
    raw = msgspec.json.decode(run["signal"], type=dict[str, msgspec.Raw])["payload"]
    return msgspec.json.format(bytes(raw).decode(), indent=2)[:MAX_PAYLOAD]
