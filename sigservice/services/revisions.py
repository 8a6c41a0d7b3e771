"""Numbers that tell caches about a change: each grows in the transaction of the change.

Every change that an SDK can see begins with `lock`, so only one runs at a time, and ends with
`bump`. A reader of a revision sees everything that was committed before it. Revisions follow the
clock, so a restored database never gives the revision of a lost state to other content.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

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


@dataclass(frozen=True)
class Revisions:
    """The revisions and event IDs of all topics at one moment; `generation` grows with every
    change."""

    generation: int = -1
    topics: Mapping[str, int] = field(default_factory=dict)
    event_ids: Mapping[str, int] = field(default_factory=dict)

    def of_environment(self, environment: str) -> int:
        """The revision of one environment. It grows, unless the database is restored."""
        return self.topics.get("all", 0) + self.topics.get(f"in/{environment}", 0)

    def find_event_id(self, environment: str) -> int:
        """The number of the last change of this environment. It identifies its state like the
        revision, and fits the 32 bits of SDKs."""
        return max(self.event_ids.get("all", 1), self.event_ids.get(f"in/{environment}", 1))


def read(conn: Connection) -> Revisions:
    rows = repository.list_all(conn)
    topics = {row["topic"]: row["id"] for row in rows}
    return Revisions(topics.get("", 0), topics, {row["topic"]: row["event_id"] for row in rows})
