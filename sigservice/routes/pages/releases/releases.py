"""Releases, pages: the list, and one release."""

from sigservice.db.pool import Connection
from sigservice.routes.pages.flags.feature_page import find_feature
from sigservice.routes.pages.release_views import NOTICES, make_release_view
from sigservice.services.actions import scheduled_sets
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.releases import freeze, guard_history, releases
from sigservice.web import Context, HTTPResponse, PageGuard, Router, read_query, request, respond
from sigservice.web.links import flag_path

PLACE = "/admin/features/<name>/environments/<environment>/releases"
RELEASE = f"{PLACE}/<release_id:id>"
MAX_ENDED = 50

router = Router(PageGuard)


def find_target(conn: Connection, name: str, environment: str) -> FeatureEnvironment:
    """Raises NotFoundError."""
    return FeatureEnvironment(find_feature(conn, name)["project"], name, environment)


def make_breadcrumbs(name: str) -> list[tuple[str, str]]:
    return [("Flags", "/admin/features"), (name, flag_path(name))]


@router.get("/admin/releases", needs=VIEW)
def list_releases(context: Context, identity: Identity) -> HTTPResponse:
    project = read_query(request.environ).get("project") or None
    can_edit = identity.has_permission(EDIT)
    with context.database.transaction() as conn:
        rows = releases.list_all(conn, state=None, project=project)
        frozen = freeze.read_freeze(conn)
        scheduled = scheduled_sets.list_views(conn, project)
    now = context.clock.now()
    views = [make_release_view(row, now, can_edit=can_edit, back="list") for row in rows]
    order = {"held": 0, "running": 1, "scheduled": 2}
    active = [view for view in views if view["state"] in order]
    ended = [view for view in views if view["state"] not in order]
    active.sort(key=lambda view: order[view["state"]])
    return respond.page(
        context,
        "releases/list",
        identity,
        title="Releases",
        freeze=frozen,
        scheduled=scheduled,
        groups=[("Under way", active), ("Ended", ended[:MAX_ENDED])],
    )


@router.get(RELEASE, needs=VIEW)
def show_release(
    context: Context, identity: Identity, name: str, environment: str, release_id: int
) -> HTTPResponse:
    now = context.clock.now()
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
        row = releases.get(conn, target, release_id)
        events = releases.list_events(conn, target, release_id)
        frozen = freeze.read_freeze(conn)
        history = guard_history.read_last_hour(conn, [row], now)
    can_edit = identity.has_permission(EDIT)
    return respond.page(
        context,
        "releases/show",
        identity,
        title=f"Release {release_id} of {name} in {environment}",
        breadcrumbs=make_breadcrumbs(name),
        notice=respond.find_notice(NOTICES),
        release=make_release_view(row, now, can_edit=can_edit, history=history),
        events=events[::-1],
        freeze=frozen,
        is_live=row["state"] in releases.ACTIVE,
    )
