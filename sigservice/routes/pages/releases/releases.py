"""Releases, pages: the list, one release, and the questions before its commands."""

from typing import Any

from sigservice.db.pool import Connection
from sigservice.errors import NotFoundError
from sigservice.routes.pages.flags.feature_page import find_feature
from sigservice.routes.pages.flags.release_views import LABELS, make_release_view
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.releases import freeze, release_commands, releases
from sigservice.services.releases.release_commands import CommandBody
from sigservice.web import Context, HTTPResponse, PageGuard, Router, read_query, request, respond
from sigservice.web.form_pages import Confirmation, confirms
from sigservice.web.helpers import join_path
from sigservice.web.links import flag_path

PLACE = "/admin/features/<name>/environments/<environment>/releases"
RELEASE = f"{PLACE}/<release_id:id>"
MAX_ENDED = 50
NOTICES = {"created": "Release created.", "done": "Done."}
IGNORE_MINUTES = 30
BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "adopt": ("resume", {"adopt": True}),
    "restore": ("resume", {"adopt": False}),
    "ignore": ("resume", {"ignoreMinutes": IGNORE_MINUTES}),
}

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
    views = [make_release_view(row, can_edit=can_edit) for row in rows]
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
        groups=[("Under way", active), ("Ended", ended[:MAX_ENDED])],
    )


@router.get(RELEASE, needs=VIEW)
def show_release(
    context: Context, identity: Identity, name: str, environment: str, release_id: int
) -> HTTPResponse:
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
        row = releases.get(conn, target, release_id)
        events = releases.list_events(conn, target, release_id)
        frozen = freeze.read_freeze(conn)
    return respond.page(
        context,
        "releases/show",
        identity,
        title=f"Release {release_id} of {name} in {environment}",
        breadcrumbs=make_breadcrumbs(name),
        notice=respond.find_notice(NOTICES),
        release=make_release_view(row, can_edit=identity.has_permission(EDIT)),
        events=events[::-1],
        freeze=frozen,
        is_live=row["state"] in releases.ACTIVE,
    )


@confirms(router, f"{RELEASE}/steps/<step:id>/<command>", needs=EDIT)
def run_command(
    context: Context,
    conn: Connection,
    identity: Identity,
    name: str,
    environment: str,
    release_id: int,
    step: int,
    command: str,
) -> Confirmation:
    """`step` counts from 1, so that a question about an earlier step changes nothing."""
    if command not in LABELS:
        raise NotFoundError("There is no such command.")
    target = find_target(conn, name, environment)
    row = releases.get(conn, target, release_id)
    if not 1 <= step <= len(releases.to_json(row)["steps"]):
        raise NotFoundError("The release has no such step.")
    api_command, members = BODIES.get(command, (command, {}))
    body = CommandBody(step=step - 1, **members)
    path = join_path("/admin/features", name, "environments", environment, "releases", release_id)
    return Confirmation(
        title=f"{LABELS[command]}?",
        body=[_describe_effect(command, row["rollout"], row["start_rollout"], target)],
        button=LABELS[command],
        cancel_path=path,
        perform=lambda: release_commands.run_command(
            conn, target, release_id, api_command, body, identity, context.clock
        ),
        done=f"{path}?done=done",
        is_dangerous=command in ("rollback", "stop", "ignore"),
        breadcrumbs=make_breadcrumbs(name),
        after_commit=context.outbox_waiting.set,
    )


def _describe_effect(
    command: str, rollout: int, start_rollout: int, target: FeatureEnvironment
) -> str:
    where = f"{target.feature} in {target.environment}"
    if command == "rollback":
        return f"{where} goes from {rollout}% to {start_rollout}% at once. The release ends."
    if command == "stop":
        return f"{where} stays at {rollout}%. The release ends, and nothing watches it."
    if command == "hold":
        return f"{where} stays at {rollout}% until a person continues. Guards still act."
    if command == "ignore":
        minutes = IGNORE_MINUTES
        return f"Guards that are not ok are ignored for {minutes} minutes, or until they are ok."
    if command == "advance":
        return f"{where} goes to the next step, above {rollout}%, without waiting for its time."
    if command == "undo":
        return f"{where} goes back to its percentage before the rollback."
    return f"{where} is at {rollout}%."
