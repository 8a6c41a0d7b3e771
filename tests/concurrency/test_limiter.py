"""Token buckets: never more than burst + rate * seconds, bounded in memory."""

from __future__ import annotations

import random

import pytest

from sigservice.concurrency.limiter import Limiter, RecentKeys, TokenBuckets
from sigservice.concurrency.quotas import Quotas
from sigservice.testing import FakeClock


@pytest.fixture
def clock():
    return FakeClock()


def test_bucket_allows_its_burst_and_then_its_rate(clock):
    buckets = TokenBuckets(rate=1, burst=3, monotonic=clock.monotonic)
    assert [buckets.consume("a").is_allowed for _ in range(4)] == [True, True, True, False]
    clock.advance(1)
    assert [buckets.consume("a").is_allowed for _ in range(2)] == [True, False]


def test_each_key_has_its_own_bucket(clock):
    buckets = TokenBuckets(rate=1, burst=1, monotonic=clock.monotonic)
    assert buckets.consume("a").is_allowed
    assert buckets.consume("b").is_allowed
    assert not buckets.consume("a").is_allowed


@pytest.mark.parametrize("seed", range(50))
def test_bucket_never_allows_more_than_burst_and_rate(clock, seed):
    dice = random.Random(seed)
    rate, burst = dice.choice([0.1, 1, 7.5, 100]), dice.choice([1, 2, 10])
    buckets = TokenBuckets(rate, burst, clock.monotonic)
    count = seconds = 0.0
    for _ in range(500):
        step = dice.expovariate(rate)
        clock.advance(step)
        seconds += step
        count += buckets.consume("k").is_allowed
        assert count <= burst + rate * seconds + 1e-6


def test_limit_of_zero_allows_nothing(clock):
    limiter = Limiter(clock.monotonic)
    limiter.add("x", amount=0, window=60)
    is_allowed, headers = limiter.consume("x", "k")
    assert not is_allowed
    assert int(headers["Retry-After"]) >= 1


def test_headers_contain_limit_window_and_wait(clock):
    limiter = Limiter(clock.monotonic)
    limiter.add("login", amount=10, window=60)
    _, headers = limiter.consume("login", "k")
    assert headers["RateLimit-Policy"] == "10;w=60"
    assert (headers["RateLimit-Limit"], headers["RateLimit-Remaining"]) == ("10", "9")
    assert "Retry-After" not in headers
    for _ in range(9):
        limiter.consume("login", "k")
    is_allowed, headers = limiter.consume("login", "k")
    assert not is_allowed
    assert headers["Retry-After"] == headers["RateLimit-Reset"] == "6"
    clock.advance(6)
    assert limiter.consume("login", "k")[0]


def test_policy_header_contains_the_window_for_any_amount(clock):
    limiter = Limiter(clock.monotonic)
    for amount in range(1, 200):
        limiter.add("x", amount=amount, window=60)
        assert limiter.consume("x", "k")[1]["RateLimit-Policy"] == f"{amount};w=60"


def test_policy_header_has_the_burst_of_the_key(clock):
    limiter = Limiter(clock.monotonic)
    limiter.add("signal", amount=2, window=1)
    assert limiter.consume("signal", "k", burst=100)[1]["RateLimit-Policy"] == "100;w=50"


def test_peek_consumes_nothing(clock):
    buckets = TokenBuckets(1, 1, clock.monotonic)
    assert all(buckets.peek("a").is_allowed for _ in range(5))
    assert len(buckets) == 0


def test_memory_is_bounded_and_the_least_recently_used_bucket_is_evicted(clock):
    buckets = TokenBuckets(0.001, 1, clock.monotonic, capacity=100)
    for n in range(1000):
        buckets.consume(n)
    assert len(buckets) == 100
    assert not buckets.consume(999).is_allowed
    assert buckets.consume(0).is_allowed


def test_recent_keys_are_bounded():
    keys = RecentKeys(capacity=2)
    for key in "abc":
        keys.add(key)
    assert ("a" in keys, "b" in keys, "c" in keys) == (False, True, True)
    keys.discard("b")
    assert "b" not in keys


def test_full_bucket_is_evicted(clock):
    buckets = TokenBuckets(rate=1, burst=2, monotonic=clock.monotonic)
    for n in range(100):
        buckets.consume(n)
    clock.advance(0.5)
    buckets.consume("late")
    assert len(buckets) == 101
    clock.advance(0.5)
    buckets.consume("late")
    assert len(buckets) == 1
    buckets.refund("late")
    clock.advance(1)
    assert buckets.consume("late").remaining == 1


def test_limit_of_zero_stores_no_bucket(clock):
    buckets = TokenBuckets(rate=0, burst=0, monotonic=clock.monotonic)
    assert not any(buckets.consume(n).is_allowed for n in range(10))
    assert len(buckets) == 0


def test_quotas_bound_each_key_and_the_total():
    quotas = Quotas(total=10, per_key=6)
    assert quotas.acquire("a", 6)
    assert not quotas.acquire("a", 1)
    assert not quotas.acquire("b", 5)
    assert quotas.acquire("b", 4)
    assert not quotas.acquire("c", 1)
    quotas.release("a", 2)
    assert not quotas.acquire("c", 3)
    assert quotas.acquire("c", 2)


def test_rejected_acquire_changes_nothing():
    quotas = Quotas(per_key=6)
    assert not quotas.acquire("a", 7)
    assert quotas.acquire("a", 6)


def test_quotas_without_a_limit_are_unlimited():
    quotas = Quotas()
    assert all(quotas.acquire("a", 10**12) for _ in range(9))
