"""States of flags: one function for each SQL statement."""

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all, fetch_one

_SQL = queries.load("flags/feature_environments")


def list_states(conn: Connection, features: list[str]) -> list[Row]:
    """Each flag in each environment of its project, in the order of the environments; `is_visible`
    says whether the environment is enabled."""
    return fetch_all(conn, _SQL["list_feature_states"], features=features)


def find_state(conn: Connection, feature: str, environment: str) -> Row | None:
    """None if the environment isn't in the flag's project."""
    return fetch_one(conn, _SQL["find_feature_state"], feature=feature, environment=environment)


def set_states(
    conn: Connection, features: list[str], environment: str, enabled: bool, *, topics: list[str]
) -> None:
    """Also bumps the revisions of `topics`."""
    execute(
        conn,
        _SQL["set_feature_states"],
        features=features,
        environment=environment,
        enabled=enabled,
        topics=topics,
    )


def copy(conn: Connection, source: str, target: str) -> None:
    execute(conn, _SQL["copy_feature_states"], source=source, target=target)
