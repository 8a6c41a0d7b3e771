"""The documents of SDKs: one function for each SQL statement."""

from operator import itemgetter

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, fetch_all

_SQL = queries.load("flags/client_features")


def list_documents(
    conn: Connection,
    environment: str,
    *,
    inline: bool = False,
    name: str | None = None,
    projects: list[str] | None = None,
    prefix: str | None = None,
    tags: list[str] | None = None,
) -> list[Row]:
    """Rows {item_type, name, body, dependencies} of JSON text: flags by name (`flag`), the revision
    (`revision`), then segments by ID (`segment`). A filter that is None doesn't apply."""
    rows = fetch_all(
        conn,
        _SQL["list_client_features"],
        environment=environment,
        inline=inline,
        name=name,
        projects=projects,
        prefix=prefix,
        tags=tags,
    )
    return sorted(rows, key=itemgetter("item_type", "name"))
