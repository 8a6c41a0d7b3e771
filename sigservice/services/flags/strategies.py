"""Strategies: the rules that enable a flag for some users in an environment.

Removing or disabling the last active strategy disables the flag in the environment, because a flag
without strategies is enabled for everyone.
"""

from __future__ import annotations

import uuid
from collections.abc import Container, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from sigservice.db import Connection, Row
from sigservice.errors import BadDataError, ExceedsLimitError, NotFoundError
from sigservice.repository.flags import feature_strategies, segments
from sigservice.repository.projects import strategy_types
from sigservice.services import revisions
from sigservice.services.flags import constraints, variants
from sigservice.services.flags.feature_states import FeatureEnvironment, get_state, set_enabled
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems
from sigservice.services.system import events
from sigservice.wording import plural

MAX_STRATEGIES = 30
MAX_SORT_ORDER = 2**31 - 1
ROLLOUT_TYPES = ("flexibleRollout", "gradualRollout")  # beginnings of their names
Scalar = str | int | float | bool | None


class Strategy(msgspec.Struct, omit_defaults=True):
    """A strategy in the format of the API. Numbers in `parameters` become text, as SDKs expect."""

    name: str
    title: str | UnsetType | None = UNSET
    disabled: bool | None = None
    sortOrder: int | None = None
    constraints: list[constraints.Constraint] = []
    parameters: dict[str, Scalar] = {}
    variants: list[variants.Variant] = []
    segments: list[int] = []


def add(
    conn: Connection, target: FeatureEnvironment, new: Strategy, by: Identity, *, max_segments: int
) -> dict[str, Any]:
    """Returns the strategy in the format of the API. Raises as `add_to_all` does."""
    revisions.lock(conn)
    existing = {target.feature: _list_rows(conn, target)}
    (body,) = add_to_all(
        conn, target.project, target.environment, existing, new, by, max_segments=max_segments
    )
    return body


def add_to_all(
    conn: Connection,
    project: str,
    environment: str,
    existing: Mapping[str, Sequence[Row]],
    new: Strategy,
    by: Identity,
    *,
    max_segments: int,
) -> list[dict[str, Any]]:
    """Adds the strategy to each flag of `existing`, the strategies of flags by the flag's name; the
    flags must be in the project. Returns the strategies in the format of the API. Raises
    NotFoundError, BadDataError, ExceedsLimitError."""
    types = _list_known_types(conn, new)
    bodies, rows, items = [], [], []
    for feature, others in existing.items():
        if len(others) >= MAX_STRATEGIES:
            raise ExceedsLimitError(
                f"There can't be more than {MAX_STRATEGIES} strategies.",
                resource="featureEnvironmentStrategies",
                limit=MAX_STRATEGIES,
            )
        last = max((row["sort_order"] for row in others), default=-1)
        order = new.sortOrder if new.sortOrder is not None else min(last + 1, MAX_SORT_ORDER)
        problems = Problems()
        fields = check(new, feature, problems, types=types)
        problems.raise_if_any()
        body = {"id": str(uuid.uuid4()), **fields, "sortOrder": order}
        bodies.append(body)
        rows.append({"feature": feature, "environment": environment} | body)
        scope = {"project": project, "environment": environment, "feature_name": feature}
        items.append(scope | {"data": body})
    _check_segments(conn, project, sorted(set(new.segments)), max_segments)
    feature_strategies.insert_many(conn, rows)
    if new.segments:
        feature_strategies.set_segments(conn, [body["id"] for body in bodies], new.segments)
    events.record_many(conn, "feature-strategy-add", by, items)
    revisions.bump(conn, environment, flags=existing)
    return bodies


def replace(
    conn: Connection,
    target: FeatureEnvironment,
    id: str,
    new: Strategy,
    by: Identity,
    *,
    max_segments: int,
) -> dict[str, Any]:
    """Keeps an absent title, state and sort order. Raises NotFoundError, BadDataError."""
    revisions.lock(conn)
    existing = _list_rows(conn, target)
    before = _find_row(existing, id)
    fields = validate(conn, new, target.feature, project=target.project, max_segments=max_segments)
    if new.title is UNSET:
        fields["title"] = before["title"]
    if new.disabled is None:
        fields["disabled"] = before["disabled"]
    order = new.sortOrder if new.sortOrder is not None else before["sort_order"]
    body = {"id": id, **fields, "sortOrder": order}
    feature_strategies.update(conn, body)
    feature_strategies.set_segments(conn, [id], fields["segments"])
    scope = target.event_scope
    events.record(conn, "feature-strategy-update", by, data=body, pre_data=to_json(before), **scope)
    if fields["disabled"] and not _has_other_active(existing, id):
        set_enabled(conn, target, False, by)
    revisions.bump(conn, target.environment, flags=[target.feature])
    return body


