"""Strategies: when a flag is on for somebody in an environment.

An environment whose last active strategy goes is switched off, because without one the flag would
be on for everybody.
"""

from __future__ import annotations

import uuid
from collections.abc import Container, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import BadDataError, ExceedsLimitError, NotFoundError
from sigservice.repository.flags import feature_strategies, segments
from sigservice.repository.transfer import definitions
from sigservice.services import revisions
from sigservice.services.flags import constraints, variants
from sigservice.services.flags.feature_states import FeatureEnvironment, get_state, set_enabled
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems
from sigservice.services.system import events

MOST_STRATEGIES = 30
LAST_ORDER = 2**31 - 1
Scalar = str | int | float | bool | None


class Strategy(msgspec.Struct, omit_defaults=True):
    """A strategy as tools send it. Numbers in `parameters` become text, as SDKs want them."""

    name: str
    title: str | UnsetType | None = UNSET
    disabled: bool | None = None
    sortOrder: int | None = None
    constraints: list[constraints.Constraint] = []
    parameters: dict[str, Scalar] = {}
    variants: list[variants.Variant] = []
    segments: list[int] = []


def add(
    conn: Connection, target: FeatureEnvironment, new: Strategy, by: Identity, *, most_segments: int
) -> dict[str, Any]:
    """The strategy on the wire. Raises NotFoundError, BadDataError, ExceedsLimitError."""
    revisions.lock(conn)
    existing = {target.feature: _rows(conn, target)}
    (body,) = add_to_all(
        conn, target.project, target.environment, existing, new, by, most_segments=most_segments
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
    most_segments: int,
) -> list[dict[str, Any]]:
    """The strategies on the wire, one for each flag of `existing` (its rows by its name), which
    are known to be the project's and locked. Raises NotFoundError, BadDataError,
    ExceedsLimitError."""
    known = _known_type(conn, new)
    bodies, rows, recorded = [], [], []
    for feature, others in existing.items():
        if len(others) >= MOST_STRATEGIES:
            raise ExceedsLimitError(
                f"There can't be more than {MOST_STRATEGIES} strategies.",
                resource="featureEnvironmentStrategies",
                limit=MOST_STRATEGIES,
            )
        last = max((row["sort_order"] for row in others), default=-1)
        order = new.sortOrder if new.sortOrder is not None else min(last + 1, LAST_ORDER)
        problems = Problems()
        stored = check(new, feature, problems, types=known)
        problems.raise_if_any()
        body = _body(str(uuid.uuid4()), stored, order)
        bodies.append(body)
        rows.append({"feature": feature, "environment": environment} | body)
        where = {"project": project, "environment": environment, "feature_name": feature}
        recorded.append(where | {"data": body})
    _check_segments(conn, project, sorted(set(new.segments)), most_segments)
    definitions.insert_strategies(conn, rows)
    if new.segments:
        feature_strategies.set_segments(conn, [body["id"] for body in bodies], new.segments)
    events.record_many(conn, "feature-strategy-add", by, recorded)
    revisions.bump(conn, environment)
    return bodies


def replace(
    conn: Connection,
    target: FeatureEnvironment,
    id: str,
    new: Strategy,
    by: Identity,
    *,
    most_segments: int,
) -> dict[str, Any]:
    """Title, state and order stay when they are not given. Raises NotFoundError, BadDataError."""
    revisions.lock(conn)
    existing = _rows(conn, target)
    before = _find(existing, id)
    stored = validate(
        conn, new, target.feature, project=target.project, most_segments=most_segments
    )
    if new.title is UNSET:
        stored["title"] = before["title"]
    if new.disabled is None:
        stored["disabled"] = before["disabled"]
    order = new.sortOrder if new.sortOrder is not None else before["sort_order"]
    feature_strategies.update(conn, id, **_columns(stored, order))
    feature_strategies.set_segments(conn, [id], stored["segments"])
    body = _body(id, stored, order)
    _record(conn, "feature-strategy-update", target, by, data=body, pre_data=to_json(before))
    if stored["disabled"] and not _others_active(existing, id):
        set_enabled(conn, target, False, by)
    revisions.bump(conn, target.environment)
    return body


def remove(conn: Connection, target: FeatureEnvironment, id: str, by: Identity) -> None:
    """Raises NotFoundError."""
    revisions.lock(conn)
    existing = _rows(conn, target)
    before = _find(existing, id)
    feature_strategies.delete(conn, id)
    _record(conn, "feature-strategy-remove", target, by, pre_data=to_json(before))
    if not _others_active(existing, id):
        set_enabled(conn, target, False, by)
    revisions.bump(conn, target.environment)


def sort(
    conn: Connection, target: FeatureEnvironment, orders: dict[str, int], by: Identity
) -> None:
    """Ids that are not this environment's are ignored. Raises NotFoundError."""
    revisions.lock(conn)
    before = [row["id"] for row in _rows(conn, target)]
    feature_strategies.set_sort_orders(conn, target.feature, target.environment, orders)
    after = [row["id"] for row in _rows(conn, target)]
    _record(
        conn,
        "strategy-order-changed",
        target,
        by,
        data={"strategyIds": after},
        pre_data={"strategyIds": before},
    )
    revisions.bump(conn, target.environment)


