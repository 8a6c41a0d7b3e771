"""Admin API: the types of strategies, tags and flags."""

from sigservice.repository.projects import feature_types as feature_type_rows
from sigservice.repository.projects import strategy_types as strategy_type_rows
from sigservice.repository.projects import tag_types as tag_type_rows
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.projects import feature_types, strategy_types, tag_types
from sigservice.services.projects.feature_types import Lifetime
from sigservice.services.projects.strategy_types import NewStrategyType, StrategyTypeChanges
from sigservice.services.projects.tag_types import TagType, TagTypeChanges
from sigservice.web import AdminGuard, Connection, Json, Router, respond

STRATEGIES = "/api/admin/strategies"
TAG_TYPES = "/api/admin/tag-types"
FLAG_TYPES = "/api/admin/feature-types"

router = Router(AdminGuard)


@router.get(STRATEGIES, needs=VIEW, autocommit=True)
def list_strategy_types(conn: Connection, identity: Identity) -> Json:
    """`{"version": 1, "strategies": [type]}`."""
    rows = strategy_type_rows.list_all(conn)
    strategies = [strategy_types.to_json(row) for row in rows]
    return {"version": 1, "strategies": strategies}


@router.get(f"{STRATEGIES}/<name>", needs=VIEW, autocommit=True)
def get_strategy_type(conn: Connection, identity: Identity, name: str) -> Json:
    """Type."""
    return strategy_types.to_json(strategy_types.get(conn, name))


@router.post(STRATEGIES, needs=EDIT, takes=NewStrategyType)
def create_strategy_type(conn: Connection, identity: Identity, body: NewStrategyType) -> Json:
    """Body: `{name, parameters, title?, description?}`. 201 type."""
    row = strategy_types.create(conn, body, identity)
    return respond.Created(strategy_types.to_json(row), f"{STRATEGIES}/{body.name}")


@router.put(f"{STRATEGIES}/<name>", needs=EDIT, takes=StrategyTypeChanges)
def update_strategy_type(
    conn: Connection, identity: Identity, name: str, body: StrategyTypeChanges
) -> Json:
    """Body: as create without the name. 403 for a built-in one."""
    return strategy_types.to_json(strategy_types.update(conn, name, body, identity))


@router.delete(f"{STRATEGIES}/<name>", needs=EDIT)
def delete_strategy_type(conn: Connection, identity: Identity, name: str) -> None:
    """403 for a built-in one; 409 while flags or projects use it."""
    strategy_types.delete(conn, name, identity)


@router.post(f"{STRATEGIES}/<name>/deprecate", needs=EDIT)
def deprecate_strategy_type(conn: Connection, identity: Identity, name: str) -> None:
    """The type keeps working but is not offered; 403 for `default`."""
    strategy_types.deprecate(conn, name, True, identity)


@router.post(f"{STRATEGIES}/<name>/reactivate", needs=EDIT)
def reactivate_strategy_type(conn: Connection, identity: Identity, name: str) -> None:
    """The type is offered again."""
    strategy_types.deprecate(conn, name, False, identity)


@router.get(TAG_TYPES, needs=VIEW, autocommit=True)
def list_tag_types(conn: Connection, identity: Identity) -> Json:
    """`{"version": 1, "tagTypes": [{name, description, icon, color}]}`."""
    return {"version": 1, "tagTypes": tag_type_rows.list_all(conn)}


@router.post(TAG_TYPES, needs=EDIT, takes=TagType)
def create_tag_type(conn: Connection, identity: Identity, body: TagType) -> Json:
    """Body: `{name, description?, icon?, color?}`. 201 type."""
    row = tag_types.create(conn, body, identity)
    return respond.Created(row, f"{TAG_TYPES}/{body.name}")


@router.post(f"{TAG_TYPES}/validate", needs=VIEW, takes=TagType, autocommit=True)
def validate_tag_type(conn: Connection, identity: Identity, body: TagType) -> Json:
    """Body: as create. `{"valid": true, "tagType"}`, 400 or 409."""
    tag_types.KIND.check_new(conn, body)
    return {"valid": True, "tagType": body}


@router.get(f"{TAG_TYPES}/<name>", needs=VIEW, autocommit=True)
def get_tag_type(conn: Connection, identity: Identity, name: str) -> Json:
    """Type."""
    return tag_types.get(conn, name)


@router.put(f"{TAG_TYPES}/<name>", needs=EDIT, takes=TagTypeChanges)
def update_tag_type(conn: Connection, identity: Identity, name: str, body: TagTypeChanges) -> Json:
    """Body: `{description?, icon?, color?}`. Absent fields stay unchanged."""
    return tag_types.update(conn, name, body, identity)


@router.delete(f"{TAG_TYPES}/<name>", needs=EDIT)
def delete_tag_type(conn: Connection, identity: Identity, name: str) -> None:
    """Deletes its tags, also from flags; 403 for `simple`."""
    tag_types.delete(conn, name, identity)


@router.get(FLAG_TYPES, needs=VIEW, autocommit=True)
def list_feature_types(conn: Connection, identity: Identity) -> Json:
    """`{"version": 1, "types": [{id, name, description, lifetimeDays}]}`."""
    types = [feature_types.to_json(row) for row in feature_type_rows.list_all(conn)]
    return {"version": 1, "types": types}


@router.put(f"{FLAG_TYPES}/<id>/lifetime", needs=ADMIN, takes=Lifetime)
def update_lifetime(conn: Connection, identity: Identity, id: str, body: Lifetime) -> Json:
    """Body: `{lifetimeDays}`, 0 to 100000 days or null. The flag type. With 0 and null, flags of
    this type never count as stale by age."""
    return feature_types.to_json(feature_types.update(conn, id, body, identity))
