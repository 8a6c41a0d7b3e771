"""The freeze of releases: none starts or advances, while guards still act."""

from typing import Any, ClassVar

import msgspec

from sigservice.db import Connection
from sigservice.repository.system import settings
from sigservice.services import revisions
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems
from sigservice.services.system import events

_KEY = "release_freeze"


class Freeze(msgspec.Struct):
    read_only: ClassVar = ()

    frozen: bool
    reason: str | None = None


def read_freeze(conn: Connection) -> Freeze:
    text = settings.find(conn, _KEY)
    return msgspec.json.decode(text, type=Freeze) if text else Freeze(False)


def set_freeze(conn: Connection, new: Freeze, by: Identity) -> Freeze:
    """Raises BadDataError."""
    Problems().check_text(new.reason, "reason", max_length=500).raise_if_any()
    revisions.lock(conn)  # so that no step is decided at the same time
    before = read_freeze(conn)
    if new == before:
        return new
    settings.save(conn, _KEY, msgspec.json.encode(new).decode())
    data: list[dict[str, Any]] = [msgspec.to_builtins(freeze) for freeze in (new, before)]
    events.record(conn, "release-freeze-updated", by, data=data[0], pre_data=data[1])
    return new
