"""Chooses the polling SDKs that are asked to stream, and tries out their first stream.

A proxy may hold back a stream until it ends, and the server can't see that. So the first stream of
a client that has polled tells it to poll again. A client that does so while the stream is open has
received the event, and is asked to stream once more. If a client doesn't poll again, the service
ends its stream, which releases the held-back events, and never asks it again.

A client that opens streams without being asked has no trial. If it comes back without an event ID,
after the time in which the first event arrives on other paths, its events were held back.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum, auto

from sigservice.clock import Clock
from sigservice.delivery.event_stream import write_event

# Longer than the interval of a poller, 15 s by default: the Node SDK doesn't stop its timer, which
# would make a second poll in each interval if the client polled again before it expires.
TRIAL_SECONDS = 16.0
# The time in which the first event arrives on every path that passes streams. Pings keep such a
# stream open. Shorter than the SDKs' own timeouts: 30 s for Python, 60 s for Node.
FIRST_EVENT_SECONDS = 25.0
RETRY_AFTER_SECONDS = 30
# Shorter than the timeout of the Python SDK. It may come back at once.
SHORT_SECONDS = 10.0
POLL_AGAIN = write_event(b"polling", name="fetch-mode")


class Kind(Enum):
    """The kind of a stream."""

    ENDLESS = auto()
    TRIAL = auto()
    SHORT = auto()  # each end releases the held-back events


class Stage(Enum):
    """The stage of a client in this process. Other processes may have asked it, or answer its next
    request."""

    POLLING = auto()
    ASKED = auto()
    ON_TRIAL = auto()
    LEFT = auto()  # closed its trial stream
    PASSED = auto()  # polled while on trial or later, and was asked again
    STREAMING = auto()  # without a trial, or after it
    REFUSED = auto()


@dataclass(frozen=True, slots=True)
class _State:
    stage: Stage
    # clock.monotonic() at which a trial ends, or a client must have its first event.
    deadline: float = 0.0


class StreamEnd:
    """The end of a stream that isn't endless. The service ends it `at` this clock.monotonic()."""

    def __init__(self, clients: "StreamClients", id: str, at: float) -> None:
        self._clients, self._id, self.at = clients, id, at

    def finish(self, *, has_left: bool) -> None:
        """`has_left`: whether the client has closed the stream, before the service did."""
        self._clients.finish_trial(self._id, has_left=has_left)


class StreamClients:
    """The stages of clients by connection ID, which each running SDK has. Keeps the `capacity`
    stages that changed last."""

    def __init__(self, clock: Clock, capacity: int = 100_000) -> None:
        self._clock, self._capacity = clock, capacity
        self._states: OrderedDict[str, _State] = OrderedDict()
        self._lock = threading.Lock()

    def must_ask(self, id: str, *, is_current: bool, is_outdated: bool) -> bool:
        """Whether the response to this poll asks the client to stream. `is_current` if the client
        has the current document, `is_outdated` if it has another one; neither if it sends no
        ETag."""
        state = self._states.get(id)
        stage = state.stage if state else None
        if stage in (Stage.ON_TRIAL, Stage.LEFT) and not is_outdated:
            self._set(id, Stage.PASSED)
            return True
        if stage is Stage.PASSED and is_current:
            return True  # another process has its stream on trial
        if stage in (None, Stage.POLLING) and is_current:
            self._set(id, Stage.ASKED, self._clock.monotonic() + FIRST_EVENT_SECONDS)
            return True
        if stage is None:
            self._set(id, Stage.POLLING)
        return False

    def choose_kind(self, id: str) -> Kind:
        """The kind of stream for a client without an event ID. SHORT if its events were held back
        before."""
        state = self._states.get(id)
        if state is None:
            return Kind.ENDLESS
        # A client that was asked has had a stream of another process meanwhile.
        has_deadline = state.stage in (Stage.ASKED, Stage.ON_TRIAL, Stage.STREAMING)
        if has_deadline and self._clock.monotonic() >= state.deadline:
            state = self._set(id, Stage.REFUSED)
        if state.stage is Stage.REFUSED:
            return Kind.SHORT
        # A client that has polled was asked, by this process or another one.
        is_trial = state.stage in (Stage.POLLING, Stage.ASKED, Stage.ON_TRIAL)
        return Kind.TRIAL if is_trial else Kind.ENDLESS

    def begin(self, id: str, kind: Kind) -> StreamEnd | None:
        """Called when the stream of a client begins; `id` is "" if the client has sent an event ID.
        Returns None for an endless stream."""
        now = self._clock.monotonic()
        if kind is Kind.SHORT:
            return StreamEnd(self, id, now + SHORT_SECONDS)
        stage = Stage.ON_TRIAL if kind is Kind.TRIAL else Stage.STREAMING
        state = self._states.get(id)
        if id and (state is None or state.stage is not stage):
            seconds = TRIAL_SECONDS if kind is Kind.TRIAL else FIRST_EVENT_SECONDS
            state = self._set(id, stage, now + seconds)
        return StreamEnd(self, id, state.deadline) if state and kind is Kind.TRIAL else None

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
