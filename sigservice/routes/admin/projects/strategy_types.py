"""Admin API: strategy types."""

from sigservice.db.pool import Connection
from sigservice.repository.projects import strategy_types as strategy_type_rows
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.projects import strategy_types
from sigservice.services.projects.strategy_types import NewStrategyType, StrategyTypeChanges
from sigservice.web import AdminGuard, Json, Router, respond

PATH = "/api/admin/strategies"


router = Router(AdminGuard)


@router.get(PATH, needs=VIEW, autocommit=True)
def list_strategy_types(conn: Connection, identity: Identity) -> Json:
    rows = strategy_type_rows.list_all(conn)
    strategies = [strategy_types.to_json(row) for row in rows]
    return {"version": 1, "strategies": strategies}


@router.get(f"{PATH}/<name>", needs=VIEW, autocommit=True)
def get_strategy_type(conn: Connection, identity: Identity, name: str) -> Json:
    return strategy_types.to_json(strategy_types.get(conn, name))


@router.post(PATH, needs=EDIT, takes=NewStrategyType)
def create_strategy_type(conn: Connection, identity: Identity, body: NewStrategyType) -> Json:
    row = strategy_types.create(conn, body, identity)
    return respond.Created(strategy_types.to_json(row), f"{PATH}/{body.name}")


@router.put(f"{PATH}/<name>", needs=EDIT, takes=StrategyTypeChanges)
def update_strategy_type(
    conn: Connection, identity: Identity, name: str, body: StrategyTypeChanges
) -> Json:
    return strategy_types.to_json(strategy_types.update(conn, name, body, identity))


@router.delete(f"{PATH}/<name>", needs=EDIT)
def delete_strategy_type(conn: Connection, identity: Identity, name: str) -> None:
    strategy_types.delete(conn, name, identity)


@router.post(f"{PATH}/<name>/deprecate", needs=EDIT)
def deprecate_strategy_type(conn: Connection, identity: Identity, name: str) -> None:
    strategy_types.deprecate(conn, name, True, identity)


@router.post(f"{PATH}/<name>/reactivate", needs=EDIT)
def reactivate_strategy_type(conn: Connection, identity: Identity, name: str) -> None:
    strategy_types.deprecate(conn, name, False, identity)
