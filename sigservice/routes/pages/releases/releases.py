"""The list of releases, and what the pages of one release share."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from sigservice.repository.projects import environments, projects
from sigservice.repository.releases import releases as release_rows
from sigservice.routes.pages.release_views import NOTICES, make_release_view
from sigservice.services.actions import scheduled_sets
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import Context, Page, PageGuard, Router, read_query, request
from sigservice.web.forms import Field, Form, fill, make_choices
from sigservice.web.links import flag_path

PLACE = "/admin/features/<name>/environments/<environment>/releases"
RELEASE = f"{PLACE}/<release_id:id>"
MAX_ROWS = 100
# Of the filter: its label, its states, and what an empty list says.
GROUPS = {
    "active": ("Under way", ("held", "running"), "No release is under way."),
    "scheduled": ("Scheduled", ("scheduled",), "No release is scheduled."),
    "ended": ("Ended", ("finished", "rolledBack", "stopped"), "No release has ended yet."),
}

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
    project, environment = query.get("project") or None, query.get("environment") or None
    text = query.get("flag", "").strip()
    with context.database.transaction() as conn:
        rows = release_rows.list_newest(
            conn,
            states=GROUPS[group][1],
            project=project,
            environment=environment,
            text=text or None,
        )
        counts = release_rows.count_by_state(conn)
        scheduled = scheduled_sets.list_views(conn, project)
        project_names = [(row["id"], row["name"]) for row in projects.list_all(conn)]
        environment_names = [row["name"] for row in environments.list_all(conn)]
    rows.sort(key=lambda row: row["state"] != "held")
    can_edit = identity.has_permission(EDIT)
    filters = {"state": group, "project": project, "environment": environment, "flag": text}
    back = f"list?{urlencode({name: value for name, value in filters.items() if value})}"
    return Page(
        "releases/list",
        title="Releases",
        scheduled=scheduled,
        filters=_make_filters(counts, project_names, environment_names, query | {"state": group}),
        is_ended=group == "ended",
        is_live=group != "ended",
        empty="No releases match." if project or environment or text else GROUPS[group][2],
        hidden_count=max(0, len(rows) - MAX_ROWS),
        rows=[make_release_view(row, now, can_edit=can_edit, back=back) for row in rows[:MAX_ROWS]],
    )


def _make_filters(
    counts: Mapping[str, int],
    project_names: Sequence[tuple[str, str]],
    environment_names: Sequence[str],
    query: Form,
) -> list[Field]:
    groups = [
        (name, f"{label} ({sum(counts.get(state, 0) for state in states)})")
        for name, (label, states, _) in GROUPS.items()
    ]
    return fill(
        [
            Field("state", "State", type="select", choices=groups),
            Field("project", "Project", type="select", choices=[("", "Any"), *project_names]),
            Field(
                "environment",
                "Environment",
                type="select",
                choices=make_choices(environment_names, ("", "Any")),
            ),
            Field("flag", "Flag", type="search", attributes={"maxlength": 100}),
        ],
        query,
    )
