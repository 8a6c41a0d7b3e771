"""The list of releases, and what the pages of one release share."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from sigservice.clock import parse_iso
from sigservice.repository.releases import releases as release_rows
from sigservice.routes.pages.release_alerts import find_alerts
from sigservice.routes.pages.release_views import NOTICES, make_release_view
from sigservice.services.actions import scheduled_sets
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import Context, Page, PageGuard, Router, read_query, request
from sigservice.web.links import flag_path

PLACE = "/admin/features/<name>/environments/<environment>/releases"
RELEASE = f"{PLACE}/<release_id:id>"
MAX_ROWS = 100
# Of the links above the list: the label, the states, and what an empty list says.
GROUPS = {
    "active": ("Under way", ("held", "running"), "No release is under way."),
    "scheduled": ("Planned", ("scheduled",), "Nothing is planned."),
    "ended": ("Ended", ("finished", "rolledBack", "stopped"), "No release has ended yet."),
}
ORDER = ("on hold", "off", "running")

router = Router(PageGuard, notices=NOTICES)


def make_breadcrumbs(name: str) -> list[tuple[str, str]]:
    return [("Flags", "/admin/features"), (name, flag_path(name))]


def name_strategy(strategy: Mapping[str, Any]) -> str:
    """Its title and percentage."""
    title = strategy["title"] or "Gradual rollout"
    return f"{title} · {strategy['parameters'].get('rollout')}%"


@router.get("/admin/releases", needs=VIEW)
def list_releases(context: Context, identity: Identity) -> Page:
    query, now = read_query(request.environ), context.clock.now()
    group = query.get("state", "")
    group = group if group in GROUPS else "active"
    project, text = query.get("project") or None, query.get("flag", "").strip()
    with context.database.transaction() as conn:
        rows = release_rows.list_newest(
            conn, states=GROUPS[group][1], project=project, text=text or None
        )
        counts = release_rows.count_by_state(conn, project)
        changes = scheduled_sets.list_views(conn, project)
        alerts = find_alerts(conn, rows[:MAX_ROWS], identity)
    filters = {"state": group, "project": project, "flag": text}
    back = f"list?{_encode(filters)}"
    views = [
        make_release_view(
            row, now, can_edit=identity.has_permission(EDIT), back=back, alert=alerts.get(row["id"])
        )
        for row in rows[:MAX_ROWS]
    ]
    if group == "active":
        views.sort(key=lambda view: ORDER.index(view["word"]))
    numbers = {
        name: sum(counts.get(state, 0) for state in states)
        for name, (_, states, _) in GROUPS.items()
    }
    numbers["scheduled"] += len(changes)
    return Page(
        "releases/list",
        title="Releases",
        rows=_sort_planned(views, changes, text) if group == "scheduled" else views,
        groups=[
            (label, numbers[name], _encode(filters | {"state": name}), name == group)
            for name, (label, _, _) in GROUPS.items()
        ],
        filters=filters,
        is_ended=group == "ended",
        is_live=group != "ended",
        empty="No release matches." if project or text else GROUPS[group][2],
        hidden_count=max(0, len(rows) - MAX_ROWS),
    )


def _encode(filters: Mapping[str, str | None]) -> str:
    return urlencode({name: value for name, value in filters.items() if value})


def _sort_planned(
    releases: Sequence[Mapping[str, Any]], changes: Sequence[Mapping[str, Any]], text: str
) -> list[Mapping[str, Any]]:
    """Planned releases and planned changes, the next one first."""
    items = [
        {"at": parse_iso(release["startAt"] or ""), "change": None, **release}
        for release in releases
    ]
    items += [
        {"at": change["due_at"], "change": change}
        for change in changes
        if text.lower() in ", ".join(change["action_texts"]).lower()
    ]
    return sorted(items, key=lambda item: (item["at"] is None, item["at"]))
