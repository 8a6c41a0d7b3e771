"""Numbers that tell caches about a change: each grows in the transaction of the change.

Every change that an SDK can see begins with `lock`, so only one runs at a time, and ends with
`bump`. A reader of a revision sees everything that was committed before it. Revisions follow the
clock, so a restored database never gives the revision of a lost state to other content.
"""

from collections.abc import Mapping

from sigservice.db.pool import Connection
from sigservice.repository import revisions as repository


def lock(conn: Connection) -> int:
    """Returns the generation, which grows with each change. The lock lasts until the end of the
    transaction; taking it again costs one round trip."""
    return repository.lock(conn)


def bump(conn: Connection, *environments: str) -> None:
    """Records a change that SDKs of these environments can see; without any, of all."""
    repository.bump(conn, list_topics(*environments))


def list_topics(*environments: str) -> list[str]:
    """The topics that `bump` bumps, for a statement that bumps them itself."""
    return ["", *(f"in/{name}" for name in environments)] if environments else ["", "all"]


def bump_tokens(conn: Connection) -> None:
    """Records a change of API tokens or of the settings of the client and frontend API."""
    repository.bump(conn, ["", "tokens"])


def sum_for_environment(topics: Mapping[str, int], environment: str) -> int:
    """The revision of one environment. It grows, unless the database is restored."""
    return topics.get("all", 0) + topics.get(f"in/{environment}", 0)
