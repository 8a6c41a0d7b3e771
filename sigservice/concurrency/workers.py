"""The threads that run requests, one at a time while they only compute.

Python runs one thread at a time. Threads that only compute and are awake together pass the
interpreter to each other at every system call, which took more time than the requests (futex
calls: 14 for each). So one worker has the turn: it runs the waiting requests one after another.
A request that is about to wait for the database releases the turn, and another worker takes it.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Any

from sigservice.log import Logger

STALL_SECONDS = 0.005
MAX_NESTED = 15  # each takes about 25 of Python's 1000 frames
MAX_SEARCHED = 64


class Workers:
    """Replaces the task dispatcher of waitress. A task has `service()` and `cancel()`, and `kind`:
    the tasks of a kind other than "" can run while another one of them waits in the same thread.
    """

    def __init__(self, count: int, logger: Logger) -> None:
        self._logger = logger
        self._lock = threading.Lock()
        self._queue: deque[Any] = deque()
        self._turn: Worker | None = None
        self._idle: list[Worker] = []
        self._started = 0  # tasks
        self._progress = 0, 0.0  # the number of started tasks, and the time of that number
        self._loop_waits, self._turn_ended = False, threading.Lock()
        self._turn_ended.acquire()
        self._is_stopping = False
        self._threads = [Worker(self, number) for number in range(count)]
        for thread in self._threads:
            thread.start()

    @property
    def is_waiting(self) -> bool:
        """Whether a task waits for a worker."""
        return bool(self._queue)

    def add_task(self, task: Any) -> None:
        """Queues a task, which runs after the next `wait`, or when the worker with the turn gets to
        it."""
        with self._lock:
            if not self._queue:
                self._progress = self._started, time.monotonic()
            self._queue.append(task)

    def wait(self, seconds: float) -> None:
        """Gives the turn to a worker if tasks wait, and waits until no worker has it, for at most
        `seconds`. The loop calls it after it has read all requests that have arrived, so that it
        doesn't compete with their worker, and one read of the revision serves them all."""
        with self._lock:
            if self._turn is None:
                self._pass_turn()
            if self._turn is None:
                return
            self._loop_waits = True
        if self._turn_ended.acquire(timeout=seconds):
            return
        with self._lock:
            if not self._loop_waits:  # released since
                self._turn_ended.acquire()
            self._loop_waits = False

    def release_stalled(self, now: float) -> None:
        """Passes the turn on if no waiting task was started for STALL_SECONDS: the request with the
        turn computes for long, or waits without releasing the turn."""
        with self._lock:
            count, since = self._progress
            if count != self._started:
                self._progress = self._started, now
            elif self._queue and now - since >= STALL_SECONDS:
                self._pass_turn()

    def shutdown(self, cancel_pending: bool = True, timeout: float = 5) -> None:
        """Ends the threads; waits `timeout` seconds for the running tasks."""
        with self._lock:
            self._is_stopping = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.wake.release()
        deadline = time.monotonic() + timeout
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        while cancel_pending and self._queue:
            self._queue.popleft().cancel()

    def release(self, worker: "Worker") -> None:
        """Passes the turn on if this worker has it."""
        with self._lock:
            if self._turn is worker:
                self._pass_turn()

    def resume(self, worker: "Worker") -> None:
        """Gives the turn to this worker if no other one has it."""
        with self._lock:
            if self._turn is None:
                self._turn = worker

    def run(self, worker: "Worker") -> None:
        while (task := self._find_task(worker)) is not None:
            self.run_task(worker, task)

    def run_task(self, worker: "Worker", task: Any) -> None:
        worker.kind = task.kind
        try:
            task.service()
        except BaseException as error:  # noqa: BLE001  the worker must go on
            self._logger.error("a request failed: %s: %s", type(error).__name__, error)

    def find_similar_task(self, worker: "Worker") -> Any:
        """The next waiting task of the kind that this worker runs, if it has the turn."""
        with self._lock:
            if self._turn is worker and worker.kind and not self._is_stopping:
                for index, task in enumerate(islice(self._queue, MAX_SEARCHED)):
                    if task.kind == worker.kind:
                        del self._queue[index]
                        self._started += 1
                        return task
        return None

    def _pass_turn(self) -> None:
        """Passes the turn to an idle worker if a task waits."""
        self._turn = self._idle.pop() if self._queue and self._idle else None
        if self._turn is not None:
            self._turn.wake.release()
        elif self._loop_waits:
            self._loop_waits = False
            self._turn_ended.release()

    def _find_task(self, worker: "Worker") -> Any:
        """The next task when it is this worker's turn; None to end."""
        while True:
            with self._lock:
                if self._is_stopping:
                    return None
                if self._queue and (self._turn is None or self._turn is worker):
                    self._turn = worker
                    self._started += 1
                    return self._queue.popleft()
                if self._turn is worker:  # no task waits
                    self._pass_turn()
                self._idle.append(worker)
            worker.wake.acquire()


class Worker(threading.Thread):
    """A thread of Workers; `wake` is released when it gets the turn. `kind` is the kind of its
    task."""

    def __init__(self, workers: Workers, number: int) -> None:
        super().__init__(name=f"worker-{number}", daemon=True)
        self._workers, self._depth = workers, 0
        self.kind = ""
        self.wake = threading.Lock()
        self.wake.acquire()

    def run(self) -> None:
        self._workers.run(self)

    @property
    def is_nested(self) -> bool:
        return self._depth > 0

    def release_turn(self) -> None:
        self._workers.release(self)

    def resume_turn(self) -> None:
        self._workers.resume(self)

    def run_similar_tasks(self, is_done: Callable[[], bool]) -> None:
        if self._depth == MAX_NESTED:
            return
        self._depth += 1
        for _ in range(MAX_NESTED):
            task = None if is_done() else self._workers.find_similar_task(self)
            if task is None:
                break
            self._workers.run_task(self, task)
        self._depth -= 1


def release_turn() -> None:
    """Called before a wait, for example for the database: another worker runs requests
    meanwhile."""
    thread = threading.current_thread()
    if isinstance(thread, Worker):
        thread.release_turn()


def resume_turn() -> None:
    """Called after a wait: takes the turn if no other worker has it."""
    thread = threading.current_thread()
    if isinstance(thread, Worker):
        thread.resume_turn()


def run_similar_tasks(is_done: Callable[[], bool]) -> None:
    """Called before a wait that requests of the same kind share: first runs the queued ones in this
    thread, inside of the current request, until `is_done`."""
    thread = threading.current_thread()
    if isinstance(thread, Worker):
        thread.run_similar_tasks(is_done)


def is_nested() -> bool:
    """Whether this thread runs a request inside of another one, see `run_similar_tasks`."""
    thread = threading.current_thread()
    return isinstance(thread, Worker) and thread.is_nested
