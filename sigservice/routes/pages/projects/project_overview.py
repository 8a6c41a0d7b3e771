"""The page of one project: its flags, environments, action sets, tokens and changes."""

from sigservice.repository.access import api_tokens
from sigservice.repository.actions import action_sets
from sigservice.repository.projects import environments, project_status
from sigservice.repository.system import events as event_repository
from sigservice.repository.system.events import EventFilter
from sigservice.services.actions import scheduled_sets
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.projects import projects
from sigservice.services.system import events
from sigservice.web import Context, HTTPResponse, PageGuard, Router, respond
from sigservice.web.event_views import make_event_view

MAX_CHANGES = 8

router = Router(PageGuard)


@router.get("/admin/projects/<project>/overview", needs=VIEW)
def show_project_overview(context: Context, identity: Identity, project: str) -> HTTPResponse:
    is_admin = identity.has_permission(ADMIN)
    with context.database.transaction() as conn:
        row = projects.get(conn, project)
        counts = project_status.count(conn, project)
        links = [link for link in environments.list_by_project(conn, project) if link["visible"]]
        sets = action_sets.list_of_project(conn, project) if is_admin else []
        scheduled = scheduled_sets.list_views(conn, project)
        tokens = api_tokens.list_of_project(conn, project) if is_admin else []
        readable = events.restrict_to_readable(identity, EventFilter(projects=[project]))
        changes = event_repository.list_newest(conn, readable, limit=MAX_CHANGES)
    return respond.page(
        context,
        "projects/projects/overview",
        identity,
        title=f"Project {row['name']}",
        breadcrumbs=[("Projects", "/admin/projects")],
        project=row,
        flag_count=counts["features"],
        stale_count=counts["stale"],
        expired_count=counts["potentially_stale"],
        segment_count=counts["segments"],
        environments=[link for link in links if link["enabled"]],
        action_sets=sets,
        scheduled=scheduled,
        tokens=tokens,
        changes=[make_event_view(event) for event in changes],
    )
