"""Numbers that tell caches about a change: each grows in the transaction of the change.

Every change that an SDK can see begins with `lock`, so only one runs at a time, and ends with
`bump`, which records what it touched. Who reads a revision also sees every change up to it. The
topics are `""`, whose revision is the generation and which all changes bump, `all` environments,
`in/<environment>`, `tokens` and `history`. Revisions follow the clock, so a restored database never
gives the revision of a lost state to other content. Event IDs can't follow the clock as closely:
see `replace_lost`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from sigservice.services.late import db
from sigservice.services.late import revision_rows as revisions

if TYPE_CHECKING:
    from sigservice.db import Connection
    from sigservice.repository.revisions import RevisionBump

_HISTORY = "history"
MAX_RECORDED_FLAGS = 1000  # of a change; processes read all flags after a larger one


def lock(conn: Connection) -> int:
    """Returns the generation, which grows with each change. The lock lasts until the end of the
    transaction; taking it again costs one round trip."""
    return revisions.lock(conn)


def bump(
    conn: Connection, *environments: str, flags: Iterable[str] | None, segments: Sequence[int] = ()
) -> None:
    """Records a change of these flags and segments that SDKs of these environments can see; without
    environments, of all. `flags` is None if it may be any."""
    revisions.bump(conn, build_bump(*environments, flags=flags, segments=segments))


def build_bump(
    *environments: str, flags: Iterable[str] | None, segments: Sequence[int] = ()
) -> RevisionBump:
    """The values that `bump` records, for a statement that records them itself."""
    topics = ["", *(f"in/{name}" for name in environments)] if environments else ["", "all"]
    names = None if flags is None else sorted(set(flags))
    if names is not None and len(names) > MAX_RECORDED_FLAGS:
        names = None
    return revisions.RevisionBump(topics, list(environments) or None, names, list(segments))


def bump_tokens(conn: Connection) -> None:
    """Records a change of API tokens or of the settings of the client and frontend API."""
    revisions.bump(conn, revisions.RevisionBump(["", "tokens"], [], [], []))


@dataclass(frozen=True)
class Revisions:
    """The revisions and event IDs of all topics at one moment; `generation` grows with every
    change."""

    generation: int = -1
    topics: Mapping[str, int] = field(default_factory=dict)
    event_ids: Mapping[str, int] = field(default_factory=dict)

    def of_environment(self, environment: str) -> int:
        """The revision of one environment. It grows, unless the database is restored."""
        return max(self.topics.get("all", 0), self.topics.get(f"in/{environment}", 0))

    def find_event_id(self, environment: str) -> int:
        """The number of the last change of this environment. It identifies its state like the
        revision, and fits the 32 bits of SDKs."""
        return max(self.event_ids.get("all", 1), self.event_ids.get(f"in/{environment}", 1))

    @property
    def history(self) -> int:
        """A number that differs after the database went back: earlier event IDs may name lost
        states."""
        return self.topics.get(_HISTORY, 0)

    def is_after(self, earlier: Self) -> bool:
        """Whether these revisions include all changes of `earlier`. If not, the database went back:
        a backup was restored, or a standby without the last commits took over."""
        for topic, before in earlier.topics.items():
            grown_by = self.topics.get(topic, 0) - before
            events = self.event_ids.get(topic, 0) - earlier.event_ids[topic]
            if not (grown_by == events == 0 or (grown_by > 0 and events > 0)):
                return False
        return True


def replace_lost(conn: Connection, lost: Revisions) -> Revisions:
    """Bumps all topics to numbers above `lost`, which the database no longer has, and
    returns them. Otherwise the same event IDs could come back soon, because they count seconds
    and are ahead of the clock after many changes in a short time."""
    with db.single_transaction(conn):
        # Readers must not wait for a standby. If this commit is lost too, the numbers are replaced
        # again.
        revisions.commit_locally(conn)
        numbers = max(lost.topics.values()), max(lost.event_ids.values())
        topics = ["", "all", "tokens", _HISTORY]
        revisions.bump(conn, revisions.RevisionBump(topics, None, None, [], *numbers))
    return read(conn)


def read(conn: Connection) -> Revisions:
    rows = revisions.list_all(conn)
    return build_revisions({row["topic"]: (row["id"], row["event_id"]) for row in rows})


def build_revisions(numbers: Mapping[str, tuple[int, int]]) -> Revisions:
    """`numbers` are the revision and the event ID of each topic."""
    ids = {topic: id for topic, (id, _) in numbers.items()}
    event_ids = {topic: event_id for topic, (_, event_id) in numbers.items()}
    return Revisions(ids.get("", 0), ids, event_ids)
