"""The flags of SDKs: one function for each SQL statement."""

from sigservice.db import Connection, Row, fetch_all, queries

_SQL = queries.load("flags/client_features")


def list_items(
    conn: Connection, environment: str, *, since: int | None, digests: bool = False
) -> list[Row]:
    """Rows {item_type, name, project, segment_ids, tags, body} in no order: flags (`flag`),
    segments by ID (`segment`), changes (`change`) and topics (`revision`). `body` is JSON text. All
    flags if `since` is None."""
    return fetch_all(
        conn,
        _SQL["list_client_features"],
        environment=environment,
        since=since,
        digests=digests,
    )
