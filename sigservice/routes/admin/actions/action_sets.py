"""Action sets of a project, JSON: list, create, update, delete, enable, re-enable; the kinds."""

import msgspec
from msgspec.structs import asdict

from sigservice.services.actions import action_sets, scheduled_sets
from sigservice.services.actions.action_choices import describe_kinds
from sigservice.services.actions.action_filters import Filter
from sigservice.services.actions.action_set_options import ActionSetOptions
from sigservice.services.actions.action_sets import Action, ActionSetFields, read_limits
from sigservice.services.actions.schedules import NO_ENDPOINT, Schedule
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.signals.payload_paths import MAX_PATH_LENGTH
from sigservice.web import AdminGuard, Connection, Context, Json, Router, respond

SETS = "/api/admin/projects/<project>/actions"
SET = f"{SETS}/<id:id>"


class MappedFilter(msgspec.Struct):
    """A filter of Unleash's map, whose key is the path."""

    operator: str
    value: str | int | float | bool | None = None
    values: list[str | int | float | bool] | None = None
    inverted: bool = False
    caseInsensitive: bool = False


class Match(msgspec.Struct, tag_field="source", tag="signal-endpoint"):
    """`payload` has one filter for each path, `filters` all others. All must match."""

    sourceId: int
    payload: dict[str, MappedFilter] = {}
    filters: list[Filter] = []


class ActionSetBody(msgspec.Struct):
    name: str
    actorId: int
    match: Match | Schedule
    actions: list[Action]
    enabled: bool | None = None
    description: str | None = None
    options: ActionSetOptions = msgspec.field(default_factory=ActionSetOptions)

    def to_fields(self) -> ActionSetFields:
        schedule = self.match if isinstance(self.match, Schedule) else None
        match = Match(NO_ENDPOINT) if isinstance(self.match, Schedule) else self.match
        filters = [
            Filter(path=path, **asdict(mapped) | {"values": mapped.values or None})
            for path, mapped in match.payload.items()
        ]
        paths = [f"match.payload.{path[:MAX_PATH_LENGTH]}" for path in match.payload]
        paths += [f"match.filters[{index}]" for index in range(len(match.filters))]
        return ActionSetFields(
            self.name.strip(),
            (self.description or "").strip() or None,
            self.enabled,
            self.actorId,
            match.sourceId,
            [*filters, *match.filters],
            self.actions,
            self.options,
            paths,
            schedule,
        )


router = Router(AdminGuard)


@router.get(SETS, needs=ADMIN)
def list_action_sets(conn: Connection, identity: Identity, project: str) -> Json:
    """`{"actions": [set]}`."""
    rows = action_sets.list_of_project(conn, project)
    return {"actions": [action_sets.to_json(row) for row in rows]}


@router.post(SETS, needs=ADMIN, takes=ActionSetBody)
def create_action_set(
    context: Context, identity: Identity, project: str, body: ActionSetBody
) -> Json:
    """Body: set. 201 set, `Location`; 409 if the name exists."""
    with context.database.transaction() as conn:
        row = action_sets.create(
            conn,
            project,
            body.to_fields(),
            identity,
            read_limits(context.config),
            context.clock.now(),
        )
    return respond.Created(
        action_sets.to_json(row), f"/api/admin/projects/{project}/actions/{row['id']}"
    )


@router.get(f"{SETS}/config", needs=ADMIN)
def list_action_kinds(conn: Connection, identity: Identity, project: str) -> Json:
    """Kinds of actions by name: label, parameters and the possible values in this project."""
    return describe_kinds(conn, project)


@router.get(SET, needs=ADMIN)
def show_action_set(conn: Connection, identity: Identity, project: str, id: int) -> Json:
    """Set."""
    return action_sets.to_json(action_sets.get(conn, project, id))


@router.put(SET, needs=ADMIN, takes=ActionSetBody)
def update_action_set(
    context: Context, identity: Identity, project: str, id: int, body: ActionSetBody
) -> Json:
    """Body: set; without `enabled` it stays unchanged. The new set."""
    with context.database.transaction() as conn:
        row = action_sets.update(
            conn,
            project,
            id,
            body.to_fields(),
            identity,
            read_limits(context.config),
            context.clock.now(),
        )
    return action_sets.to_json(row)


@router.delete(SET, needs=ADMIN)
def delete_action_set(conn: Connection, identity: Identity, project: str, id: int) -> None:
    """Keeps its runs."""
    action_sets.delete(conn, project, id, identity)


@router.post(f"{SET}/<is_enabled:switch>", needs=ADMIN)
def switch_action_set(
    context: Context, identity: Identity, project: str, id: int, is_enabled: bool
) -> Json:
    """Set; 409 if it is enabled after its only time."""
    with context.database.transaction() as conn:
        now = context.clock.now()
        row = action_sets.switch(conn, project, id, is_enabled, identity, now)
    return action_sets.to_json(row)


@router.post(f"{SET}/arm", needs=ADMIN)
def reenable_action_set(conn: Connection, identity: Identity, project: str, id: int) -> Json:
    """Set, enabled again after it has run once."""
    return action_sets.to_json(action_sets.reenable(conn, project, id, identity))


@router.get("/api/admin/projects/<project>/scheduled", needs=VIEW)
def list_scheduled(conn: Connection, identity: Identity, project: str) -> Json:
    """`{"scheduled": [{actionSetId, name, dueAt, cron, timezone, actions: [{action,
    executionParams}]}]}`: the enabled sets with a schedule that will run, next first; `cron` is
    null for a set that runs once."""
    rows = scheduled_sets.list_of_project(conn, project)
    return {"scheduled": [scheduled_sets.to_json(row) for row in rows]}
