"""What a server-side SDK that streams gets: the changes of its flags."""

from sigservice.delivery.event_stream import write_event
from sigservice.delivery.flag_history import FlagHistory, FlagState
from sigservice.delivery.revision_cache import Access
from sigservice.delivery.stream_trials import Trial
from sigservice.services.flags.client_features import Query


class ClientSubscription:
    """`state` is what the stream has begun with."""

    # See streams.Subscription.
    browser = None
    trial: Trial | None = None

    def __init__(
        self, history: FlagHistory, access: Access, query: Query, state: FlagState
    ) -> None:
        self.access = access
        self._history, self._query = history, query
        self._revision, self._event_id = state.revision, state.event_id

    def write_change(self, revision: int) -> bytes:
        """See streams.Subscription."""
        if revision == self._revision:
            return b""
        state = self._history.get(self.access.environment, revision)
        message = state.build_message(self._query, self._event_id)
        self._revision, self._event_id = state.revision, state.event_id
        if not message:
            return b""
        return write_event(message, event_id=state.event_id, name="unleash-updated")


def write_connected(state: FlagState, query: Query, since: int | None) -> bytes:
    """The first event: what has changed since the event ID `since`, or everything."""
    message = state.build_message(query, since) or b'{"events":[]}'
    return write_event(message, event_id=state.event_id, name="unleash-connected")