def set_parameters(
    conn: Connection,
    target: FeatureEnvironment,
    id: str,
    parameters: Mapping[str, str],
    by: Identity,
) -> None:
    """Sets some parameters, which must be valid and differ, and leaves everything else as it is.
    The caller holds the lock of revisions. Raises NotFoundError."""
    bump = revisions.build_bump(target.environment, flags=[target.feature])
    row = feature_strategies.set_parameters(
        conn, id, target.feature, target.environment, parameters, bump
    )
    if row is None:
        raise NotFoundError("Strategy not found.")
    before = to_json(row)
    after = before | {"parameters": before["parameters"] | parameters}
    scope = target.event_scope
    events.record(conn, "feature-strategy-update", by, data=after, pre_data=before, **scope)


def remove(conn: Connection, target: FeatureEnvironment, id: str, by: Identity) -> None:
    """Raises NotFoundError."""
    revisions.lock(conn)
    existing = _list_rows(conn, target)
    before = _find_row(existing, id)
    feature_strategies.delete(conn, id)
    scope = target.event_scope
    events.record(conn, "feature-strategy-remove", by, pre_data=to_json(before), **scope)
    if not _has_other_active(existing, id):
        set_enabled(conn, target, False, by)
    revisions.bump(conn, target.environment, flags=[target.feature])


def sort(
    conn: Connection, target: FeatureEnvironment, orders: dict[str, int], by: Identity
) -> None:
    """Ignores IDs of other environments. Raises NotFoundError."""
    revisions.lock(conn)
    before = [row["id"] for row in _list_rows(conn, target)]
    feature_strategies.set_sort_orders(conn, target.feature, target.environment, orders)
    after = [row["id"] for row in _list_rows(conn, target)]
    data, pre_data = {"strategyIds": after}, {"strategyIds": before}
    scope = target.event_scope
    events.record(conn, "strategy-order-changed", by, data=data, pre_data=pre_data, **scope)
    revisions.bump(conn, target.environment, flags=[target.feature])


def move(conn: Connection, target: FeatureEnvironment, id: str, step: int, by: Identity) -> None:
    """Moves it one place up (-1) or down (1) if possible. Raises NotFoundError."""
    revisions.lock(conn)
    ids = [row["id"] for row in _list_rows(conn, target)]
    if id not in ids:
        raise NotFoundError("Strategy not found.")
    place = ids.index(id)
    if 0 <= place + step < len(ids):
        ids.insert(place + step, ids.pop(place))
        sort(conn, target, {id: order for order, id in enumerate(ids)}, by)


def list_strategies(conn: Connection, target: FeatureEnvironment) -> list[dict[str, Any]]:
    """Strategies in the format of the API, in order. Raises NotFoundError."""
    get_state(conn, target)
    return read_strategies(conn, target)


def read_strategies(conn: Connection, target: FeatureEnvironment) -> list[dict[str, Any]]:
    """Like `list_strategies`, of a target that exists."""
    return [to_json(row) for row in _read_rows(conn, target)]


def get(conn: Connection, target: FeatureEnvironment, id: str) -> dict[str, Any]:
    """Raises NotFoundError."""
    return to_json(_find_row(_list_rows(conn, target), id))


def validate(
    conn: Connection, new: Strategy, feature: str, *, max_segments: int, project: str
) -> dict[str, Any]:
    """Returns the strategy in the stored format. Raises BadDataError with all problems, and
    NotFoundError for an unknown segment."""
    problems = Problems()
    fields = check(new, feature, problems, types=_list_known_types(conn, new))
    problems.raise_if_any()
    _check_segments(conn, project, fields["segments"], max_segments)
    return fields


def _list_known_types(conn: Connection, new: Strategy) -> list[str]:
    return [new.name] if strategy_types.find(conn, new.name) else []