def list_strategies(conn: Connection, target: FeatureEnvironment) -> list[dict[str, Any]]:
    """On the wire, in order. Raises NotFoundError."""
    return [to_json(row) for row in _rows(conn, target)]


def get(conn: Connection, target: FeatureEnvironment, id: str) -> dict[str, Any]:
    """Raises NotFoundError."""
    return to_json(_find(_rows(conn, target), id))


def validate(
    conn: Connection, new: Strategy, feature: str, *, most_segments: int, project: str
) -> dict[str, Any]:
    """The strategy as it is stored. Raises BadDataError with all that is wrong, NotFoundError for
    a segment that there is not."""
    problems = Problems()
    stored = check(new, feature, problems, types=_known_type(conn, new))
    problems.raise_if_any()
    _check_segments(conn, project, stored["segments"], most_segments)
    return stored


def _known_type(conn: Connection, new: Strategy) -> list[str]:
    return [new.name] if feature_strategies.type_exists(conn, new.name) else []


def check(
    new: Strategy, feature: str, problems: Problems, path: str = "", *, types: Container[str]
) -> dict[str, Any]:
    """The strategy as it is stored, segments unchecked; what is wrong goes to `problems`, below
    `path` (empty or ending with a dot). `types` are the strategy types that there are."""
    title = None if new.title is UNSET else new.title
    if new.name not in types:
        problems.add(f"{path}name", f"There is no strategy type {new.name}.")
    if title is not None and len(title) > 200:
        problems.add(f"{path}title", "A title has at most 200 characters.")
    if new.sortOrder is not None and not -(2**31) <= new.sortOrder <= LAST_ORDER:
        problems.add(f"{path}sortOrder", "The sort order is a whole number of 32 bits.")
    return {
        "name": new.name,
        "title": title,
        "disabled": bool(new.disabled),
        "constraints": constraints.check(new.constraints, problems, f"{path}constraints"),
        "parameters": _parameters(new, feature, problems, path),
        "variants": variants.check(new.variants, problems, f"{path}variants"),
        "segments": sorted(set(new.segments)),
    }


def _check_segments(conn: Connection, project: str, ids: list[int], most: int) -> None:
    """Raises BadDataError for too many and for another project's, NotFoundError."""
    if len(ids) > most:
        raise BadDataError(f"A strategy can't have more than {most} segments.", path="segments")
    valid = [id for id in ids if 0 < id < 2**31]
    found = {row["id"]: row["project"] for row in segments.list_by_id(conn, valid)} if ids else {}
    missing = [str(id) for id in ids if id not in found]
    if missing:
        raise NotFoundError(f"There is no segment {', '.join(missing)}.", path="segments")
    foreign = [str(id) for id, owner in found.items() if owner not in (None, project)]
    if foreign:
        raise BadDataError(
            f"The segment {', '.join(foreign)} belongs to another project.", path="segments"
        )


def _parameters(new: Strategy, feature: str, problems: Problems, path: str) -> dict[str, str]:
    """Text only; a rollout lacks nothing."""
    texts = {name: _text(value) for name, value in new.parameters.items() if value is not None}
    if new.name == "flexibleRollout":
        texts = {"rollout": "100", "stickiness": "default", "groupId": feature} | texts
    for name in ("rollout", "percentage"):
        text = texts.get(name)
        is_share = new.name.startswith(("flexibleRollout", "gradualRollout"))
        if text is not None and is_share and not _is_percentage(text):
            problems.add(f"{path}parameters.{name}", f"{name} is a whole number from 0 to 100.")
    for name, text in texts.items():
        if len(name) > 100 or len(text) > 100_000:
            problems.add(f"{path}parameters.{name[:100]}", "This parameter is too long.")
    return texts


def _text(value: Scalar) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _is_percentage(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 3 and int(text) <= 100


def to_json(row: Row) -> dict[str, Any]:
    """A stored strategy on the wire."""
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


def _body(id: str, stored: dict[str, Any], order: int) -> dict[str, Any]:
    return {"id": id, **stored, "sortOrder": order}


def _columns(stored: dict[str, Any], order: int) -> dict[str, Any]:
    columns = {name: stored[name] for name in ("name", "title", "disabled")}
    texts = ("parameters", "constraints", "variants")
    columns |= {name: msgspec.json.encode(stored[name]).decode() for name in texts}
    return columns | {"sort_order": order}


def _rows(conn: Connection, target: FeatureEnvironment) -> list[Row]:
    """Raises NotFoundError for a flag, project or environment that there is not."""
    get_state(conn, target)
    return feature_strategies.list_by_features(conn, [target.feature], target.environment)


def _find(rows: list[Row], id: str) -> Row:
    for row in rows:
        if row["id"] == id:
            return row
    raise NotFoundError("There is no such strategy.")


def _others_active(rows: list[Row], id: str) -> bool:
    return any(row["id"] != id and not row["disabled"] for row in rows)


def _record(
    conn: Connection,
    type: str,
    target: FeatureEnvironment,
    by: Identity,
    *,
    data: Mapping[str, Any] | None = None,
    pre_data: Mapping[str, Any] | None = None,
) -> None:
    events.record(
        conn,
        type,
        by,
        data=data,
        pre_data=pre_data,
        project=target.project,
        environment=target.environment,
        feature_name=target.feature,
    )
