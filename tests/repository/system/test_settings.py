"""Settings: put and found by their key."""

from __future__ import annotations

from sigservice.repository.system import settings


def test_a_setting_is_put_found_and_replaced(conn):
    assert settings.find(conn, "a") is None
    settings.put(conn, "a", '{"x": 1}')
    settings.put(conn, "b", "[]")
    settings.put(conn, "a", '{"x": 2}')
    assert settings.find(conn, "a") == '{"x": 2}'
    assert settings.find(conn, "b") == "[]"
