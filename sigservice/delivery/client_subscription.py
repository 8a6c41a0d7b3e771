"""The stream of a server-side SDK: the changes of its flags."""

from sigservice.delivery.delta import build_message
from sigservice.delivery.event_stream import write_event
from sigservice.delivery.flag_state import FlagState
from sigservice.delivery.flag_states import FlagStates
from sigservice.delivery.revision_cache import Access
from sigservice.services.flags.client_features import Query


class ClientSubscription:
    """`state` is the state that the stream has begun with."""

    browser = None  # see streams.Subscription

    def __init__(self, states: FlagStates, access: Access, query: Query, state: FlagState) -> None:
        self.access = access
        self._states, self._query = states, query
        self._revision, self._event_id = state.revision, state.event_id

    def write_connected(self, state: FlagState, since: int | None) -> bytes:
        """The first event: the changes since the event ID `since`, or everything."""
        message = build_message(state, self._query, since) or b'{"events":[]}'
        return self._write(message, "unleash-connected")

    def write_change(self, revision: int) -> bytes:
        """See streams.Subscription."""
        if revision == self._revision:
            return b""
        state = self._states.get(self.access.environment, revision)
        message = build_message(state, self._query, self._event_id)
        self._revision, self._event_id = state.revision, state.event_id
        return self._write(message, "unleash-updated") if message else b""

    def _write(self, message: bytes, name: str) -> bytes:
        return write_event(message, event_id=self._event_id, name=name)
