"""The page of a release: its heading, and a tab for each of its topics."""

from typing import Any

from sigservice.repository.releases import releases as release_rows
from sigservice.routes.pages.flags.feature_page import find_target
from sigservice.routes.pages.release_alerts import find_alerts
from sigservice.routes.pages.release_views import NOTICES, find_end, make_release_view
from sigservice.routes.pages.releases.release_chart import MARKS, make_chart
from sigservice.routes.pages.releases.releases import RELEASE, make_breadcrumbs, name_strategy
from sigservice.routes.pages.signals.endpoint_tabs import Tab
from sigservice.services.flags import strategies
from sigservice.services.identity import EDIT, VIEW, Identity, name_actor
from sigservice.services.releases import guard_history, releases
from sigservice.services.releases.release_journal import name_release_event
from sigservice.web import Context, Page, PageGuard, Router, Row

TABS = {"": "Overview", "guards": "Guards", "log": "Log"}

router = Router(PageGuard, notices=NOTICES)


def _render_tab(
    context: Context,
    identity: Identity,
    tab: str,
    row: Row,
    *,
    template: str = "",
    release: dict[str, Any] | None = None,
    **values: Any,
) -> Page:
    """A page in a tab of TABS."""
    can_edit = identity.has_permission(EDIT)
    release = release or make_release_view(row, context.clock.now(), can_edit=can_edit)
    path = release["path"]
    heading = f"Release {row['id']} of {row['feature']} in {row['environment']}"
    return Page(
        f"releases/{template or tab}",
        title=f"{TABS[tab]}: {heading}" if tab else heading,
        heading=heading,
        breadcrumbs=make_breadcrumbs(row["feature"]),
        release=release,
        tabs=[
            Tab(label, f"{path}/{name}" if name else path, 0, name == tab)
            for name, label in TABS.items()
        ],
        is_live=row["state"] in releases.ACTIVE,
        **values,
    )


@router.get(RELEASE, needs=VIEW)
def show_release(
    context: Context, identity: Identity, name: str, environment: str, release_id: int
) -> Page:
    now = context.clock.now()
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
        row = releases.get(conn, target, release_id)
        event_rows = release_rows.list_events(conn, release_id)
        existing = strategies.list_strategies(conn, target)
        history = guard_history.read_last_hour(conn, [row], now)
        alert = find_alerts(conn, [row], identity).get(release_id)
    can_edit = identity.has_permission(EDIT)
    release = make_release_view(row, now, can_edit=can_edit, history=history, alert=alert)
    strategy = next((item for item in existing if item["id"] == release["strategyId"]), None)
    return _render_tab(
        context,
        identity,
        "",
        row,
        template="show",
        release=release,
        strategy=name_strategy(strategy) if strategy else "removed",
        ends_at=find_end(release, now),
        chart=make_chart(release, [releases.event_to_json(event) for event in event_rows], now),
    )


@router.get(f"{RELEASE}/guards", needs=VIEW)
def show_guards(
    context: Context, identity: Identity, name: str, environment: str, release_id: int
) -> Page:
    now = context.clock.now()
    with context.database.transaction() as conn:
        row = releases.get(conn, find_target(conn, name, environment), release_id)
        history = guard_history.read_last_hour(conn, [row], now)
    can_edit = identity.has_permission(EDIT)
    release = make_release_view(row, now, can_edit=can_edit, history=history)
    return _render_tab(context, identity, "guards", row, release=release)


@router.get(f"{RELEASE}/log", needs=VIEW)
def show_log(
    context: Context, identity: Identity, name: str, environment: str, release_id: int
) -> Page:
    with context.database.transaction() as conn:
        row = releases.get(conn, find_target(conn, name, environment), release_id)
        event_rows = release_rows.list_events(conn, release_id)
    items = [
        releases.event_to_json(event)
        | {
            "icon": MARKS.get(name_release_event(event["type"]), ""),
            "actor": name_actor(event["created_by"], event["created_by_user_id"]),
        }
        for event in event_rows[::-1]
    ]
    return _render_tab(context, identity, "log", row, events=items)
