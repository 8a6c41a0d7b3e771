"""The home page: the first steps, what needs attention, and what happened last."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

from sigservice.db import Connection, Row
from sigservice.repository.actions import alerts
from sigservice.repository.releases import releases
from sigservice.repository.signals import signal_endpoints, signals
from sigservice.repository.system import events as event_rows
from sigservice.repository.system import home
from sigservice.repository.system.events import EventFilter
from sigservice.routes.pages.release_views import NOTICES as RELEASE_NOTICES
from sigservice.routes.pages.release_views import make_release_view
from sigservice.services.actions import held_flags, scheduled_sets
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.signals import signal_state_list
from sigservice.services.signals.signal_summaries import make_summarizers, summarize_row
from sigservice.services.system import events
from sigservice.web import Context, Page, PageGuard, Router, read_query, request
from sigservice.web.event_views import list_event_views
from sigservice.web.links import flag_path
from sigservice.wording import spell_duration

RECENT_SIGNALS, RECENT_CHANGES, RECENT_RUNS, MAX_ALERTS, MAX_STALE = 10, 8, 5, 20, 5
MAX_SCHEDULED, MAX_RELEASES = 5, 20
ROLLED_BACK = timedelta(days=1)  # how long a release that a guard has rolled back is shown
NOTICES = RELEASE_NOTICES | {
    "password": "Password set. You are signed in.",
    "cancelled": "Scheduled change cancelled.",
}
# (column of find_first_steps, label, path, permission that the step needs)
STEPS = (
    ("flag", "Create a flag", "/admin/features/new", EDIT),
    ("token", "Create an API token for your application", "/admin/api-tokens/new", ADMIN),
    ("sdk", "Connect an SDK", "/admin/applications", VIEW),
    ("endpoint", "Create a signal endpoint", "/admin/signals/new", ADMIN),
    ("signal", "Send a signal", "/admin/signals", ADMIN),
    ("action", "Create an action set that a signal triggers", "/admin/automation", ADMIN),
)


router = Router(PageGuard, notices=NOTICES)


@router.get("/", needs=VIEW)
def show_home(context: Context, identity: Identity) -> Page:
    is_admin, now = identity.has_permission(ADMIN), context.clock.now()
    is_paused = read_query(request.environ).get("live") == "off"
    with context.database.transaction() as conn:
        done = home.find_first_steps(conn)
        stale = home.list_stale_flags(conn, limit=MAX_STALE)
        readable = events.restrict_to_readable(identity, EventFilter())
        rows = event_rows.list_newest(conn, readable, limit=RECENT_CHANGES)
        changes = list_event_views(conn, rows)
        recent = (
            _list_recent_signals(conn)
            if is_admin
            else signal_state_list.list_signal_states(conn, limit=RECENT_SIGNALS)
        )
        alert_flags = held_flags.list_held_flags(conn, identity, limit=MAX_ALERTS)
        runs = home.list_newest_runs(conn, limit=RECENT_RUNS)
        scheduled = scheduled_sets.list_views(conn, None, limit=MAX_SCHEDULED)
        on_hold = releases.list_newest(conn, states=("held",), limit=MAX_RELEASES)
        rolled_back = releases.list_newest(
            conn, states=("rolledBack",), last_ended_after=now - ROLLED_BACK, limit=MAX_RELEASES
        )
        rolled_back = [row for row in rolled_back if row["last_by_guard"]]
        others = releases.list_newest(conn, states=("scheduled", "running"), limit=MAX_RELEASES)
        others.sort(key=itemgetter("state"))  # running first
        silent = home.list_silent_endpoints(conn)
        not_done = home.list_failed_schedules(conn, limit=MAX_SCHEDULED)
        is_quiet = not (on_hold or rolled_back or alert_flags or silent or not_done)
        last_alert_at = _find_last_alert(conn, recent) if is_quiet else None
        running_count = releases.count_by_state(conn).get("running", 0) if is_quiet else 0
    steps = [
        {"label": label, "path": path, "done": done[key], "allowed": identity.has_permission(needs)}
        for key, label, path, needs in STEPS
    ]
    return Page(
        "system/home/show",
        title="Home",
        live=not is_paused,
        steps=steps if not all(done.values()) else [],
        done_count=sum(done.values()),
        alert_flags=[row | {"path": flag_path(row["feature"])} for row in alert_flags],
        silent=[row | {"duration": spell_duration(now - row["since"])} for row in silent],
        scheduled=scheduled,
        not_done=not_done,
        is_quiet=is_quiet,
        last_alert_at=last_alert_at,
        running_count=running_count,
        rolled_back=_make_release_views(rolled_back, now, identity),
        on_hold=_make_release_views(on_hold, now, identity),
        releases=_make_release_views(others, now, identity),
        stale=[row | {"path": flag_path(row["name"])} for row in stale],
        stale_counts=(stale[0]["stale_total"], stale[0]["total"]) if stale else (0, 0),
        changes=changes,
        runs=runs,
        signals=recent,
    )


def _make_release_views(
    rows: Sequence[Row], now: datetime, identity: Identity
) -> list[dict[str, Any]]:
    can_edit = identity.has_permission(EDIT)
    return [make_release_view(row, now, can_edit=can_edit, back="home") for row in rows]


def _find_last_alert(conn: Connection, recent: Sequence[Row]) -> datetime | None:
    """Of the recent signals that are alerts, and of those that action sets evaluated."""
    times = [row["created_at"] for row in recent if row["status"] == "firing"]
    return max([*times, *filter(None, [alerts.find_last_report(conn)])], default=None)


def _list_recent_signals(conn: Connection) -> list[Row]:
    """With summaries, states and tokens, for admins."""
    endpoints = signal_endpoints.list_all(conn)
    rows = signals.list_all(conn, from_time=None, to_time=None, before=None, limit=RECENT_SIGNALS)
    summarizers = make_summarizers(endpoints)
    return [
        row | {"summary": summary, "status": summary.status}
        for row in rows
        if row["endpoint_id"] in summarizers  # it may have been created in between
        for summary in [summarize_row(summarizers[row["endpoint_id"]], row)]
    ]
