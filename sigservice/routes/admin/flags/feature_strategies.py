"""Strategies of a flag in an environment, JSON."""

import msgspec
from msgspec import UNSET

from sigservice.services import revisions
from sigservice.services.flags import constraints, strategies
from sigservice.services.flags.constraints import Constraint
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.flags.strategies import Strategy
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.problems import Problems
from sigservice.web import AdminGuard, Connection, Context, HTTPResponse, Json, Router, respond
from sigservice.web.json_patch import Patch, apply_patch

STRATEGIES = "/api/admin/projects/<project>/features/<name>/environments/<environment>/strategies"
LIMIT = "strategySegmentsLimit"


class SortOrder(msgspec.Struct):
    id: str
    sortOrder: int


router = Router(AdminGuard)


@router.get(STRATEGIES, needs=VIEW)
def list_strategies(conn: Connection, identity: Identity, target: FeatureEnvironment) -> Json:
    """`[strategy]`."""
    return strategies.list_strategies(conn, target)


@router.post(STRATEGIES, needs=EDIT, takes=Strategy)
def add_strategy(
    context: Context, identity: Identity, target: FeatureEnvironment, body: Strategy
) -> Json:
    """Body: strategy. Strategy with `id`."""
    limit = context.config[LIMIT]
    with context.database.transaction() as conn:
        return strategies.add(conn, target, body, identity, max_segments=limit)


@router.post(f"{STRATEGIES}/set-sort-order", needs=EDIT, takes=list[SortOrder])
def sort_strategies(
    conn: Connection, identity: Identity, target: FeatureEnvironment, body: list[SortOrder]
) -> None:
    """Body: `[{id, sortOrder}]`."""
    problems = Problems()
    for n, order in enumerate(body):
        if not -(2**31) <= order.sortOrder < 2**31:
            problems.add(f"[{n}].sortOrder", "The sort order must be a 32-bit integer.")
    problems.raise_if_any()
    orders = {order.id: order.sortOrder for order in body}
    strategies.sort(conn, target, orders, identity)


@router.get(f"{STRATEGIES}/<id>", needs=VIEW)
def show_strategy(
    conn: Connection, identity: Identity, target: FeatureEnvironment, id: str
) -> Json:
    """Strategy."""
    return strategies.get(conn, target, id)


@router.put(f"{STRATEGIES}/<id>", needs=EDIT, takes=Strategy)
def replace_strategy(
    context: Context, identity: Identity, target: FeatureEnvironment, id: str, body: Strategy
) -> Json:
    """Body: strategy; absent `title`, `disabled`, `sortOrder` stay unchanged. Strategy."""
    limit = context.config[LIMIT]
    with context.database.transaction() as conn:
        return strategies.replace(conn, target, id, body, identity, max_segments=limit)


@router.patch(f"{STRATEGIES}/<id>", needs=EDIT, takes=Patch)
def patch_strategy(
    context: Context, identity: Identity, target: FeatureEnvironment, id: str, body: Patch
) -> Json:
    """Body: JSON Patch. Strategy."""
    limit = context.config[LIMIT]
    with context.database.transaction() as conn:
        revisions.lock(conn)  # nothing changes between the read and the write
        new = apply_patch(body, strategies.get(conn, target, id), Strategy)
        if new.title is UNSET:  # the patch removed it
            new.title = None
        return strategies.replace(conn, target, id, new, identity, max_segments=limit)


@router.delete(f"{STRATEGIES}/<id>", needs=EDIT)
def delete_strategy(
    conn: Connection, identity: Identity, target: FeatureEnvironment, id: str
) -> None:
    """Deleting the last active strategy disables the flag there."""
    strategies.remove(conn, target, id, identity)


@router.post("/api/admin/constraints/validate", needs=VIEW, takes=Constraint)
def validate_constraint(context: Context, identity: Identity, body: Constraint) -> HTTPResponse:
    """Body: constraint. 204 or 400."""
    problems = Problems()
    constraints.check_one(body, problems)
    problems.raise_if_any()
    return respond.empty(204)
