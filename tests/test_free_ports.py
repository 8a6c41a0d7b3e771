"""Tests that run at the same time never get the same port."""

from __future__ import annotations

from tests.server import process


def test_port_is_given_once(monkeypatch):
    first = process.find_free_port()
    numbers = iter([first, *range(32_000, 20_000, -1)])
    monkeypatch.setattr(process.random, "randrange", lambda *_: next(numbers))
    assert process.find_free_port() != first
