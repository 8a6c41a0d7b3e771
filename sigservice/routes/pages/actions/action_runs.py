"""What an automation did, pages: its runs, one run, undo, and to leave a change as it is."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from sigservice.db import Connection, Row
from sigservice.repository.actions import action_runs as action_run_rows
from sigservice.repository.actions import action_sets as set_rows
from sigservice.repository.signals import signal_endpoints
from sigservice.repository.system import link_targets
from sigservice.routes.pages.actions.action_sets import make_breadcrumbs
from sigservice.routes.pages.flag_questions import LEAVE, make_alert_field, name_alerts
from sigservice.routes.pages.release_alerts import find_alerts
from sigservice.services.actions import (
    action_runs,
    action_sets,
    action_summaries,
    held_flags,
    ignored_alerts,
)
from sigservice.services.actions.action_summaries import split_change
from sigservice.services.actions.automation_sentences import say_automation, say_changes
from sigservice.services.actions.firing_alerts import DISABLE, IGNORE
from sigservice.services.actions.schedules import read_cause
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.problems import Problems
from sigservice.web import Context, Page, PageGuard, Router, read_query, request
from sigservice.web.form_pages import Body, Confirmation, confirms, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill
from sigservice.web.links import flag_path
from sigservice.web.paging import read_paging
from sigservice.wording import plural

RUNS = "/admin/projects/<project>/actions/<set_id:id>/runs"
RUN = f"{RUNS}/<run_id:id>"
PAGE_SIZE, MAX_CHANGES, MAX_PAYLOAD = 20, 100, 20_000
NOTICES = {
    "undo": "It is taken back now.",
    "cancelled": "It stays as it is.",
    "watched": "The alert is no longer ignored.",
}
UNDO = "This reverts the changes below as you. Later manual changes are kept."
router = Router(PageGuard, notices=NOTICES)


@router.get(RUNS, needs=VIEW)
def list_runs(conn: Connection, identity: Identity, project: str, set_id: int) -> Page:
    before = read_paging(read_query(request.environ)).before
    row = action_sets.get(conn, project, set_id)
    page = action_run_rows.list_of_set(conn, set_id, before=before, limit=PAGE_SIZE)
    last = page[-1]["id"] if page else 0
    has_older = action_run_rows.list_of_set(conn, set_id, before=last, limit=1)
    alerts = _find_alerts(conn, page, identity)
    return Page(
        "actions/action_runs/list",
        title=row["name"],
        breadcrumbs=make_breadcrumbs(project),
        sentence=say_automation(
            row, _find_endpoint(conn, row), hides_alerts=not identity.has_permission(EDIT)
        ),
        project=project,
        row=row,
        runs=_merge_skips([_make_view(run, identity, alerts) for run in page]),
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
        view = _make_view(run, identity, _find_alerts(conn, [run], identity))
        existing = _list_existing(conn, view)
        ignored_by = ignored_alerts.find_creator(conn, run)
        reversal = _find_undo(conn, run)
    return Page(
        "actions/action_runs/show",
        title=f"{view['heading']} (run {run_id})",
        breadcrumbs=_make_breadcrumbs(project, row),
        project=project,
        row=row,
        run=view,
        reversal=reversal,
        existing=existing,
        ignored_by=ignored_by,
        flag_path=flag_path,
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
    view = _make_view(run, identity, _find_alerts(conn, [run], identity))
    path = _make_path(project, set_id, run_id)
    body: Body = [action_runs.NOTHING_TO_UNDO]
    fields: list[Field] = []
    can_repeat = view["can_undo"] and action_runs.can_repeat(conn, run)
    if view["can_undo"]:
        body = [UNDO, [(item, "") for item in view["reverts"]]]
    if can_repeat:
        flags = [change["feature"] for change in view["changes"]]
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
        breadcrumbs=_make_breadcrumbs(project, set_rows.find(conn, project, set_id)),
        after_commit=context.signals_waiting.set,
    )


def _make_breadcrumbs(project: str, row: Row | None) -> list[tuple[str, str]]:
    """Of a run, whose automation may be deleted."""
    crumbs = make_breadcrumbs(project)
    if row is None:
        return crumbs
    return [*crumbs, (row["name"], f"/admin/projects/{project}/actions/{row['id']}/runs")]


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


def _find_alerts(conn: Connection, runs: Sequence[Row], by: Identity) -> dict[int, dict[str, Any]]:
    return find_alerts(
        conn, [{"id": run["id"], "last_signal_id": run["signal_id"]} for run in runs], by
    )


def _make_view(run: Row, by: Identity, alerts: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """A run as the templates show it. `alerts` are by the ID of the run."""
    copy = msgspec.json.decode(run["action_set"])
    signal = msgspec.json.decode(run["signal"]) if run["signal"] else {}
    changes = [change for item in copy["actions"] for change in item["changes"]]
    has_duration = run["finished_at"] and run["state"] == "success"
    seconds = (run["finished_at"] - run["created_at"]).total_seconds() if has_duration else None
    alert = alerts.get(run["id"], {})
    view = run | {
        "name": copy["name"],
        "alert": alert.get("alert") or "",
        "text": alert.get("text") or "",
        "runbook": alert.get("runbook") or "",
        "cause": read_cause(run),
        "reason": (action_runs.find_reason(run, by) or "").strip(),
        "duration": f"{max(1, round(seconds * 1000))} ms" if seconds is not None else "",
        "endpoint_id": signal.get("sourceId"),
        "details": [item["details"] for item in copy["actions"] if item["details"]]
        if run["dry_run"] or run["state"] == "failed"
        else [],
        "changes": [
            change | dict(zip(("from", "to"), split_change(change), strict=True))
            for change in changes[:MAX_CHANGES]
        ],
        "more_changes": max(0, len(changes) - MAX_CHANGES),
        "reverts": [action_summaries.describe_undo(change) for change in changes[:MAX_CHANGES]],
        "can_undo": action_runs.can_undo(run),
        "count": 1,
    }
    return view | {
        "sentence": _describe_run(view, changes),
        "heading": f"{_name_actor(view)} {_describe_run(view, changes, shortens=True)}",
    }


def _describe_run(
    view: Mapping[str, Any], changes: Sequence[Mapping[str, Any]], *, shortens: bool = False
) -> str:
    """What it did, such as `turned a and b off in production`."""
    if view["state"] == "suppressed":
        return f"did nothing: {view['reason']}" if shortens else f"nothing: {view['reason']}"
    if view["state"] == "started":
        return "runs"
    if view["state"] == "failed":
        return f"failed: {view['reason'] or '; '.join(view['details'])}"
    if view["dry_run"]:
        return "; ".join(view["details"]) or "would have changed nothing"
    if not changes:
        return "changed nothing"
    flags = plural(len({change["feature"] for change in changes}), "flag")
    if view["cause"] in ("resolved", "timer", "undo"):
        return f"switched {flags} back" if view["cause"] != "undo" else f"took {flags} back"
    states = {change["after"] for change in changes if change["what"] == "state"}
    if shortens and len(states) == 1 and len(changes) > 1:
        return f"turned {flags} {'on' if states.pop() else 'off'}"
    return say_changes(changes)


def _name_actor(view: Mapping[str, Any]) -> str:
    if view["cause"] == "undo":
        return "An undo"
    return view["alert"] or ("An alert" if view["signal_id"] else str(view["name"]))


def _merge_skips(views: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Skips of one reason and hour that follow each other are one row."""
    rows: list[dict[str, Any]] = []
    for view in views:
        last = rows[-1] if rows else None
        names = ("state", "sentence", "alert")
        if (
            last
            and view["state"] == "suppressed"
            and all(last[name] == view[name] for name in names)
            and last["created_at"] - view["created_at"] < timedelta(hours=1)
        ):
            last["count"] += 1
            continue
        rows.append(view)
    return rows


def _find_undo(conn: Connection, run: Row) -> Row | None:
    """The run that took this one back."""
    id = run["reverted_by_run_id"]
    return next(iter(action_run_rows.list_by_ids(conn, [id], payloads=False)), None) if id else None


def _find_endpoint(conn: Connection, row: Row) -> str | None:
    endpoint = signal_endpoints.find(conn, row["endpoint_id"])
    return endpoint["name"] if endpoint else None


def _list_existing(conn: Connection, view: Mapping[str, Any]) -> Collection[tuple[str, str]]:
    """What the page of the run may link."""
    targets = [("flag", change["feature"]) for change in view["changes"]]
    if view["endpoint_id"]:
        targets.append(("signal", f"{view['endpoint_id']}/{view['signal_id']}"))
    return link_targets.list_existing(conn, targets)


def _format_payload(run: Row) -> str:
    """The copy of the signal's payload."""
    if not run["signal"]:
        return ""
    raw = msgspec.json.decode(run["signal"], type=dict[str, msgspec.Raw])["payload"]
    return msgspec.json.format(bytes(raw).decode(), indent=2)[:MAX_PAYLOAD]
