"""Which SDKs that poll are asked to stream, and the trial of their first stream.

Something between may hold back a stream until it ends, and the server can't see that. So the first
stream of a client that has polled tells it to poll again. A client that does so while the stream is
open has received the event, and is asked to stream once more. The service ends the stream of a
client that doesn't, which releases what was held back, and never asks this client again.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum, auto

from sigservice.clock import Clock
from sigservice.delivery.event_stream import write_event
from sigservice.errors import RateLimitError

# Longer than the interval of a poller, 15 s by default: the Node SDK doesn't stop its timer, which
# would make a second poll in each interval if the client polled again before it expires.
TRIAL_SECONDS = 16.0
# In which the first event arrives on every path that passes streams. Pings keep such a stream open.
FIRST_EVENT_SECONDS = 30.0
RETRY_AFTER_SECONDS = 30
POLL_AGAIN = write_event(b"polling", name="fetch-mode")


class Stage(Enum):
    """Of a client in this process. Others may have asked it, or answer its next request."""

    POLLING = auto()
    ASKED = auto()
    ON_TRIAL = auto()
    LEFT = auto()  # closed its trial stream
    PASSED = auto()  # polled then, and was asked again
    STREAMING = auto()  # without a trial, or after it
    REFUSED = auto()


@dataclass(frozen=True)
class _State:
    stage: Stage
    # clock.monotonic() at which a trial ends, or a client must have its first event.
    deadline: float = 0.0


class Trial:
    """`ends_at` is the clock.monotonic() at which the service ends the stream."""

    def __init__(self, clients: "StreamClients", id: str, ends_at: float) -> None:
        self._clients, self._id, self.ends_at = clients, id, ends_at

    def finish(self, *, has_left: bool) -> None:
        """`has_left`: whether the client has closed the stream, before the service did."""
        self._clients.finish_trial(self._id, has_left=has_left)


class StreamClients:
    """The stages of clients by connection ID, each of which a running SDK has one of. Those of
    the `capacity` clients that changed last are kept."""

    def __init__(self, clock: Clock, capacity: int = 100_000) -> None:
        self._clock, self._capacity = clock, capacity
        self._states: OrderedDict[str, _State] = OrderedDict()
        self._lock = threading.Lock()

    def must_ask(self, id: str, *, is_current: bool, is_outdated: bool) -> bool:
        """Whether the response to this poll asks the client to stream. The client has the current
        document, has another one, or sends no ETag."""
        state = self._states.get(id)
        stage = state.stage if state else None
        if stage in (Stage.ON_TRIAL, Stage.LEFT) and not is_outdated:
            self._set(id, Stage.PASSED)
            return True
        if stage is Stage.PASSED and is_current:
            return True  # another process got its stream, and had it on trial
        if stage in (None, Stage.POLLING) and is_current:
            self._set(id, Stage.ASKED, self._clock.monotonic() + FIRST_EVENT_SECONDS)
            return True
        if stage is None:
            self._set(id, Stage.POLLING)
        return False

    def needs_trial(self, id: str) -> bool:
        """For a client that opens a stream without an event ID. Raises RateLimitError, on which
        SDKs poll, if its events were held back before."""
        state = self._states.get(id)
        if state is None:
            return False
        # A client that was asked has had a stream of another process meanwhile.
        has_deadline = state.stage in (Stage.ASKED, Stage.ON_TRIAL, Stage.STREAMING)
        is_late = has_deadline and self._clock.monotonic() >= state.deadline
        if is_late or state.stage is Stage.REFUSED:
            self._set(id, Stage.REFUSED)
            raise RateLimitError(
                "No event reached this client. Poll instead.",
                headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
            )
        # One that has polled was asked, by this process or another one.
        return state.stage in (Stage.POLLING, Stage.ASKED, Stage.ON_TRIAL)

    def begin(self, id: str, *, is_trial: bool) -> Trial | None:
        """For a client whose stream begins without an event ID."""
        stage = Stage.ON_TRIAL if is_trial else Stage.STREAMING
        state = self._states.get(id)
        if state is None or state.stage is not stage:
            seconds = TRIAL_SECONDS if is_trial else FIRST_EVENT_SECONDS
            state = self._set(id, stage, self._clock.monotonic() + seconds)
        return Trial(self, id, state.deadline) if is_trial else None

    def finish_trial(self, id: str, *, has_left: bool) -> None:
        with self._lock:
            state = self._states.get(id)
            if state is not None and state.stage is Stage.ON_TRIAL:
                self._states[id] = _State(Stage.LEFT if has_left else Stage.REFUSED)

    def _set(self, id: str, stage: Stage, deadline: float = 0.0) -> _State:
        state = _State(stage, deadline)
        with self._lock:
            self._states[id] = state
            self._states.move_to_end(id)
            while len(self._states) > self._capacity:
                self._states.popitem(last=False)
        return state
