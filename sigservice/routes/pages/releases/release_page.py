"""The page of a release: what it does, its chart with the guards, and its log."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from bottle import HTTPResponse

from sigservice.repository.releases import releases as release_rows
from sigservice.routes.pages.flags.feature_page import find_target
from sigservice.routes.pages.release_alerts import find_alerts
from sigservice.routes.pages.release_sentences import describe_breaks, list_next_steps
from sigservice.routes.pages.release_views import NOTICES, make_release_view
from sigservice.routes.pages.releases.release_chart import make_axis, make_chart, read_time
from sigservice.routes.pages.releases.releases import RELEASE
from sigservice.services.identity import EDIT, SYSTEM_ID, VIEW, Identity, name_actor
from sigservice.services.releases import guard_history, releases
from sigservice.web import Context, Page, PageGuard, Router, respond
from sigservice.web.helpers import join_path, readable

# What a line of the log says after its actor, for the other events their text.
LOG = {
    "created": "planned it",
    "started": "started it at {rollout}%",
    "advanced": "went on to {rollout}%",
    "held": "held it at {rollout}%",
    "resumed": "continued it at {rollout}%",
    "guardsEdited": "edited its guards",
    "rolledBack": "rolled it back to {rollout}%",
    "finished": "finished it at {rollout}%",
    "stopped": "stopped it at {rollout}%",
    "guardFired": "a guard broke",
    "guardUnknown": "a guard has no data",
    "guardOk": "a guard is ok again",
    "wouldHold": "would have held it, but the guard only records",
    "wouldRollBack": "would have rolled it back, but the guard only records",
}

router = Router(PageGuard, notices=NOTICES)


@router.get(RELEASE, needs=VIEW)
def show_release(
    context: Context, identity: Identity, name: str, environment: str, release_id: int
) -> Page:
    now = context.clock.now()
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
        row = releases.get(conn, target, release_id)
        event_rows = release_rows.list_events(conn, release_id)
        events = [releases.event_to_json(event) for event in event_rows]
        alert = find_alerts(conn, [row], identity).get(release_id)
        axis = make_axis(releases.to_json(row), events, now)
        history = guard_history.read_history(conn, row, axis.start, axis.last) if axis else {}
    release = make_release_view(row, now, can_edit=identity.has_permission(EDIT), alert=alert)
    log = [
        _describe_event(event, item["created_by_user_id"])
        for event, item in zip(events[::-1], event_rows[::-1], strict=True)
    ]
    if release["state"] == "finished":
        release["headline"] += describe_breaks(events)
    return Page(
        "releases/show",
        title=f"{name} in {environment}",
        breadcrumbs=[("Releases", "/admin/releases")],
        release=release,
        is_live=release["is_active"],
        chart=make_chart(release, events, axis, history) if axis else None,
        log=log,
        planned=_list_planned(release, now) if release["is_active"] else [],
        copy=_make_text(release, log) if release["state"] == "rolledBack" else "",
    )


@router.get(f"{RELEASE}/guards", needs=VIEW)
@router.get(f"{RELEASE}/log", needs=VIEW)
def move_tab(
    context: Context, identity: Identity, name: str, environment: str, release_id: int
) -> HTTPResponse:
    """Pages that are parts of the page of the release now."""
    path = join_path("/admin/features", name, "environments", environment, "releases", release_id)
    return respond.redirect(context, path, 301)


def _describe_event(event: Mapping[str, Any], actor_id: int | None) -> dict[str, Any]:
    text = LOG.get(event["type"], event["text"]).format(rollout=event["rollout"])
    actor = name_actor(event["actor"], actor_id)
    is_person = actor_id != SYSTEM_ID and event["type"] in LOG
    reason = (event["reason"] or "").strip()
    if reason and event["type"] in LOG:
        text += f": “{reason}”" if is_person else f": {reason}"
    return {
        "at": read_time(event),
        "actor": actor if is_person else "",
        "text": text if is_person else text[:1].upper() + text[1:],
    }


def _list_planned(release: Mapping[str, Any], now: datetime) -> list[dict[str, Any]]:
    """The steps to come, the last one first."""
    condition = ", if all guards are ok" if release["guards"] else ""
    steps = list_next_steps(release, now)
    texts = [f"{step.rollout}%{condition}" for step in steps[:-1]] + [f"finished{condition}"]
    return [{"at": step.at, "text": text} for step, text in zip(steps, texts, strict=True)][::-1]


def _make_text(release: Mapping[str, Any], log: Sequence[Mapping[str, Any]]) -> str:
    """The release as text for a postmortem, oldest first."""
    lines = [f"Release of {release['place']}: {release['headline']}"]
    for event in log[::-1]:
        lines.append(
            f"{readable(event['at'])}  {event['actor']} {event['text']}".replace("   ", "  ")
        )
    lines += [
        f"Guard {guard['name']}: {guard['word']}, {guard['now']}, {guard['effect']}"
        for guard in release["guard_rows"]
    ]
    return "\n".join(lines)
