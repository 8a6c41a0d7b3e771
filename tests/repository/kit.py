"""Rows for the repository's tests, and a look at tables past the repository."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, NamedTuple

from sigservice.crypto import secrets
from sigservice.db.errors import DatabaseUnavailable
from sigservice.db.pool import Connection, Database
from sigservice.db.statements import Row
from sigservice.repository.access import users
from sigservice.repository.actions import action_sets
from sigservice.repository.flags import (
    feature_environments,
    feature_strategies,
    features,
    segments,
)
from sigservice.repository.revisions import RevisionBump
from sigservice.repository.signals import signal_endpoint_tokens, signal_endpoints, signals
from sigservice.repository.signals.signal_endpoint_tokens import SecretValues, TokenValues
from sigservice.repository.system import defaults
from sigservice.repository.usage import reports

ADMIN_ROLE, EDITOR_ROLE, VIEWER_ROLE = 1, 2, 3


def run(conn: Connection, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """A statement of the test's own."""
    with conn.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


@contextmanager
def attempt(conn: Connection) -> Iterator[None]:
    """Around a statement that fails, so that the transaction can go on after it."""
    run(conn, "SAVEPOINT attempt")
    try:
        yield
    finally:
        run(conn, "ROLLBACK TO SAVEPOINT attempt")


def is_locked_out(pool: Database, statement: Callable[[Connection], Any]) -> bool:
    """Whether a statement has to wait for a lock of another transaction."""
    try:
        with pool.transaction() as conn:
            run(conn, "SET LOCAL lock_timeout = '20ms'")
            statement(conn)
    except DatabaseUnavailable as error:
        return error.sqlstate == "55P03"
    return False


def add_user(conn: Connection, username: str | None = "ada", **more: Any) -> int:
    values = {"email": None, "name": None, "role_id": ADMIN_ROLE, "password_hash": None}
    return users.insert(conn, username=username, **values | more)


def add_service_account(conn: Connection, username: str = "robot") -> int:
    ((id,),) = run(
        conn,
        "INSERT INTO users (account_type, username, role_id, password_hash) "
        "VALUES ('service', %s, 1, 'hash') RETURNING id",
        username,
    )
    return id


def add_endpoint(conn: Connection, name: str = "deploys", **more: Any) -> int:
    values = {"description": None, "enabled": True, "options": "{}", "template": None}
    values |= {"created_by_user_id": 1, "limit": 100}
    row = signal_endpoints.insert(conn, name=name, **values | more)
    assert row is not None
    return row["id"]


def add_token(conn: Connection, endpoint_id: int, name: str = "ci", **more: Any) -> int:
    """Its secret is `<name>-<endpoint_id>`."""
    digest = secrets.sha256(secret_of(endpoint_id, name))
    more = {"type": "bearer", "created_by_user_id": 1, "limit": 100} | more
    id = signal_endpoint_tokens.insert(
        conn, endpoint_id, token_values(name), secret_values(digest), **more
    )
    assert id is not None
    return id


def token_values(name: str) -> TokenValues:
    return {"name": name, "expires_at": None, "allowed_addresses": [], "signature": None}


def secret_values(digest: bytes) -> SecretValues:
    return {"secret_hash": digest, "secret_prefix": "signal_", "encrypted_secret": None}


def secret_of(endpoint_id: int, name: str = "ci") -> str:
    return f"{name}-{endpoint_id}"


def insert_signal(
    conn: Connection, endpoint: str, secret: str, payload: str = "{}"
) -> dict[str, Any] | None:
    (row,) = signals.insert_all(conn, [make_signal(conn, endpoint, secret, payload)])
    return row


def make_signal(
    conn: Connection, endpoint: str, secret: str, payload: str = "{}", **more: Any
) -> signals.NewSignal:
    """A signal as its endpoint is now, with IDs of 0 if endpoint or secret are unknown."""
    endpoints = run(conn, "SELECT id, version FROM signal_endpoints WHERE name = %s", endpoint)
    tokens = run(
        conn,
        "SELECT id FROM signal_endpoint_tokens WHERE secret_hash = %s",
        secrets.sha256(secret),
    )
    id, version = endpoints[0] if endpoints else (0, 0)
    token_id = tokens[0][0] if tokens else 0
    return signals.NewSignal(id, version, token_id, payload, len(payload.encode()), **more)


def add_signal(
    conn: Connection, endpoint_id: int, payload: str = "{}", *, endpoint: str, token: str = "ci"
) -> int:
    row = insert_signal(conn, endpoint, secret_of(endpoint_id, token), payload)
    assert row is not None
    return row["id"]


def ids(rows: list[dict[str, Any]]) -> list[int]:
    return [row["id"] for row in rows]


def add_built_ins(conn: Connection) -> None:
    """The environments default, development and production, and the project `default`."""
    defaults.insert_built_ins(conn)


def add_project(conn: Connection, id: str = "other") -> None:
    """With the environment `production` only."""
    run(conn, "INSERT INTO projects (id, name) VALUES (%s, %s)", id, id)
    run(
        conn,
        "INSERT INTO project_environments (project, environment) VALUES (%s, 'production')",
        id,
    )


