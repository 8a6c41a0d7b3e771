"""The home page: what is off and why, with one card for each alert, and the first steps."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

from sigservice.db import Connection, Row
from sigservice.repository.actions import alerts
from sigservice.repository.integrations import integrations as integration_rows
from sigservice.repository.projects import environments
from sigservice.repository.releases import releases
from sigservice.repository.system import events as event_rows
from sigservice.repository.system import home
from sigservice.repository.system.events import EventFilter
from sigservice.routes.pages.flag_questions import join_names
from sigservice.routes.pages.release_views import NOTICES as RELEASE_NOTICES
from sigservice.routes.pages.release_views import make_release_view
from sigservice.services.actions import held_flags, scheduled_sets
from sigservice.services.flags.feature_states import FeatureEnvironment, list_states
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.integrations.integrations import find_name
from sigservice.services.system import events
from sigservice.web import (
    Context,
    HTTPResponse,
    Page,
    PageGuard,
    Router,
    read_query,
    request,
    respond,
)
from sigservice.web.event_views import list_event_views
from sigservice.web.forms import Form
from sigservice.web.helpers import join_path
from sigservice.web.links import flag_path
from sigservice.web.session import hide_start, hides_start
from sigservice.wording import plural, spell_duration

MAX_HELD, MAX_FLAGS, MAX_CHANGES, MAX_SCHEDULED, MAX_RELEASES = 1000, 3, 5, 5, 20
MAX_FAILED = 10
ROLLED_BACK = timedelta(days=1)  # how long a release that a guard has rolled back is shown
NOTICES = RELEASE_NOTICES | {
    "password": "Password set. You are signed in.",
    "cancelled": "Scheduled change cancelled.",
    "turned-on": "Turned back on.",
    "kept-off": "They stay off when the alert resolves, until a user turns them on.",
}
# (column of find_first_steps, what to do, details, label of the link, path, needed permission)
STEPS = (
    ("flag", "Create a flag", "a name, and who gets it", "New flag", "/admin/features/new", EDIT),
    (
        "token", "Connect an application", "a token and four lines of code",
        "Connect", "/admin/api-tokens/new", ADMIN,
    ),
    ("application", "Wait for its first request", "none yet", "", "", VIEW),
    (
        "source", "Connect what sends alerts",
        "Alertmanager, Grafana, Datadog … or a number it measures",
        "Connect", "/admin/signals/new", ADMIN,
    ),
    (
        "action", "Protect the flag", "when the alert fires, off; when it resolves, on",
        "Protect", "/admin/automation/new", ADMIN,
    ),
    ("colleague", "Invite a colleague", "", "Invite", "/admin/users/new", ADMIN),
)  # fmt: skip


router = Router(PageGuard, notices=NOTICES)


@router.get("/", needs=VIEW)
def show_home(context: Context, identity: Identity) -> Page:
    now = context.clock.now()
    is_paused = read_query(request.environ).get("live") == "off"
    with context.database.transaction() as conn:
        done = home.find_first_steps(conn)
        changes = _list_changes(conn, identity)
        held_rows = held_flags.list_held_flags(conn, identity, limit=MAX_HELD)
        cards = make_alert_cards(held_rows, identity, now)
        scheduled = scheduled_sets.list_views(conn, None, limit=MAX_SCHEDULED)
        on_hold = releases.list_newest(conn, states=("held",), limit=MAX_RELEASES)
        rolled_back = releases.list_newest(
            conn, states=("rolledBack",), last_ended_after=now - ROLLED_BACK, limit=MAX_RELEASES
        )
        rolled_back = [row for row in rolled_back if row["last_guard"]]
        others = releases.list_newest(conn, states=("scheduled", "running"), limit=MAX_RELEASES)
        others.sort(key=itemgetter("state"))  # running first
        off = _find_off(conn, others)
        silent = home.list_silent_endpoints(conn)
        failed_runs = home.list_failed_runs(conn, limit=MAX_FAILED)
        integrations = _list_failing(integration_rows.list_all(conn))
        counts = home.count_production_flags(conn)
        last_alert_at = alerts.find_last_report(conn)
        release_counts = releases.count_by_state(conn)
    steps = _make_steps(done, identity, now)
    is_hidden = hides_start(context, request.environ)
    views = _make_release_views(others, now, identity)
    return Page(
        "system/home/show",
        title="Home",
        live=not is_paused,
        steps=[] if is_hidden or all(step["is_done"] for step in steps) else steps,
        done_count=sum(step["is_done"] for step in steps),
        has_flags=done["flag"],
        cards=cards,
        silent=[row | {"duration": spell_duration(now - row["since"])} for row in silent],
        scheduled=scheduled,
        failed=[_describe_failure(row) for row in failed_runs],
        integrations=integrations,
        is_quiet=not (
            on_hold or rolled_back or cards or silent or failed_runs or integrations or off
        ),
        can_alert=done["source"],
        last_alert_at=last_alert_at,
        counts=counts,
        alert_count=len({(r["feature"], r["environment"]) for r in held_rows if not r["enabled"]}),
        release_count=sum(release_counts.get(state, 0) for state in ("running", "held")),
        rolled_back=_make_release_views(rolled_back, now, identity),
        on_hold=_make_release_views(on_hold, now, identity),
        off_releases=[view for view in views if view["id"] in off],
        releases=[view for view in views if view["id"] not in off],
        changes=changes,
    )


@router.post("/hide-start", needs=VIEW)
def hide_first_steps(context: Context, identity: Identity, form: Form) -> HTTPResponse:
    answer = respond.redirect(context, "/")
    hide_start(context, answer)
    return answer


def _make_steps(done: Row, by: Identity, now: datetime) -> list[dict[str, Any]]:
    """The first one that is open has the primary button."""
    steps: list[dict[str, Any]] = []
    for key, label, details, action, path, needs in STEPS:
        is_open = not done[key]
        if key == "application" and done[key]:
            details = f"{done[key]}, {spell_duration(now - done['seen_at'])} ago"
        steps.append(
            {
                "label": label,
                "details": details,
                "is_done": not is_open,
                "path": path if is_open and by.has_permission(needs) else "",
                "action": action,
                "needs_admin": is_open and not by.has_permission(needs),
                "is_first": is_open and all(step["is_done"] for step in steps),
            }
        )
    return steps


def make_alert_cards(rows: Sequence[Row], by: Identity, now: datetime) -> list[dict[str, Any]]:
    """One for each alert that holds flags, whatever their number: those that fire first, then those
    whose flags a person keeps off."""
    by_alert: dict[tuple[int, str], list[Row]] = {}
    for row in rows:
        by_alert.setdefault((row["action_set_id"], row["key"]), []).append(row)
    cards = [_make_alert_card(group, by, now) for group in by_alert.values()]
    return sorted(cards, key=lambda card: (card["kept_by"] is not None, not card["is_firing"]))


def _make_alert_card(rows: Sequence[Row], by: Identity, now: datetime) -> dict[str, Any]:
    row = rows[0]
    places = {(one["feature"], one["environment"]): one for one in rows}
    names = sorted({feature for feature, _ in places})
    environments_text = join_names(sorted({environment for _, environment in places}))
    can_turn_on = by.has_permission(EDIT) and not row["enabled"]
    state = f"firing for {spell_duration(now - row['created_at'])}"
    what = {1: "", 2: "both "}.get(len(places), f"{len(places)} ")
    run_path = (
        "/admin/projects",
        row["project"],
        "actions",
        row["action_set_id"],
        "runs",
        row["id"],
    )
    return {
        **row,
        "name": row["name"],
        "title": row["alert"] or f"An alert of {row['endpoint'] or 'a signal endpoint'}",
        "state": state if row["is_firing"] else "over",
        "verb": "turned on" if row["enabled"] else "turned off",
        "flags": [(name, flag_path(name)) for name in names[:MAX_FLAGS]],
        "more": f"and {len(names) - MAX_FLAGS} more" if len(names) > MAX_FLAGS else "",
        "places": environments_text,
        "run_path": join_path(*run_path),
        "turn_on": f"Turn {what}back on …" if can_turn_on else "",
        "can_keep": can_turn_on and not row["kept_by"],
        "can_undo": by.has_permission(EDIT) and row["enabled"],
    }


def _describe_failure(row: Row) -> Row:
    """With the sentence of its card."""
    if row["is_schedule"]:
        return row | {"effect": row["text"]}
    effect = "failed"
    if row["flag_count"]:
        effect = f"changed {row['changed_count']} of {plural(row['flag_count'], 'flag')}"
    return row | {"effect": f"{effect}: {row['text']}"}


def _list_failing(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The integrations whose newest message wasn't received."""
    return [
        {
            "id": row["id"],
            "name": find_name(row),
            "waiting": plural(row["waiting"], "message")
            + (" wait" if row["waiting"] > 1 else " waits"),
            "error": row["last_error"],
        }
        for row in rows
        if row["enabled"] and row["waiting"] and row["last_error"]
    ]


