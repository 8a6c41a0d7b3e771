"""Environments of projects: one function for each SQL statement."""

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, queries

_SQL = queries.load("projects/project_environments")


def link(conn: Connection, project: str, environments: list[str]) -> list[str]:
    """Returns the environments that weren't linked before."""
    rows = fetch_all(conn, _SQL["link_environments"], project=project, environments=environments)
    return [row["environment"] for row in rows]


def link_all_projects(conn: Connection, environments: list[str]) -> list[Row]:
    """{project, environment} of each new link."""
    return fetch_all(conn, _SQL["link_all_projects"], environments=environments)


def unlink(conn: Connection, project: str, environment: str) -> Row | None:
    """{flags}: the names of the project's flags that it disables there; None if it wasn't
    linked."""
    return fetch_one(conn, _SQL["unlink_environment"], project=project, environment=environment)


def list_by_project(conn: Connection, project: str) -> list[Row]:
    """{environment, default_strategy (JSON text or None)} by sort order."""
    return fetch_all(conn, _SQL["list_environments_with_strategy"], project=project)


def update_default_strategy(
    conn: Connection, project: str, environment: str, strategy: str
) -> bool:
    """`strategy` is JSON. False if the project doesn't use the environment."""
    return (
        execute(
            conn,
            _SQL["update_default_strategy"],
            project=project,
            environment=environment,
            strategy=strategy,
        )
        > 0
    )
