"""The loop of the listener: which connections can be read or written.

wasyncore's own loop calls every connection twice in each round and registers all of them again,
which costs more than parsing a request. Here a connection stays registered, and the loop looks at
it again after an event of it, after `change`, and in `refresh`.
"""

import select
import selectors
from collections import deque
from typing import Any

from waitress import wasyncore

_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


class EventLoop(dict[int, Any]):
    """The map that waitress fills: its dispatchers by file descriptor. One thread uses it, except
    for `change`."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = selectors.DefaultSelector()
        self._events: dict[int, int] = {}  # registered ones; 0 for a dispatcher that wants none
        self._changed: deque[int] = deque()

    def __setitem__(self, fd: int, dispatcher: Any) -> None:
        super().__setitem__(fd, dispatcher)
        self._events[fd] = 0
        self._changed.append(fd)

    def __delitem__(self, fd: int) -> None:
        super().__delitem__(fd)
        if self._events.pop(fd):
            self._selector.unregister(fd)
        # A listening socket that had reached the limit of connections accepts again.
        self._changed.extend(other for other, events in self._events.items() if not events)

    def change(self, fd: int) -> None:
        """Makes the loop look at this dispatcher again, from any thread. The caller then pulls
        the trigger, because the loop may sleep."""
        self._changed.append(fd)

    def refresh(self) -> None:
        """Looks at all dispatchers: waitress closes idle connections by setting an attribute."""
        self._changed.extend(self)

    def run_once(self, seconds: float) -> None:
        """Waits for events for at most `seconds` and handles them."""
        while self._changed:
            self._update(self._changed.popleft())
        for key, events in self._selector.select(seconds):
            fd, dispatcher = key.fd, key.data  # another one has the number if this one closed
            if events & _READ and self._is_open(fd, dispatcher):
                if not dispatcher.readable():
                    self._update(fd)
                    continue
                wasyncore.readwrite(dispatcher, select.POLLIN)
            if events & _WRITE and self._is_open(fd, dispatcher):
                wasyncore.readwrite(dispatcher, select.POLLOUT)
            if key.events & _WRITE or (self._is_open(fd, dispatcher) and dispatcher.writable()):
                self._update(fd)

    def close(self) -> None:
        self._selector.close()

    def _is_open(self, fd: int, dispatcher: Any) -> bool:
        return self.get(fd) is dispatcher

    def _update(self, fd: int) -> None:
        if fd not in self:
            return
        dispatcher = self[fd]
        events = _READ if dispatcher.readable() else 0
        if dispatcher.writable() and not dispatcher.accepting:
            events |= _WRITE
        former, self._events[fd] = self._events[fd], events
        if events == former:
            return
        if not events:
            self._selector.unregister(fd)
        elif former:
            self._selector.modify(fd, events, dispatcher)
        else:
            self._selector.register(fd, events, dispatcher)
