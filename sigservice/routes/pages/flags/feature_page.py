"""The page of one flag, to which every form on it redirects."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode

from sigservice.db import Connection, Row
from sigservice.errors import require_found
from sigservice.repository.flags import feature_environments, segments
from sigservice.repository.flags import features as feature_rows
from sigservice.repository.projects import projects
from sigservice.repository.releases import releases
from sigservice.repository.system import events
from sigservice.repository.system.events import EventFilter
from sigservice.routes.pages.flags import feature_fields
from sigservice.routes.pages.flags.environment_cards import EVERYONE, make_card, summarize_defaults
from sigservice.routes.pages.flags.feature_table import make_cell, read_causes
from sigservice.routes.pages.flags.flag_reasons import explain_user
from sigservice.routes.pages.release_alerts import find_alerts
from sigservice.routes.pages.release_views import NOTICES as RELEASE_NOTICES
from sigservice.routes.pages.release_views import is_recent, make_release_view
from sigservice.services import strategy_summaries
from sigservice.services.actions import held_flags, scheduled_sets
from sigservice.services.flags import dependencies, feature_view, features
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.flags.removal import list_removals
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.system import events as event_service
from sigservice.web import Context, Page, PageGuard, Router, read_query, request, respond
from sigservice.web.body import read_number
from sigservice.web.event_views import list_event_views
from sigservice.web.forms import NO_ENTRY, Entry, Form, fill, to_form
from sigservice.web.helpers import join_path
from sigservice.web.links import flag_path, make_own_url
from sigservice.web.respond import Undo
from sigservice.web.usage_charts import PERIODS, read_usage
from sigservice.wording import plural

FLAG = "/admin/features/<name>"
TABLE = "flag-table"
MAX_EVENTS = 30
MAX_HISTORY = 6  # of them
MAX_ALERTS = 20
MAX_SWITCHES = 50
SWITCHES = ("feature-environment-enabled", "feature-environment-disabled")
MAX_PARENTS = 200
MAX_RELEASES = 100  # of which the newest of each environment are shown
NOTICES = {
    "created": "Flag created. It's disabled in every environment.",
    "saved": "Flag saved.",
    "cloned": "Flag cloned; the clone is disabled in every environment.",
    "on": "Flag enabled.",
    "off": "Flag disabled.",
    "archived": "Flag archived.",
    "revived": "Flag revived; disabled in every environment.",
    "deleted": "Flag permanently deleted.",
    "strategy-saved": "Strategy saved.",
    "strategy-moved": "Strategy moved.",
    "strategy-enabled": "Strategy enabled.",
    "strategy-disabled": "Strategy disabled.",
    "strategy-copied": "Strategy copied.",
    "strategy-removed": "Strategy removed.",
    "tagged": "Tag added.",
    "untagged": "Tag removed.",
    "permanent": "Flag marked permanent.",
    "parent": "Parent flag added.",
    "no-parent": "Parent flag removed.",
    "scheduled": "Change scheduled.",
    "kept-off": "It stays off when the alert resolves, until a user turns it on.",
    "doing": "The change runs now.",
} | RELEASE_NOTICES
BULK_CHANGES = {
    "archive": "archived",
    "revive": "revived; disabled in every environment",
    "tag": "tagged",
    "permanent": "marked permanent",
    "on": "turned on",
    "off": "turned off",
}
_NAME = re.compile(r"[A-Za-z0-9._~-]{1,100}")

router = Router(PageGuard)


def find_notice() -> str:
    """The message after a redirect, in parameters that begin with `done`: app.js removes them from
    the address. It names the flag and the environment if the query has names and no other text,
    which a link could otherwise put into the page."""
    query = read_query(request.environ)
    names = [query.get("done.flag", ""), query.get("done.in", "")]
    if query.get("done") in ("on", "off") and all(map(_NAME.fullmatch, names)):
        return f"{'Enabled' if query['done'] == 'on' else 'Disabled'} {' in '.join(names)}."
    if query.get("done") == "bulk" and query.get("done.change") in BULK_CHANGES:
        count = read_number(query, "done.count", 1, 1, 50) or 1
        return f"{plural(count, 'flag')} {BULK_CHANGES[query['done.change']]}."
    return respond.find_notice(NOTICES)


def find_undo(swap: str, back: str = "") -> Undo | None:
    """The form that takes back the switch, or revives the flags, that a redirect names; `back` is
    the query string of the flag list that shows it. None for another notice, and for the one of an
    undo."""
    query = read_query(request.environ)
    if query.get("done") == "bulk" and query.get("done.archived"):
        archived = query["done.archived"].split(",")
        fields = {f"flag.{name}": "on" for name in archived if _NAME.fullmatch(name)}
        fields |= {"change": "revive", "back": back}
        return Undo("/admin/features", swap, fields, "Revive")
    names = [query.get("done.flag", ""), query.get("done.in", "")]
    if query.get("done") not in ("on", "off") or not all(map(_NAME.fullmatch, names)):
        return None
    if query.get("done.undone"):
        return None
    state = "off" if query["done"] == "on" else "on"
    path = join_path("/admin/features", names[0], "environments", names[1], state)
    place = {"back": back} if swap == TABLE else {"usage": _find_usage_query()}
    fields = {"confirmed": "on", "undone": "yes"} | place
    return Undo(path, swap, fields)


def find_feature(conn: Connection, name: str) -> Row:
    """The flag in whichever project. Raises NotFoundError."""
    return require_found(feature_rows.find(conn, name), f"Flag {name} not found.")


def find_target(conn: Connection, name: str, environment: str) -> FeatureEnvironment:
    """Raises NotFoundError for an unknown flag."""
    return FeatureEnvironment(find_feature(conn, name)["project"], name, environment)


def list_path(back: str, **changes: str) -> str:
    """The flag list with the filters of the query string `back`."""
    return f"/admin/features?{urlencode(dict(parse_qsl(back[:2000])) | changes)}"


def card_path(name: str, environment: str, form: Form, **changes: str) -> str:
    """The environment on the page of the flag, with the chart that the submitted form names."""
    query = dict(parse_qsl(form.get("usage", "")[:2000])) | {"env": environment} | changes
    return f"{flag_path(name)}?{urlencode(query)}#in-{environment}"


def _find_usage_query() -> str:
    """The part of the query string that chooses what the chart shows."""
    query = read_query(request.environ)
    return urlencode({"usage": query["usage"]} if "usage" in query else {})


# The second address is for a flag with the name "new".
@router.get(FLAG, needs=VIEW)
@router.get(f"{FLAG}/flag", needs=VIEW)
def show_feature(context: Context, identity: Identity, name: str, entry: Entry = NO_ENTRY) -> Page:
    """`entry` is one of the forms on the page."""
    now, query = context.clock.now(), read_query(request.environ)
    can_edit = identity.has_permission(EDIT)
    with context.database.transaction() as conn:
        row = find_feature(conn, name)
        feature = feature_view.build_view(conn, row["project"], name, identity.user_id)
        environment = _choose_environment(feature, query.get("env", ""))
        place = environment["name"] if environment else ""
        usage = read_usage(conn, name, query)
        filter = event_service.restrict_to_readable(identity, EventFilter(features=[name]))
        event_rows = events.list_newest(conn, filter, limit=MAX_EVENTS)
        switches = events.list_newest(
            conn, EventFilter(features=[name], types=[*SWITCHES]), limit=MAX_SWITCHES
        )
        items = environment["strategies"] if environment else []
        segment_ids = {id for strategy in items for id in strategy["segments"]}
        segment_names = {s["id"]: s["name"] for s in segments.list_by_id(conn, [*segment_ids])}
        tags = [f"{tag['type']}:{tag['value']}" for tag in feature["tags"]]
        scheduled = scheduled_sets.list_views_of_flag(conn, row["project"], name, tags)
        parents: list[str] = []
        if not (row["archived_at"] or feature["children"]):  # a parent has no parent itself
            parents = dependencies.list_possible_parents(conn, row["project"], name)[:MAX_PARENTS]
        types = feature_rows.list_types(conn)
        alerts = held_flags.list_held_flags(conn, identity, limit=MAX_ALERTS, features=[name])
        release_rows = [r for r in _list_releases(conn, name, now) if r["environment"] == place]
        release_alerts = find_alerts(conn, release_rows, identity)
        views = list_event_views(conn, event_rows, flag_path(name))
        causes = read_causes(conn)
        url = make_own_url(context, request.environ) + "/admin/features"
        removals = list_removals(conn, context.config["staleFlagDays"], now, [name], url)
        titles = {item["id"]: item["name"] for item in projects.list_names(conn)}
        defaults = summarize_defaults(conn, row["project"])
        off_parents = _list_off_parents(conn, feature["dependencies"], place)
    release = next(
        (
            make_release_view(
                item,
                now,
                can_edit=can_edit,
                back="flag",
                alert=release_alerts.get(item["id"]),
            )
            for item in release_rows
        ),
        None,
    )
    card = environment and make_card(
        feature,
        environment,
        segment_names,
        now,
        alerts=alerts,
        switches=switches,
        release=release,
        scheduled=scheduled,
        parents=off_parents,
        default=defaults.get(place, EVERYONE),
    )
    texts, open_form = entry.form, _name_form(entry.form)
    details = texts if open_form == "Edit" else to_form(features.to_json(row))
    fields = {
        key.removeprefix("context."): text
        for key, text in query.items()
        if key.startswith("context.")
    }
    user = query.get("user", "").strip()
    reason = (
        explain_user(context, name, place, {**fields, "userId": user}) if user and place else None
    )
    return Page(
        "flags/features/show",
        title=f"{open_form or 'Flag'} {name}",
        open_form=open_form or ("Clone" if "clone" in query else ""),
        notice=find_notice(),
        undo=find_undo(f"in-{query.get('done.in', '')} events"),
        breadcrumbs=[("Flags", "/admin/features")],
        row=row,
        feature=feature,
        type_name=next((t["name"] for t in types if t["id"] == row["type"]), row["type"]),
        project_name=titles.get(row["project"], row["project"]),
        tags=tags,
        path=f"/admin/features/{name}",
        flag_path=flag_path,
        can_edit=can_edit and not row["archived_at"],
        environment=card,
        strip=[
            make_cell(feature, state, state["strategies"], causes, {})
            for state in feature["environments"]
        ],
        chart=usage.make_chart(place, now),
        periods=[(key, period.label) for key, period in PERIODS.items()],
        period=usage.period,
        usage_query=_find_usage_query(),
        user=user,
        user_fields=fields,
        reason=reason,
        removal=removals.get(name),
        dependencies=[
            dependency | {"summary": strategy_summaries.summarize_parent(dependency)}
            for dependency in feature["dependencies"]
        ],
        parents=parents,
        parent_fields=fill(feature_fields.PARENT_FIELDS, texts),
        tag_fields=fill([feature_fields.TAG_FIELD], texts),
        edit_fields=fill(feature_fields.make_edit_fields(types), details),
        clone_fields=fill([feature_fields.CLONE_FIELD], texts),
        events=_list_history(views, card),
    )


def _choose_environment(feature: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """The one with this name, or the first of the type production, or the first."""
    items = feature["environments"]
    by_name = (item for item in items if item["name"] == name)
    production = (item for item in items if item["type"] == "production")
    return next(by_name, None) or next(production, None) or next(iter(items), None)


def _list_off_parents(
    conn: Connection, parents: Sequence[Mapping[str, Any]], environment: str
) -> list[str]:
    """The parents that must be on, and are off in the environment."""
    names = [parent["feature"] for parent in parents if parent["enabled"]]
    return [
        state["feature"]
        for state in (feature_environments.list_states(conn, names) if names else [])
        if state["environment"] == environment and not state["enabled"]
    ]


def _list_history(views: Sequence[Row], card: Mapping[str, Any] | None) -> list[Row]:
    """The newest events of the environment and of the flag itself; `undone_by` is what takes back
    a change that still is the state: `run` or `switch`, else ""."""
    place = card["name"] if card else None
    rows = [view for view in views if view["environment"] in (None, place)][:MAX_HISTORY]
    change = card["change"] if card else None
    alert = card["alert"] if card else None
    for view in rows:
        is_state = change is not None and view["id"] == change["id"]
        way = "run" if card and alert and not card["enabled"] else "switch"
        view["undone_by"] = way if is_state else ""
    return rows


def _list_releases(conn: Connection, name: str, now: datetime) -> list[Row]:
    """The newest of each environment, unless it ended long ago."""
    rows = releases.list_newest(conn, feature=name, limit=MAX_RELEASES)
    newest = {row["environment"]: row for row in reversed(rows)}
    return [row for row in newest.values() if is_recent(row, now)]


def _name_form(form: Form) -> str:
    """Which form of the page was submitted, by a field that only this one has."""
    forms = {"tag": "Tag", "feature": "Parent", "name": "Clone", "type": "Edit"}
    return next((label for name, label in forms.items() if name in form), "")
