"""Counters, histograms and their text: exact names, limit labels, nothing that breaks a line."""

from __future__ import annotations

import threading
from collections import defaultdict

import pytest

from sigservice.concurrency import wait_budget
from sigservice.errors import UnavailableError
from sigservice.telemetry import CachedExposition, Telemetry, exposition
from sigservice.telemetry import instruments as module
from sigservice.telemetry.instruments import Counter, Histogram, Instruments, Names
from tests.waiting import DEADLINE_SECONDS


def lines(make, start):
    text = exposition.write(make.collect()).decode()
    return [line for line in text.splitlines() if line.startswith(start)]


def test_a_counter_has_the_name_that_it_was_given():
    make = Instruments(enabled=True)
    counter = make.add(Counter("oddly_named", "What\nit \\ is.", ("a", "b")))
    make.add(Counter("plain_total", "Plain.")).inc(amount=2.5)
    counter.inc('x"\\\n', "é")
    assert lines(make, "oddly") == ['oddly_named{a="x\\"\\\\\\n",b="é"} 1.0']
    assert lines(make, "# TYPE oddly") == ["# TYPE oddly_named counter"]
    assert lines(make, "# HELP oddly") == ["# HELP oddly_named What\\nit \\\\ is."]
    assert lines(make, "plain") == ["plain_total 2.5"]


def test_a_histogram_counts_into_all_larger_buckets():
    make = Instruments(enabled=True)
    histogram = make.add(Histogram("took", "Took.", ("path",), bounds=(1, 5, 10)))
    for value in (0.5, 1, 7, 70):
        histogram.observe(value, "/a")
    assert lines(make, "took") == [
        'took_bucket{le="1",path="/a"} 2.0',
        'took_bucket{le="5",path="/a"} 2.0',
        'took_bucket{le="10",path="/a"} 3.0',
        'took_bucket{le="+Inf",path="/a"} 4.0',
        'took_count{path="/a"} 4.0',
        'took_sum{path="/a"} 78.5',
    ]


def test_names_that_clients_make_up_are_cut_and_then_empty():
    names = Names(max_names=2)
    long = "x" * 500
    assert names.limit(long) == names.limit(long + "y") == "x" * 100
    assert [names.limit(text) for text in ("a", "b", "a")] == ["a", "", "a"]
    assert Names(max_names=0).limit("a") == ""


def test_label_sets_are_bounded_where_clients_fill_them(monkeypatch):
    monkeypatch.setattr(module, "MAX_SERIES", 2)
    make = Instruments(enabled=True)
    counter = make.add(Counter("c", "C.", ("app", "kind"), ("app",)))
    histogram = make.add(Histogram("h", "H.", ("app",), ("app",), bounds=(1,)))
    for n in range(9):
        counter.inc(f"app-{n}", "k")
        histogram.observe(1, f"app-{n}")
    assert counter.values() == {("app-0", "k"): 1, ("app-1", "k"): 1, ("", "k"): 7}
    assert len(lines(make, "h_count")) == 3


def test_nothing_is_lost_when_threads_count_at_once():
    make = Instruments(enabled=True)
    counter, histogram = (
        make.add(Counter("c", "C.")),
        make.add(Histogram("h", "H.", ("a",), bounds=(1,))),
    )

    def count():
        for _ in range(5000):
            counter.inc()
            histogram.observe(2, "x")

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lines(make, "c ") == ["c 20000.0"]
    assert lines(make, "h_sum") == ['h_sum{a="x"} 40000.0']


def test_off_means_that_nothing_is_counted_or_registered():
    make = Instruments(enabled=False)
    counter, histogram = make.add(Counter("c", "C.")), make.add(Histogram("h", "H.", bounds=(1,)))
    counter.inc()
    histogram.observe(1)
    assert counter.values() == {(): 0}
    assert list(make.collect()) == []


def make_telemetry(monotonic):
    empty = dict.fromkeys(("projects", "environment_types", "alert_rules"), "{}")
    return Telemetry(
        enabled=True,
        with_app_names=True,
        version="1",
        monotonic=monotonic,
        count=lambda reported: defaultdict(float, empty | {"postgres_version": "18"}),
    )


def test_what_takes_long_to_write_is_told_again_for_a_while():
    now = [0.0]

    def slow():
        now[0] += slow.takes
        yield (), now[0]

    slow.takes = 1.0
    telemetry = make_telemetry(lambda: now[0])
    telemetry.add_gauge("slow", "Slow.", [], slow)
    first = telemetry.write_exposition()
    now[0] = 9.9
    assert telemetry.write_exposition() == first
    now[0], slow.takes = 10.0, 0.1
    assert telemetry.write_exposition() != first
    assert telemetry.write_exposition() != telemetry.write_exposition()


def test_a_request_that_has_waited_long_does_not_wait_for_another_one():
    """While the database hangs, each would wait for all before it."""
    is_writing, may_end = threading.Event(), threading.Event()

    def hang():
        is_writing.set()
        assert may_end.wait(DEADLINE_SECONDS)
        return b""

    exposition = CachedExposition(hang, lambda: 0.0)
    writer = threading.Thread(target=exposition.read)
    writer.start()
    assert is_writing.wait(DEADLINE_SECONDS)
    threading.Timer(2, may_end.set).start()  # a caller without a limit waits until then
    with wait_budget.measure_request(wait_budget.MAX_WAIT_SECONDS), pytest.raises(UnavailableError):
        exposition.read()
    may_end.set()
    writer.join(DEADLINE_SECONDS)
