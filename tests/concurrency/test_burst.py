"""When background work may go on at full speed."""

from __future__ import annotations

from sigservice.concurrency.burst import MAX_SECONDS, Burst


def test_a_burst_lasts_until_changes_pause(clock):
    burst = Burst(clock.monotonic)
    assert not burst.lasts
    burst.observe(True)
    assert burst.lasts
    burst.observe(False)
    assert not burst.lasts
    burst.wait(60)  # returns at once


def test_changes_that_never_end_are_no_burst(clock):
    burst = Burst(clock.monotonic)
    burst.observe(True)
    clock.advance(MAX_SECONDS + 1)
    burst.observe(True)
    assert not burst.lasts
    burst.observe(False)
    burst.observe(True)
    assert burst.lasts
