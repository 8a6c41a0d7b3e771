"""What tells caches that something changed: ids that grow in the transaction of the change.

Every change that a client could see begins with `lock`, so there is one at a time, and ends with
`touch`. Whoever reads an id sees everything that was committed before. Ids follow the clock, so a
database that goes back to an older state never gives an id of its lost state to other content.
"""

from __future__ import annotations

from collections.abc import Mapping

from sigservice.db.pool import Connection
from sigservice.repository import revisions


def lock(conn: Connection) -> int:
    """The generation, which grows with each change. Held until the end of the transaction; taken
    again it costs one round trip."""
    return revisions.lock(conn)


def touch(conn: Connection, *environments: str) -> None:
    """What clients see in these environments has changed; without any: in every environment."""
    revisions.bump(conn, topics(*environments))


def topics(*environments: str) -> list[str]:
    """What `touch` bumps, for a statement that does so itself."""
    return ["", *(f"in/{name}" for name in environments)] if environments else ["", "all"]


def touch_tokens(conn: Connection) -> None:
    """API tokens or the settings of the client and frontend API have changed."""
    revisions.bump(conn, ["", "tokens"])


def of_environment(topics: Mapping[str, int], environment: str) -> int:
    """The revision that clients of one environment see. Grows, unless the database goes back."""
    return topics.get("all", 0) + topics.get(f"in/{environment}", 0)
