"""States of flags: one function for each SQL statement."""

from collections.abc import Mapping, Sequence

from sigservice.db import Connection, Row, execute, fetch_all, queries
from sigservice.repository.revisions import RevisionBump

_SQL = queries.load("flags/feature_environments")


def list_states(conn: Connection, features: list[str]) -> list[Row]:
    """Each flag in each environment of its project, in the order of the environments; `is_visible`
    says whether the environment is enabled."""
    return fetch_all(conn, _SQL["list_feature_states"], features=features)


def list_target_states(conn: Connection, targets: Sequence[tuple[str, str]]) -> list[Row]:
    """The states of pairs of flag and environment, without those that don't exist."""
    features, environments = [pair[0] for pair in targets], [pair[1] for pair in targets]
    return fetch_all(conn, _SQL["list_target_states"], features=features, environments=environments)


def set_states(
    conn: Connection, states: Mapping[tuple[str, str], bool], bump: RevisionBump
) -> None:
    """`states` are by flag and environment. Also bumps the revisions."""
    execute(
        conn,
        _SQL["set_feature_states"],
        features=[feature for feature, _ in states],
        places=[environment for _, environment in states],
        states=list(states.values()),
        **vars(bump),
    )


def set_variants(conn: Connection, feature: str, environments: list[str], variants: str) -> None:
    """`variants` is a JSON text, the same for each environment."""
    execute(
        conn,
        _SQL["set_feature_variants"],
        feature=feature,
        environments=environments,
        variants=variants,
    )


def copy(conn: Connection, source: str, target: str) -> None:
    execute(conn, _SQL["copy_feature_states"], source=source, target=target)