AUTHOR = {"created_by": "ada", "created_by_user_id": 1}


def add_flag(conn: Connection, name: str = "a", project: str = "default", **more: Any) -> str:
    values = {"type": "release", "impressionData": False, "stale": False}
    features.put(conn, [{"name": name, "project": project} | values | more], **AUTHOR)
    return name


def add_strategy(
    conn: Connection,
    id: str,
    feature: str = "a",
    environment: str = "development",
    uses: tuple[int, ...] = (),
    **more: Any,
) -> str:
    """`uses` are ids of segments."""
    values = {"name": "default", "title": None, "disabled": False, "sort_order": 0}
    values |= {"parameters": "{}", "constraints": "[]", "variants": "[]"} | more
    for name in ("parameters", "constraints", "variants"):
        values[name] = json.loads(values[name])
    where = {"id": id, "feature": feature, "environment": environment}
    row = where | values | {"sortOrder": values["sort_order"]}
    feature_strategies.insert_many(conn, [row])
    feature_strategies.set_segments(conn, [id], list(uses))
    return id


def set_variants(conn: Connection, feature: str, environment: str, variants: str) -> None:
    """Those of the environment, which only an import brings."""
    run(
        conn,
        "INSERT INTO feature_environments (feature, environment, variants) VALUES (%s, %s, %s) "
        "ON CONFLICT (feature, environment) DO UPDATE SET variants = excluded.variants",
        feature,
        environment,
        variants,
    )


def add_segment(conn: Connection, name: str = "beta", **more: Any) -> int:
    segments.put(conn, [{"name": name, "constraints": []} | more], **AUTHOR)
    row = segments.find_by_name(conn, name)
    assert row is not None
    return int(row["id"])


def add_set(conn: Connection, name: str = "kill", project: str = "default", **more: Any) -> int:
    values: dict[str, Any] = {"description": None, "enabled": True, "actor_id": 7, "endpoint_id": 1}
    values |= {"schedule": None, "filters": "[]", "settings": "{}", "created_by_user_id": 1}
    return action_sets.insert(conn, project=project, name=name, **values | more)


def named(rows: list[dict[str, Any]], column: str = "name") -> list[Any]:
    return [row[column] for row in rows]


class StoredReports(NamedTuple):
    names: set[reports.Name]
    dropped_instances: set[tuple[str, str, str]]
    unknown_flags: set[str]
    dropped_variants: set[tuple[str, str, str]]


def store_reports(
    conn: Connection,
    *,
    instances: Sequence[tuple[Any, ...]] = (),
    usages: Sequence[tuple[Any, ...]] = (),
    variants: Sequence[tuple[Any, ...]] = (),
    token_type: str = "backend",
    **limits: int,
) -> StoredReports:
    """Rows as in the tables: (application, instance, environment, SDK version, SDK type, address,
    strategies), (flag, application, environment, hours ago, yes, no) and (flag, application,
    environment, hours ago, variant, count). `limits` are 99 by default."""
    ((hour,),) = run(conn, "SELECT date_trunc('hour', now())")
    limit = {"backend_limit": 99, "frontend_limit": 99, "instance_limit": 99} | limits
    names = reports.store_names(
        conn,
        {(row[2], token_type, row[0]) for row in instances}
        | {(row[2], token_type, row[1]) for row in (*usages, *variants)},
        backend_limit=limit["backend_limit"],
        frontend_limit=limit["frontend_limit"],
    )
    accepted = {row[:3]: row for row in instances if (row[2], token_type, row[0]) in names}
    strategies: dict[str, Any] = {}
    for row in accepted.values():
        strategies[row[0]] = row[6] or strategies.get(row[0])
    reports.store_applications(conn, strategies.items())
    rows = []
    for row in accepted.values():
        count = reports.count_instances(conn, row[2], is_frontend=row[4] == "frontend")
        rows.append(reports.InstanceRow(*row[:6], limit["instance_limit"] - count))
    new = reports.store_instances(conn, rows)
    counted = [row for row in usages if (row[2], token_type, row[1]) in names]
    reports.store_last_seen(conn, {(row[0], row[2]) for row in counted})
    result = reports.store_counts(
        conn,
        [reports.UsageRow(*row[:3], hour - timedelta(hours=row[3]), *row[4:]) for row in counted],
        [
            reports.VariantRow(*row[:3], hour - timedelta(hours=row[3]), *row[4:])
            for row in variants
            if (row[2], token_type, row[1]) in names
        ],
    )
    return StoredReports(
        names,
        {
            (row["app_name"], row["instance_id"], row["environment"])
            for row in new
            if not row["is_stored"]
        },
        result.unknown_flags,
        result.dropped_variants,
    )


def touch(topics: list[str], **numbers: int) -> RevisionBump:
    """A change of these topics that touches no flag."""
    return RevisionBump(topics, [], [], [], **numbers)


def find_state(conn: Connection, feature: str, environment: str) -> Row | None:
    """None if the environment isn't in the flag's project."""
    rows = feature_environments.list_target_states(conn, [(feature, environment)])
    return rows[0] if rows else None
