"""Group commit: what concurrent callers get, and what is stored."""

import threading
import time
from contextlib import closing
from typing import NamedTuple

import pytest

from sigservice.concurrency import wait_budget
from sigservice.concurrency.workers import Workers
from sigservice.db.group_commit import GroupCommit
from sigservice.db.pool import Database
from sigservice.db.statements import fetch_all
from sigservice.errors import BadDataError, UnavailableError
from sigservice.log import build_line_loggers
from tests.server.process import until
from tests.waiting import DEADLINE_SECONDS

POISON = 0  # the statement divides by it
INSERT = """
INSERT INTO items SELECT n, 100 / n FROM unnest(%(numbers)s) AS n
RETURNING number, xmin::text AS commit
"""
BLOCKED = "SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'items'::regclass"


class Item(NamedTuple):
    number: int
    size: int = 1


class Group:
    """A group commit of numbers into a table. Before its statement each group waits for
    `may_write`, and one of several items for `may_share`."""

    def __init__(self, arguments, **limits):
        settings = {"client_min_messages": "warning"}
        self.pool = Database(
            lambda: arguments, min_size=0, max_size=3, idle_seconds=60, settings=settings
        )
        limits = {"max_waiting": 100, "max_bytes": 100, "wait_seconds": 60} | limits
        self.sizes, self.writers, self.results, self.errors = [], [], {}, {}
        self.commits = GroupCommit(self.pool, self.write, observe=self.sizes.append, **limits)
        self.on_write = lambda: None
        self.failures = {}  # by the first number of a group, raised after its statement
        self.may_write, self.may_share = threading.Event(), threading.Event()
        self.may_write.set()
        self.may_share.set()
        self.run("DROP TABLE IF EXISTS items", "CREATE TABLE items (number int, share int)")

    def run(self, *statements):
        """The rows of the last one."""
        with self.pool.autocommit() as conn, conn.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def write(self, conn, items):
        self.writers.append(threading.get_ident())
        self.on_write()
        self.may_write.wait(DEADLINE_SECONDS)
        if len(items) > 1:
            self.may_share.wait(DEADLINE_SECONDS)
        rows = fetch_all(conn, INSERT, numbers=[item.number for item in items])
        if items[0].number in self.failures:
            raise self.failures[items[0].number]
        commits = {row["number"]: row["commit"] for row in rows}
        return [commits[item.number] for item in items]

    def store(self, number, size=1):
        try:
            self.results[number] = self.commits.store(Item(number, size))
        except BaseException as error:  # noqa: BLE001
            self.errors[number] = error

    def start(self, *numbers, size=1):
        """Threads that store the numbers, in this order."""
        threads = []
        for number in numbers:
            waiting = self.commits.waiting
            thread = threading.Thread(target=self.store, args=(number, size), daemon=True)
            thread.start()
            until(lambda waiting=waiting: self.commits.waiting > waiting, "the caller")
            threads.append(thread)
        return threads

    def start_behind_writer(self, *numbers, size=1):
        """The caller of 1 is about to execute its statement, those of `numbers` wait."""
        self.may_write.clear()
        threads = self.start(1)
        until(lambda: self.writers, "the writer")
        return threads + self.start(*numbers, size=size)

    def list_numbers(self):
        return [number for (number,) in self.run("SELECT number FROM items ORDER BY 1")]


def join(threads):
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
    assert not any(thread.is_alive() for thread in threads)


@pytest.fixture
def make_group(temporary_database):
    groups = []

    def make(**limits):
        reached = temporary_database.options()
        arguments = {"host": reached["host"], "user": reached["user"], "dbname": "postgres"}
        groups.append(Group(arguments, **limits))
        return groups[-1]

    yield make
    for group in groups:
        group.run("DROP TABLE items")
        group.pool.close()


def test_waiting_callers_share_a_commit_and_each_gets_its_result(make_group):
    group = make_group()
    threads = group.start_behind_writer(2, 3, 4)
    group.may_write.set()
    join(threads)
    assert group.sizes == [1, 3]
    assert group.results[2] == group.results[3] == group.results[4] != group.results[1]
    assert group.list_numbers() == [1, 2, 3, 4]


def test_single_caller_stores_at_once(make_group):
    group = make_group()
    for number in (1, 2, 3):
        group.store(number)
        assert group.list_numbers()[-1] == number
    assert (group.sizes, set(group.writers)) == ([1, 1, 1], {threading.get_ident()})
    assert group.commits.waiting == 0


def test_no_caller_is_answered_before_the_commit(make_group):
    group = make_group()
    with closing(group.pool.open_dedicated()) as locker:
        threads = group.start_behind_writer(2, 3)
        locker.cursor().execute("LOCK TABLE items IN SHARE MODE")
        group.may_write.set()
        until(lambda: group.run(BLOCKED), "the first statement")
        assert (group.results, group.errors, group.list_numbers()) == ({}, {}, [])
    join(threads)
    assert set(group.results) == {1, 2, 3}


def test_one_group_is_written_at_a_time_and_the_oldest_items_first(make_group):
    group = make_group(max_bytes=2)
    threads = group.start_behind_writer(*range(2, 10))
    group.may_write.set()
    join(threads)
    assert group.sizes == [1, 2, 2, 2, 2]
    assert [int(row) for (row,) in group.run("SELECT number FROM items")] == [*range(1, 10)]


