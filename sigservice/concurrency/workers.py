"""The threads that run requests, one at a time while they only compute.

Python runs one thread at a time. Threads that only compute and are awake together pass the
interpreter to each other at every system call, which took more time than the requests (futex
calls: 14 for each). So one worker has the turn: it runs the waiting requests one after another.
A request that is about to wait for the database releases the turn, and another worker takes it.
Requests that have waited for another thread go on one after another too, before new ones.
"""

import threading
import time
from collections import deque
from typing import Any

from sigservice.log import Logger

STALL_SECONDS = 0.005
# Workers of the listener besides the ones below. Password hashing uses at most three of
# them.
FREE_WORKERS = 8
# Callers that wait for one group commit (db/group_commit.py): senders of signals, or SDKs that
# report; and SDKs that report with public tokens, so that these keep no others waiting.
MAX_WAITING, MAX_FRONTEND_WAITING = 64, 32
# Files that are sent while they are read from the database (web/streamed_files.py). Each occupies a
# worker as long as its client reads.
MAX_STREAMED_FILES = 4
# Requests that query a metric source or wait until it is free (services/rules/source_locks.py), at
# most for its timeout. A source that hangs occupies at most half of them.
MAX_SOURCE_QUERIES = 6
# Tests of integrations, which wait up to 30 s for their receivers.
MAX_INTEGRATION_TESTS = 4
# Slow reads of users and tools: searches in events and signals, exports. They use one of
# every SLOW_PART connections of the pool, but at least one; so many callers wait for one.
SLOW_PART, MAX_WAITING_SLOW = 4, 2


class Workers:
    """Replaces the task dispatcher of waitress. A task has `service()` and `cancel()`. A thread
    starts when a task finds none idle, up to `count` threads."""

    def __init__(self, count: int, logger: Logger) -> None:
        self._logger = logger
        self._lock = threading.Lock()
        # Tasks, and workers that have waited and go on when they get the turn.
        self._queue: deque[Any] = deque()
        self._turn: Worker | None = None
        self._idle: list[Worker] = []
        self._started = 0  # tasks, and workers that went on
        self._progress = 0, 0.0  # `_started`, and the time of that number
        self._loop_waits, self._turn_ended = False, threading.Lock()
        self._turn_ended.acquire()
        self._is_stopping = False
        self._count = count
        self._threads: list[Worker] = []

    @property
    def is_busy(self) -> bool:
        """Whether a task waits for a worker, or a request computes: it may keep others waiting."""
        return self._turn is not None or bool(self._queue)

    def add_task(self, task: Any) -> None:
        """Queues a task, which runs after the next `wait`, or when the worker with the turn gets to
        it."""
        with self._lock:
            self._note_arrival()
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
        """Passes the turn on if nothing that waits was started for STALL_SECONDS: the request with
        the turn computes for long, or waits without releasing the turn."""
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
        if cancel_pending:
            with self._lock:  # workers that wait for the turn still get it
                tasks = [item for item in self._queue if not isinstance(item, Worker)]
                self._queue = deque(item for item in self._queue if isinstance(item, Worker))
            for task in tasks:
                task.cancel()

    def release(self, worker: "Worker") -> None:
        """Passes the turn on if this worker has it."""
        with self._lock:
            if self._turn is worker:
                self._pass_turn()

    def resume(self, worker: "Worker") -> None:
        """Wakes this worker when it can have the turn, before all that wait."""
        with self._lock:
            self._note_arrival()
            self._queue.appendleft(worker)
            if self._turn is None:
                self._pass_turn()

    def put_last(self, worker: "Worker") -> bool:
        """Passes the turn of this worker on until all that wait have had it. False if it doesn't
        have it, or nothing waits."""
        with self._lock:
            if self._turn is not worker or not self._queue:
                return False
            self._queue.append(worker)
            self._pass_turn()
            return True

    def run(self, worker: "Worker") -> None:
        while (task := self._find_task(worker)) is not None:
            try:
                task.service()
            except BaseException as error:  # noqa: BLE001  the worker must go on
                self._logger.error("a request failed: %s: %s", type(error).__name__, error)

    def _note_arrival(self) -> None:
        if not self._queue:
            self._progress = self._started, time.monotonic()

    def _pass_turn(self) -> None:
        """Passes the turn to the worker that is first in the queue, or to one for the task that is
        first: an idle or a new one. If there is none, the first worker in the queue gets it."""
        self._turn = None
        if self._queue and not isinstance(self._queue[0], Worker) and not self._is_stopping:
            if self._idle:
                self._turn = self._idle.pop()
                self._turn.wake.release()
            elif len(self._threads) < self._count:
                self._start_worker()
        if self._turn is None:
            self._turn = next((item for item in self._queue if isinstance(item, Worker)), None)
            if self._turn is not None:
                self._queue.remove(self._turn)
                self._started += 1
                self._turn.wake.release()
        if self._turn is None and self._loop_waits:
            self._loop_waits = False
            self._turn_ended.release()

    def _start_worker(self) -> None:
        """Starts a worker, which has the turn. If the system allows no more threads, the task waits
        for one that is idle."""
        worker = Worker(self, len(self._threads))
        self._turn = worker
        try:
            worker.start()
        except RuntimeError as error:
            self._turn = None
            self._logger.error("a thread for requests can't be started: %s", error)
        else:
            self._threads.append(worker)

    def _find_task(self, worker: "Worker") -> Any:
        """The next task when it is this worker's turn; None to end."""
        while True:
            with self._lock:
                can_run = self._turn in (None, worker) and not self._is_stopping
                if can_run and self._queue and not isinstance(self._queue[0], Worker):
                    self._turn = worker
                    self._started += 1
                    return self._queue.popleft()
                if self._turn is worker:
                    self._pass_turn()
                if self._is_stopping:
                    return None
                self._idle.append(worker)
            worker.wake.acquire()


