"""The page of one project: its flags, environments, action sets, tokens and changes."""

from collections import Counter

from sigservice.repository.access import api_tokens
from sigservice.repository.actions import action_sets
from sigservice.repository.projects import environments
from sigservice.repository.projects import projects as project_rows
from sigservice.repository.releases import releases
from sigservice.repository.system import events as event_rows
from sigservice.repository.system.events import EventFilter
from sigservice.routes.pages.release_views import make_release_view
from sigservice.services.actions import scheduled_sets
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.projects import projects
from sigservice.services.releases.releases import ACTIVE
from sigservice.services.system import events
from sigservice.web import Context, Page, PageGuard, Router
from sigservice.web.event_views import list_event_views

MAX_CHANGES, MAX_RELEASES, MAX_ROWS = 8, 1000, 5

router = Router(PageGuard)


@router.get("/admin/projects/<project>/overview", needs=VIEW)
def show_project_overview(context: Context, identity: Identity, project: str) -> Page:
    is_admin, now = identity.has_permission(ADMIN), context.clock.now()
    with context.database.transaction() as conn:
        row = projects.get(conn, project)
        counts = project_rows.count_flags(conn, project)
        links = [link for link in environments.list_by_project(conn, project) if link["visible"]]
        sets = action_sets.list_of_project(conn, project) if is_admin else []
        scheduled = scheduled_sets.list_views(conn, project)
        tokens = api_tokens.list_of_project(conn, project) if is_admin else []
        readable = events.restrict_to_readable(identity, EventFilter(projects=[project]))
        under_way = releases.list_newest(conn, project=project, states=ACTIVE, limit=MAX_RELEASES)
        rows = event_rows.list_newest(conn, readable, limit=MAX_CHANGES)
        changes = list_event_views(conn, rows)
    return Page(
        "projects/projects/overview",
        title=f"Project {row['name']}",
        breadcrumbs=[("Projects", "/admin/projects")],
        project=row,
        counts=counts,
        environments=[link for link in links if link["enabled"]],
        action_sets=sets,
        scheduled=scheduled,
        release_counts=Counter(row["state"] for row in under_way),
        releases=[
            make_release_view(row, now, can_edit=identity.has_permission(EDIT), back="list")
            for row in sorted(under_way, key=lambda row: row["state"])[:MAX_ROWS]  # held first
        ],
        tokens=tokens,
        changes=changes,
    )
