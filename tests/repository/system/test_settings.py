"""Settings by their key."""

from __future__ import annotations

from sigservice.repository.system import settings


def test_a_setting_is_saved_and_replaced(conn):
    assert settings.find(conn, "a") is None
    settings.save(conn, "a", '{"x": 1}')
    settings.save(conn, "b", "[]")
    settings.save(conn, "a", '{"x": 2}')
    assert settings.find(conn, "a") == '{"x": 2}'
    assert settings.find(conn, "b") == "[]"
