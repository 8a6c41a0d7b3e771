"""Buffers: what requests record, until a job writes it."""

import pytest

from sigservice.concurrency.buffer import Buffer


@pytest.fixture
def buffer():
    buffer = Buffer[str, int](2)
    for key in ("a", "b", "a"):
        assert buffer.add(key, lambda value: (value or 0) + 1)
    return buffer


def test_values_are_drained_once(buffer):
    assert buffer.drain() == {"a": 2, "b": 1}
    assert buffer.drain() == {}


def test_a_full_buffer_takes_no_new_key(buffer):
    assert not buffer.add("c", lambda value: 1)
    assert buffer.add("a", lambda value: 9)
    assert buffer.drain() == {"a": 9, "b": 1}


def test_what_changed_during_a_write_is_written_again(buffer):
    def write(values):
        assert buffer.get("a") == 2
        buffer.add("a", lambda value: 7)

    buffer.store(write)
    assert buffer.drain() == {"a": 7}


def test_an_error_keeps_the_values(buffer):
    with pytest.raises(ZeroDivisionError):
        buffer.store(lambda values: 1 / 0)
    assert buffer.drain() == {"a": 2, "b": 1}