def test_requests_of_workers_share_a_commit(make_group):
    """As the listener runs them."""
    group = make_group()
    threads = group.start_behind_writer()
    workers = Workers(5, build_line_loggers("fatal")("test"))

    class Task:
        def __init__(self, number):
            self.number = number

        def service(self):
            group.store(self.number)

    try:
        for number in range(2, 6):
            workers.add_task(Task(number))
        workers.wait(0)
        until(lambda: group.commits.waiting == 5, "the callers")
        group.may_write.set()
        until(lambda: len(group.results) == 5, "the results")
    finally:
        workers.shutdown()
    join(threads)
    assert group.sizes == [1, 4]


def test_group_has_waited_as_long_as_its_oldest_item(make_group):
    group = make_group(wait_seconds=60)
    waits = []

    def store(number, seconds):
        with wait_budget.measure_request(seconds):
            group.store(number)

    group.on_write = lambda: waits.append(time.monotonic() - wait_budget.get_start())
    (writer,) = group.start_behind_writer()
    threads = [threading.Thread(target=store, args=(2, 3.0))]
    threads[0].start()
    until(lambda: group.commits.waiting == 2, "the older item")
    threads += [threading.Thread(target=store, args=(n, 0.0)) for n in (3, 4)]
    for thread in threads[1:]:
        thread.start()
    until(lambda: group.commits.waiting == 4, "the others")
    group.may_write.set()
    join([writer, *threads])
    assert group.sizes == [1, 3]
    assert waits[1] >= 3.0


def test_group_has_limited_bytes_or_one_item(make_group):
    group = make_group(max_bytes=100)
    threads = group.start_behind_writer(2, 3, size=40) + group.start(4, size=400)
    threads += group.start(5, size=60)
    group.may_write.set()
    join(threads)
    assert group.sizes == [1, 2, 1, 1]


def test_item_that_cannot_be_stored_is_refused_alone(make_group):
    group = make_group()
    threads = group.start_behind_writer(2, 3, POISON, 4, 5, 6)
    group.may_write.set()
    join(threads)
    assert group.list_numbers() == sorted(group.results) == [1, 2, 3, 4, 5, 6]
    assert [*map(type, group.errors.values())] == [BadDataError]
    assert set(group.errors) == {POISON}
    assert sum(group.sizes) == 6


def test_caller_beyond_the_limit_is_refused_at_once(make_group):
    group = make_group(max_waiting=3)
    threads = group.start_behind_writer(2, 3)
    with pytest.raises(UnavailableError) as caught:
        group.commits.store(Item(4))
    assert caught.value.headers["Retry-After"] == "1"
    group.may_write.set()
    join(threads)
    group.store(5)
    assert group.list_numbers() == [1, 2, 3, 5]


def test_caller_that_waits_too_long_is_refused_and_its_item_is_never_stored(make_group):
    group = make_group(wait_seconds=0.01)
    (writer,) = group.start_behind_writer()
    late = threading.Thread(target=group.store, args=(2,))
    late.start()
    join([late])
    assert isinstance(group.errors[2], UnavailableError)
    assert writer.is_alive()
    group.may_write.set()
    join([writer])
    group.store(3)
    assert (group.list_numbers(), group.sizes) == ([1, 3], [1, 1])


def test_caller_whose_item_is_being_stored_waits_for_the_outcome(make_group):
    group = make_group(wait_seconds=1)
    group.may_share.clear()
    threads = group.start_behind_writer(2, 3)
    group.may_write.set()
    started_at = time.monotonic()
    until(lambda: time.monotonic() > started_at + 1.2, "the end of the waiting time")
    assert ([*group.results], group.errors) == ([1], {})
    group.may_share.set()
    join(threads)
    assert set(group.results) == {1, 2, 3}


def test_lost_connection_refuses_its_group_and_not_the_next_one(make_group):
    group = make_group(max_bytes=2)
    with closing(group.pool.open_dedicated()) as locker:
        threads = group.start_behind_writer(2, 3, 4)
        locker.cursor().execute("LOCK TABLE items IN SHARE MODE")
        group.may_write.set()
        former = set()  # a backend still waits for a moment after its client has the error
        for errors in (1, 3):
            ((pid,),) = until(lambda: set(group.run(BLOCKED)) - former, "a statement")
            group.run(f"SELECT pg_terminate_backend({pid})")
            former.add((pid,))
            until(lambda errors=errors: len(group.errors) == errors, "the errors of its group")
    join(threads)
    assert {type(group.errors[number]).__base__ for number in (1, 2, 3)} == {UnavailableError}
    assert group.errors[2] is not group.errors[3], "routes add headers to them"
    assert group.list_numbers() == [*group.results] == [4]
    assert group.sizes == [1], "only what was stored counts"


@pytest.mark.parametrize("failure", [ValueError("a bug"), SystemExit(1), KeyboardInterrupt()])
def test_failure_of_the_writer_refuses_its_group_and_not_the_next_one(make_group, failure):
    group = make_group(max_bytes=2)
    group.failures[2] = failure
    threads = group.start_behind_writer(2, 3, 4, 5)
    group.may_write.set()
    join(threads)
    (writer,) = (number for number, error in group.errors.items() if error is failure)
    for number in {2, 3} - {writer}:
        assert isinstance(group.errors[number], UnavailableError), "the outcome is unknown"
    assert set(group.results) == {1, 4, 5} - {writer}
    assert writer in (2, 3) or writer not in group.list_numbers(), "refused, but stored"
    assert group.commits.waiting == 0


def test_each_item_of_many_callers_is_stored_once(make_group):
    group = make_group(max_bytes=5)

    def store(first):
        for number in range(first, 400, 8):
            group.store(number)

    threads = [threading.Thread(target=store, args=(first,)) for first in range(1, 9)]
    for thread in threads:
        thread.start()
    join(threads)
    assert group.list_numbers() == list(range(1, 400))
    assert max(group.sizes) > 1