def check(
    new: Strategy, feature: str, problems: Problems, path: str = "", *, types: Container[str]
) -> dict[str, Any]:
    """Returns the strategy in the stored format, with unchecked segments, and records errors
    in `problems`, below `path` (empty or ending with a dot). `types` are the known types."""
    title = None if new.title is UNSET else new.title
    if new.name not in types:
        problems.add(f"{path}name", f"Strategy type {new.name} not found.")
    if title is not None and len(title) > 200:
        problems.add(f"{path}title", "The title must have at most 200 characters.")
    if new.sortOrder is not None and not -(2**31) <= new.sortOrder <= MAX_SORT_ORDER:
        problems.add(f"{path}sortOrder", "The sort order must be a 32-bit integer.")
    return {
        "name": new.name,
        "title": title,
        "disabled": bool(new.disabled),
        "constraints": constraints.check(new.constraints, problems, f"{path}constraints"),
        "parameters": _normalize_parameters(new, feature, problems, path),
        "variants": variants.check(new.variants, problems, f"{path}variants"),
        "segments": sorted(set(new.segments)),
    }


def _check_segments(conn: Connection, project: str, ids: list[int], limit: int) -> None:
    """Raises BadDataError for too many segments or one of another project, NotFoundError."""
    if len(ids) > limit:
        raise BadDataError(
            f"A strategy can't have more than {plural(limit, 'segment')}.", path="segments"
        )
    valid = [id for id in ids if 0 < id < 2**31]
    owners = {row["id"]: row["project"] for row in segments.list_by_id(conn, valid)} if ids else {}
    missing = [str(id) for id in ids if id not in owners]
    if missing:
        raise NotFoundError(f"Segment {', '.join(missing)} not found.", path="segments")
    foreign = [str(id) for id, owner in owners.items() if owner not in (None, project)]
    if foreign:
        raise BadDataError(f"Segment {', '.join(foreign)} is in another project.", path="segments")


def _normalize_parameters(
    new: Strategy, feature: str, problems: Problems, path: str
) -> dict[str, str]:
    """Converts values to text and adds the defaults of a gradual rollout."""
    texts = {name: _to_text(value) for name, value in new.parameters.items() if value is not None}
    if new.name == "flexibleRollout":
        texts = {"rollout": "100", "stickiness": "default", "groupId": feature} | texts
    for name in ("rollout", "percentage"):
        text = texts.get(name)
        is_rollout = new.name.startswith(ROLLOUT_TYPES)
        if text is not None and is_rollout and not is_percentage(text):
            problems.add(
                f"{path}parameters.{name}", f"{name} must be a whole number from 0 to 100."
            )
    for name, text in texts.items():
        if len(name) > 100 or len(text) > 100_000:
            problems.add(f"{path}parameters.{name[:100]}", "The parameter is too long.")
    return texts


def _to_text(value: Scalar) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def is_percentage(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 3 and int(text) <= 100


def to_strategy(body: Mapping[str, Any]) -> Strategy:
    """The strategy that `to_json` returned, without its ID and place."""
    return msgspec.convert(
        {name: value for name, value in body.items() if name not in ("id", "sortOrder")}, Strategy
    )


def to_json(row: Row) -> dict[str, Any]:
    """A strategy in the format of the API."""
    return {
        "id": row["id"],
        "name": row["name"],
        "title": row["title"],
        "disabled": row["disabled"],
        "sortOrder": row["sort_order"],
        "parameters": msgspec.json.decode(row["parameters"]),
        "constraints": msgspec.json.decode(row["constraints"]),
        "variants": msgspec.json.decode(row["variants"]),
        "segments": list(row["segments"]),
    }


def _list_rows(conn: Connection, target: FeatureEnvironment) -> list[Row]:
    """Raises NotFoundError for an unknown flag, project or environment."""
    get_state(conn, target)
    return _read_rows(conn, target)


def _read_rows(conn: Connection, target: FeatureEnvironment) -> list[Row]:
    return feature_strategies.list_by_features(conn, [target.feature], target.environment)


def _find_row(rows: list[Row], id: str) -> Row:
    for row in rows:
        if row["id"] == id:
            return row
    raise NotFoundError("Strategy not found.")


def _has_other_active(rows: list[Row], id: str) -> bool:
    return any(row["id"] != id and not row["disabled"] for row in rows)
