"""The service's own signals about changes of the state of an alert rule. They are stored in the
transaction that stores the state."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from sigservice.db import Connection
from sigservice.repository.signals import signals


class StateSignal(NamedTuple):
    """`status` is the value for filters of action sets: firing, resolved, pending or unknown."""

    endpoint_id: int
    type: str
    status: str
    state: str
    data: Mapping[str, Any]

    @property
    def payload(self) -> dict[str, Any]:
        """As it is stored, and as filters read it."""
        return {
            "type": self.type,
            "status": self.status,
            "state": self.state,
            "data": self.data,
        }


def store(conn: Connection, changes: Sequence[StateSignal]) -> dict[int, int]:
    """Stores the signals in their order. Returns the ID of the newest signal of each endpoint."""
    if not changes:
        return {}
    payloads = [(change.endpoint_id, msgspec.json.encode(change.payload)) for change in changes]
    return signals.insert_own(conn, payloads)
