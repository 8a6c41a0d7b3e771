"""Token buckets: never more than burst + rate * seconds, bounded in memory."""

from __future__ import annotations

import random

import pytest

from sigservice.limiter import Buckets, Limiter, RecentKeys, Shares
from sigservice.testing import FakeClock


@pytest.fixture
def clock():
    return FakeClock()


def test_burst_then_rate(clock):
    buckets = Buckets(rate=1, burst=3, monotonic=clock.monotonic)
    assert [buckets.take("a").allowed for _ in range(4)] == [True, True, True, False]
    clock.advance(1)
    assert [buckets.take("a").allowed for _ in range(2)] == [True, False]


def test_keys_do_not_share(clock):
    buckets = Buckets(rate=1, burst=1, monotonic=clock.monotonic)
    assert buckets.take("a").allowed
    assert buckets.take("b").allowed
    assert not buckets.take("a").allowed


@pytest.mark.parametrize("seed", range(50))
def test_never_grants_more_than_burst_and_rate_allow(clock, seed):
    dice = random.Random(seed)
    rate, burst = dice.choice([0.1, 1, 7.5, 100]), dice.choice([1, 2, 10])
    buckets = Buckets(rate, burst, clock.monotonic)
    granted = passed = 0.0
    for _ in range(500):
        step = dice.expovariate(rate)
        clock.advance(step)
        passed += step
        granted += buckets.take("k").allowed
        assert granted <= burst + rate * passed + 1e-6


def test_nothing_is_granted_when_the_limit_is_zero(clock):
    limiter = Limiter(clock.monotonic)
    limiter.add("x", amount=0, window=60)
    verdict, fields = limiter.take("x", "k")
    assert not verdict.allowed
    assert int(fields["Retry-After"]) >= 1


def test_headers_name_limit_window_and_wait(clock):
    limiter = Limiter(clock.monotonic)
    limiter.add("login", amount=10, window=60)
    _, fields = limiter.take("login", "k")
    assert fields["RateLimit-Policy"] == "10;w=60"
    assert (fields["RateLimit-Limit"], fields["RateLimit-Remaining"]) == ("10", "9")
    assert "Retry-After" not in fields
    for _ in range(9):
        limiter.take("login", "k")
    verdict, fields = limiter.take("login", "k")
    assert not verdict.allowed
    assert fields["Retry-After"] == fields["RateLimit-Reset"] == "6"
    clock.advance(6)
    assert limiter.take("login", "k")[0].allowed


def test_a_policy_names_the_window_for_any_amount(clock):
    limiter = Limiter(clock.monotonic)
    for amount in range(1, 200):
        limiter.add("x", amount=amount, window=60)
        assert limiter.take("x", "k")[1]["RateLimit-Policy"] == f"{amount};w=60"


def test_peek_takes_nothing(clock):
    buckets = Buckets(1, 1, clock.monotonic)
    assert all(buckets.peek("a").allowed for _ in range(5))
    assert len(buckets) == 0


def test_memory_is_bounded_and_the_longest_unused_goes(clock):
    buckets = Buckets(0.001, 1, clock.monotonic, capacity=100)
    for n in range(1000):
        buckets.take(n)
    assert len(buckets) == 100
    assert not buckets.take(999).allowed
    assert buckets.take(0).allowed


def test_recent_keys_are_bounded():
    keys = RecentKeys(capacity=2)
    for key in "abc":
        keys.add(key)
    assert ("a" in keys, "b" in keys, "c" in keys) == (False, True, True)
    keys.discard("b")
    assert "b" not in keys


def test_a_full_bucket_is_forgotten(clock):
    buckets = Buckets(rate=1, burst=2, monotonic=clock.monotonic)
    for n in range(100):
        buckets.take(n)
    clock.advance(0.5)
    buckets.take("late")
    assert len(buckets) == 101
    clock.advance(0.5)
    buckets.take("late")
    assert len(buckets) == 1
    buckets.give_back("late")
    clock.advance(1)
    assert buckets.take("late").remaining == 1


def test_a_limit_of_zero_remembers_nobody(clock):
    buckets = Buckets(rate=0, burst=0, monotonic=clock.monotonic)
    assert not any(buckets.take(n).allowed for n in range(10))
    assert len(buckets) == 0


def test_shares_bound_each_key_and_all_together():
    shares = Shares(total=10, each=6)
    assert shares.take("a", 6)
    assert not shares.take("a", 1)
    assert not shares.take("b", 5)
    assert shares.take("b", 4)
    assert not shares.take("c", 1)
    shares.release("a", 2)
    assert not shares.take("c", 3)
    assert shares.take("c", 2)


def test_share_that_is_refused_takes_nothing():
    shares = Shares(each=6)
    assert not shares.take("a", 7)
    assert shares.take("a", 6)


def test_shares_without_a_limit_take_everything():
    shares = Shares()
    assert all(shares.take("a", 10**12) for _ in range(9))
