"""Releases of a flag in an environment, JSON: list, create, preview, read, events, commands."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sigservice.db import Connection, Row
from sigservice.repository.releases.releases import read_time
from sigservice.repository.rules import metric_sources
from sigservice.routes.admin.rules.metric_sources import make_client
from sigservice.senders import list_external
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.releases import release_commands, releases
from sigservice.services.releases.guard_edits import GuardChanges, edit_guards
from sigservice.services.releases.guard_queries import (
    ask_queries,
    fill_rules,
    list_conditions,
    preview_queries,
)
from sigservice.services.releases.guard_signals import SenderDefaults, read_guard_signals
from sigservice.services.releases.plans import Guard
from sigservice.services.releases.release_commands import CommandBody
from sigservice.services.releases.release_guards import Readings
from sigservice.services.releases.releases import NewRelease, Surroundings
from sigservice.services.rules.rule_conditions import ImpactMetric, PrometheusQuery, fill_query
from sigservice.services.rules.rule_preview import preview_stored
from sigservice.services.rules.rule_readings import measure, read_each
from sigservice.web import AdminGuard, Context, Json, Router, read_query, request, respond
from sigservice.web.links import make_own_url

PLACE = "/api/admin/projects/<project>/features/<name>/environments/<environment>"
RELEASES = f"{PLACE}/releases"
RELEASE = f"{RELEASES}/<id:id>"

router = Router(AdminGuard)


def read_surroundings(context: Context, readings: Readings | None = None) -> Surroundings:
    """What the service adds to a new release."""
    return Surroundings(context.clock, find_defaults, readings or Readings())


def store_release(
    context: Context, target: FeatureEnvironment, body: NewRelease, identity: Identity
) -> Row:
    """Creates it. Raises NotFoundError, ConflictError, BadDataError."""
    readings = read_for_guards(context, target, body.guards, identity)
    surroundings = read_surroundings(context, readings)
    with context.database.transaction() as conn:
        id = releases.create(conn, target, body, identity, surroundings)
        return releases.read(conn, target, id)


def store_guards(
    context: Context, target: FeatureEnvironment, id: int, body: GuardChanges, identity: Identity
) -> Row:
    """Replaces the guards of a release. Raises NotFoundError, ConflictError, BadDataError."""
    readings = read_for_guards(context, target, body.guards, identity)
    surroundings = read_surroundings(context, readings)
    with context.database.transaction() as conn:
        edit_guards(conn, target, id, body, identity, surroundings)
        return releases.read(conn, target, id)


def read_for_guards(
    context: Context,
    target: FeatureEnvironment,
    guards: Sequence[Guard],
    by: Identity,
    *,
    is_preview: bool = False,
) -> Readings:
    """What the metric sources and impact metrics of the guards say, and what the stored signals say
    to them. Call it outside of transactions, because all of it can take long."""
    with context.database.transaction() as conn:
        fill_rules(conn, guards)
        conditions = list_conditions(guards)
        queries = {
            index: fill_query(condition, asdict(target))
            for index, condition in conditions.items()
            if isinstance(condition.source, PrometheusQuery)
        }
        own = {index: conditions[index] for index in conditions if index not in queries}
        metrics = {i: rule for i, rule in own.items() if isinstance(rule.source, ImpactMetric)}
        is_admin = by.has_permission(ADMIN)  # and may use any filter
        existing = [] if is_admin else releases.list_guards_of_flag(conn, target)
        signals = read_guard_signals(conn, guards, existing, by, find_defaults)
        readings = Readings(signals=signals)
        if not conditions:
            return readings
        sources = {row["name"]: row for row in metric_sources.list_all(conn)} if queries else {}
        now = read_time(conn, context.clock.fixed_now)
        if is_preview:
            previews = {index: preview_stored(conn, rule, now) for index, rule in own.items()}
        elif metrics:
            slices = read_each(conn, [*metrics.values()], None, now)
            values = [measure(*pair, now) for pair in zip(metrics.values(), slices, strict=True)]
            readings = readings._replace(metrics=dict(zip(metrics, values, strict=True)))
    client = make_client(context)
    if is_preview:
        previews |= preview_queries(client, sources, queries, now)
        return readings._replace(previews=previews)
    return readings._replace(answers=ask_queries(client, sources, queries, now))


def find_defaults(template: str) -> SenderDefaults | None:
    sender = list_external().get(template)
    if sender is None:
        return None
    resolved = sender.action_set_options.restoreWhenResolved
    return SenderDefaults(sender.filters, resolved, sender.times)


def _describe(context: Context, row: Row) -> dict[str, Any]:
    page = f"{row['feature']}/environments/{row['environment']}/releases/{row['id']}"
    url = f"{make_own_url(context, request.environ)}/admin/features/{page}"
    return releases.to_json(row) | {"url": url}


@router.get("/api/admin/releases", needs=VIEW)
def list_all_releases(context: Context, identity: Identity) -> Json:
    """Query: `state`, `project`. `{"releases": [release]}`, newest first."""
    query = read_query(request.environ)
    with context.database.transaction() as conn:
        rows = releases.list_all(
            conn, state=query.get("state") or None, project=query.get("project") or None
        )
    return {"releases": [_describe(context, row) for row in rows]}


@router.get(RELEASES, needs=VIEW)
def list_releases(context: Context, identity: Identity, target: FeatureEnvironment) -> Json:
    """`{"releases": [release]}`, newest first."""
    with context.database.transaction() as conn:
        rows = releases.list_of_flag(conn, target)
    return {"releases": [_describe(context, row) for row in rows]}


@router.post(RELEASES, needs=EDIT, takes=NewRelease)
def create_release(
    context: Context, identity: Identity, target: FeatureEnvironment, body: NewRelease
) -> Json:
    """Body: release. 201 release, `Location`; 409 if one is scheduled, running or held there."""
    row = store_release(context, target, body, identity)
    return respond.Created(
        _describe(context, row), f"{request.path.removeprefix(context.base)}/{row['id']}"
    )


@router.post(f"{RELEASES}/preview", needs=EDIT, takes=NewRelease)
def preview_release(
    context: Context, identity: Identity, target: FeatureEnvironment, body: NewRelease
) -> Json:
    """Body: release. `{warnings, guards: [{kind, state, value, limit, samples, reason, series:
    [{at, value, samples, firing, reason}]}], shortestStepMinutes}`: what the guards would have done
    in the last 48 hours; stores nothing."""
    readings = read_for_guards(context, target, body.guards, identity, is_preview=True)
    with context.database.transaction() as conn:
        result = releases.preview(conn, target, body, read_surroundings(context, readings))
    return result


@router.get(RELEASE, needs=VIEW)
def show_release(context: Context, identity: Identity, target: FeatureEnvironment, id: int) -> Json:
    """Release."""
    with context.database.transaction() as conn:
        row = releases.get(conn, target, id)
    return _describe(context, row)


@router.get(f"{RELEASE}/plan", needs=VIEW)
def show_plan(conn: Connection, identity: Identity, target: FeatureEnvironment, id: int) -> Json:
    """A body with which a release like this one can be started, from its next step on."""
    return releases.make_plan(releases.get(conn, target, id))


@router.get(f"{RELEASE}/events", needs=VIEW)
def list_release_events(
    conn: Connection, identity: Identity, target: FeatureEnvironment, id: int
) -> Json:
    """`{"events": [{id, createdAt, type, step, rollout, actor, reason, text, guard: {id, kind,
    value, limit, samples, from, to, signalId?}}]}`, oldest first; `signalId` is the signal that
    fired a signal guard."""
    items = releases.list_events(conn, target, id)
    return {"events": items}


@router.put(f"{RELEASE}/guards", needs=EDIT, takes=GuardChanges)
def replace_guards(
    context: Context, identity: Identity, target: FeatureEnvironment, id: int, body: GuardChanges
) -> Json:
    """Body: `{guards: [guard], guardIds?, step?, reason?}`. Release with these guards. 409 if it
    has ended, or if `guardIds` (the IDs of the guards) or `step` aren't the present ones."""
    return _describe(context, store_guards(context, target, id, body, identity))


@router.post(f"{RELEASE}/<command>", needs=EDIT, takes=CommandBody, optional_body=True)
def run_command(
    context: Context,
    identity: Identity,
    target: FeatureEnvironment,
    id: int,
    command: str,
    body: CommandBody,
) -> Json:
    """Body: none, or `{step?, reason?, adopt?}`. Release; `{command}` is `start`, `hold`, `resume`,
    `advance`, `rollback` or `stop`; 409 if the state doesn't allow it, or if `step` isn't the
    present one."""
    with context.database.transaction() as conn:
        row = release_commands.run_command(conn, target, id, command, body, identity, context.clock)
    return _describe(context, row)
