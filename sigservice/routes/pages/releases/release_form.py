"""The form of a new release, and what would have happened in the last two days."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sigservice.errors import BadDataError
from sigservice.repository.projects import environments
from sigservice.repository.releases import releases as release_rows
from sigservice.repository.rules import metric_sources
from sigservice.repository.signals import signal_endpoints
from sigservice.repository.transfer import definitions
from sigservice.routes.admin.releases.releases import (
    find_defaults,
    read_for_guards,
    read_surroundings,
    store_release,
)
from sigservice.routes.pages.flag_questions import LEAVE, settle_alerts
from sigservice.routes.pages.flags.feature_page import find_target
from sigservice.routes.pages.releases import release_form_fields as fields
from sigservice.routes.pages.releases import release_form_values as values
from sigservice.routes.pages.releases.guard_proposals import (
    MAX_SHOWN,
    describe_proposals,
    is_query,
    list_proposals,
)
from sigservice.routes.pages.releases.release_form_fields import GuardChoices
from sigservice.routes.pages.releases.releases import PLACE, make_breadcrumbs, name_strategy
from sigservice.services.flags import feature_switches, strategies
from sigservice.services.flags.feature_states import FeatureEnvironment, get_state
from sigservice.services.identity import EDIT, Identity
from sigservice.services.releases import release_guards, releases
from sigservice.services.releases.edits import ROLLOUT_TYPE
from sigservice.services.releases.step_patterns import CAREFUL, PATTERNS
from sigservice.web import Connection, Context, Page, PageGuard, Router, Row, read_query, request
from sigservice.web.form_pages import shows_errors_in
from sigservice.web.forms import (
    NO_ENTRY,
    Entry,
    Form,
    fill,
    find_rows,
    make_choices,
    read_id,
    read_whole_number,
)
from sigservice.web.growing_forms import GROWING_FORM
from sigservice.web.helpers import join_path
from sigservice.web.links import flag_path
from sigservice.wording import spell_duration

NEW = f"{PLACE}/new"
MAX_SUGGESTED = 1000  # names of flags
BUTTONS = (values.ADD, values.USE)

router = Router(PageGuard)


@router.get("/admin/releases/new", needs=EDIT)
def choose_flag(conn: Connection, identity: Identity) -> Page | str:
    """Leads to the form of the flag and environment of the query."""
    query = read_query(request.environ)
    name, environment = query.get("flag", "").strip(), query.get("environment", "")
    names = definitions.list_feature_names(conn)
    places = environments.list_enabled_names(conn)
    error = None
    if "flag" in query and name not in names:
        error = BadDataError("There is no flag with this name.", path="flag")
    elif "flag" in query and environment not in places:
        error = BadDataError("There is no such environment.", path="environment")
    elif "flag" in query:
        place = ("/admin/features", name, "environments", environment, "releases", "new")
        return join_path(*place)
    return Page(
        "releases/new",
        form_error=error,
        title="New release",
        breadcrumbs=[("Releases", "/admin/releases")],
        fields=fill(fields.make_flag_fields(places), query),
        names=names[:MAX_SUGGESTED],
    )


@router.get(NEW, needs=EDIT)
def show_new_release(
    context: Context,
    identity: Identity,
    name: str,
    environment: str,
    entry: Entry = NO_ENTRY,
) -> Page:
    now, form = context.clock.now(), entry.form
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
        state = get_state(conn, target)
        rollouts = _list_rollouts(conn, target)
        endpoints = {row["id"]: row["name"] for row in signal_endpoints.list_all(conn)}
        sources = make_choices(row["name"] for row in metric_sources.list_all(conn))
        last = _find_last(conn, target, read_id(read_query(request.environ).get("like", "")))
        proposals = list_proposals(conn, target, last, identity, form)
        propagation = release_rows.find_propagation_seconds(conn, environment)
    present = _read_present(rollouts, form)
    if not form and "like" in read_query(request.environ) and last:
        form = values.make_form(releases.make_plan(last))
    form = form or values.make_new_form(CAREFUL.steps, present)
    form = values.apply_button(form, environment, present)
    is_preview = form.get("do") == "preview"
    previews = _preview_proposals(context, target, proposals, identity, sends_queries=is_preview)
    rows = describe_proposals(proposals, previews, endpoints, now)
    ticked = [item["guard"] for item in proposals if item["is_ticked"]]
    choices = GuardChoices([(str(id), name) for id, name in endpoints.items()], sources)
    return Page(
        "releases/form",
        title=f"Release {name} in {environment}",
        heading=f"Release {name} in {environment}",
        breadcrumbs=make_breadcrumbs(name),
        path=flag_path(name),
        present=present,
        patterns=[pattern.name for pattern in PATTERNS],
        summary=_summarize_steps(
            form, present, release_guards.find_shortest_minutes(ticked, propagation)
        ),
        proposals=rows[:MAX_SHOWN],
        other_proposals=rows[MAX_SHOWN:],
        turn_on=[] if state["enabled"] else fill([fields.TURN_ON_FIELD], {"turnOn": "on"} | form),
        strategy=fields.make_strategy_field(
            [(strategy["id"], name_strategy(strategy)) for strategy in rollouts], form
        ),
        **{
            key: fill(items, form)
            for key, items in (
                ("steps", [fields.STEPS_FIELD]),
                ("start", fields.START_FIELDS),
                ("when", [fields.WHEN_FIELD]),
                ("reason", [fields.REASON_FIELD]),
                ("more", fields.MORE_FIELDS),
                ("days", fields.DAY_FIELDS),
                ("hours", [*fields.HOUR_FIELDS, fields.ZONE_FIELD]),
            )
        },
        guards=fields.make_guards_section(form, choices),
        is_open=entry.error is not None or bool(find_rows(form, "guards")),
    )


@router.post(NEW, needs=EDIT, **GROWING_FORM)
@shows_errors_in(show_new_release)
def create_release(
    context: Context, identity: Identity, name: str, environment: str, form: Form
) -> Page | str:
    do = form.get("do", "")
    if do.startswith(BUTTONS):
        return show_new_release(context, identity, name, environment, Entry(form))
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
        present = _read_present(_list_rollouts(conn, target), form)
    body = values.read_body(form, environment, present)
    if do == "preview":
        readings = read_for_guards(context, target, body.guards, identity, is_preview=True)
        with context.database.transaction() as conn:
            releases.preview(conn, target, body, read_surroundings(context, readings))
        return show_new_release(context, identity, name, environment, Entry(form))
    if "turnOn" in form and body.startAt:
        message = "It turns on now only if the release starts now: plan the change of the flag too."
        raise BadDataError(message, path="turnOn")
    now, back = context.clock.now(), flag_path(name)
    if "turnOn" in form and "alert" not in form:  # asks before anything is stored
        with context.database.transaction() as conn:
            settle_alerts(conn, identity, form, [target], now, back)
    row = store_release(context, target, body, identity)
    if "turnOn" in form:
        by, answers = replace(identity, reason=body.reason), {"alert": LEAVE} | form
        with context.database.transaction() as conn:
            if settle_alerts(conn, by, answers, [target], now, back):
                feature_switches.switch(conn, target, True, by)
    path = join_path("/admin/features", name, "environments", environment, "releases", row["id"])
    return f"{path}?done=release-created"


def _find_last(conn: Connection, target: FeatureEnvironment, like: int) -> Row | None:
    """The release whose plan is taken, by default the last one of the flag there."""
    if like:
        return releases.get(conn, target, like)
    return next(iter(releases.list_of_flag(conn, target)), None)


def _list_rollouts(conn: Connection, target: FeatureEnvironment) -> list[dict[str, Any]]:
    existing = strategies.list_strategies(conn, target)
    return [strategy for strategy in existing if strategy["name"] == ROLLOUT_TYPE]


def _read_present(rollouts: Sequence[Mapping[str, Any]], form: Form) -> int:
    """The percentage of the choices strategy, or of the first."""
    choices = [item for item in rollouts if item["id"] == form.get("strategyId")] or rollouts
    text = str(choices[0]["parameters"].get("rollout", "")) if choices else ""
    return int(text) if text.isdecimal() else 0


def _preview_proposals(
    context: Context,
    target: FeatureEnvironment,
    proposals: Sequence[Mapping[str, Any]],
    by: Identity,
    *,
    sends_queries: bool,
) -> dict[int, dict[str, Any]]:
    """Of those that are shown, by position. Queries are only sent by a button."""
    rows = [
        (number, item["guard"])
        for number, item in enumerate(proposals[:MAX_SHOWN])
        if sends_queries or not is_query(item["guard"])
    ]
    guards = [guard for _, guard in rows]
    readings = read_for_guards(context, target, guards, by, is_preview=True)
    with context.database.transaction() as conn:
        previews = release_guards.preview_each(
            conn, guards, find_defaults, readings, context.clock.now()
        )
    return {rows[position][0]: preview for position, preview in previews.items()}


def _summarize_steps(form: Form, present: int, shortest: int) -> str:
    """Such as `50% → 60% → 100%, then watched 1 h. Done in 2 h 20 min at the earliest`."""
    try:
        steps = values.parse_steps(form.get("steps", ""), present)
    except BadDataError:
        return ""
    watched = read_whole_number(form.get("watchMinutes", ""), 0)
    total = sum(step.minutes or 0 for step in steps) + max(0, watched)
    rollouts = " → ".join(f"{number}%" for number in (present, *(step.rollout for step in steps)))
    return (
        f"{rollouts}, then watched {spell_duration(timedelta(minutes=max(0, watched)))}. "
        f"Done in {spell_duration(timedelta(minutes=total))} at the earliest; "
        f"a step needs at least {shortest} min here."
    )