class Worker(threading.Thread):
    """A thread of Workers; `wake` is released when it gets the turn."""

    def __init__(self, workers: Workers, number: int) -> None:
        super().__init__(name=f"worker-{number}", daemon=True)
        self._workers = workers
        self.wake = threading.Lock()
        self.wake.acquire()

    def run(self) -> None:
        self._workers.run(self)

    def release_turn(self) -> None:
        self._workers.release(self)

    def resume_turn(self) -> None:
        self._workers.resume(self)

    def yield_turn(self) -> None:
        if self._workers.put_last(self):
            self.wake.acquire()


def release_turn() -> None:
    """Called before a wait, for example for the database: another worker runs requests
    meanwhile."""
    thread = threading.current_thread()
    if isinstance(thread, Worker):
        thread.release_turn()


def yield_turn() -> None:
    """Lets all that wait for the turn have it first."""
    thread = threading.current_thread()
    if isinstance(thread, Worker):
        thread.yield_turn()


class Wait:
    """A wait of this thread, which `end()` of another one ends. A worker goes on when it has the
    turn: threads that all go on at the end of their wait take the interpreter from each other."""

    def __init__(self) -> None:
        thread = threading.current_thread()
        self._worker = thread if isinstance(thread, Worker) else None
        self._lock = self._worker.wake if self._worker is not None else threading.Lock()
        if self._worker is None:
            self._lock.acquire()

    def wait(self, timeout: float = -1) -> bool:
        """False if the time has passed, in seconds. Then either nobody will call `end`, or the
        thread must wait again."""
        return self._lock.acquire(timeout=timeout)

    def end(self) -> None:
        """A worker goes on before those that went on earlier, and before new requests."""
        if self._worker is not None:
            self._worker.resume_turn()
        else:
            self._lock.release()


def count_slow(pool_size: int) -> int:
    """The number of connections for slow reads."""
    return max(1, pool_size // SLOW_PART)


def count_workers(pool_size: int) -> int:
    """The number of threads for requests: as many as slow reads, group commits, files, metric
    sources and tests of integrations can occupy, and some for other requests."""
    occupied = count_slow(pool_size) + MAX_WAITING_SLOW
    occupied += MAX_WAITING + MAX_FRONTEND_WAITING
    occupied += MAX_STREAMED_FILES + MAX_SOURCE_QUERIES + MAX_INTEGRATION_TESTS
    return max(occupied + FREE_WORKERS, pool_size * 2)