def _list_changes(conn: Connection, by: Identity) -> list[Row]:
    """The newest changes of flags in production. Only admins read the event of a run, which says
    what it changed."""
    names = [row["name"] for row in environments.list_all(conn) if row["type"] == "production"]
    families = ["feature", "release", "action"]
    filter = EventFilter(environments=names, families=families)
    readable = events.restrict_to_readable(by, filter)
    rows = event_rows.list_newest(conn, readable, limit=4 * MAX_CHANGES)
    views = list_event_views(conn, rows)
    if by.has_permission(ADMIN):
        views = [view for view in views if not view["is_of_run"]]
    return views[:MAX_CHANGES]


def _find_off(conn: Connection, rows: Sequence[Row]) -> set[int]:
    """The IDs of the releases that run although their flag is off."""
    targets = {
        FeatureEnvironment(row["project"], row["feature"], row["environment"]): row["id"]
        for row in rows
        if row["state"] == "running"
    }
    states = list_states(conn, list(targets)) if targets else {}
    return {
        id for target, id in targets.items() if not states.get(target, {"enabled": True})["enabled"]
    }


def _make_release_views(
    rows: Sequence[Row], now: datetime, identity: Identity
) -> list[dict[str, Any]]:
    can_edit = identity.has_permission(EDIT)
    return [make_release_view(row, now, can_edit=can_edit, back="home") for row in rows]
