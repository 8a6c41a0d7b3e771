"""sql/queries/revisions.sql: ids that only grow."""

from __future__ import annotations

from sigservice.repository import revisions


def test_ids_grow_by_topic(conn):
    before = revisions.list_all(conn)
    revisions.lock(conn)
    revisions.bump(conn, ["", "in/a"])
    revisions.bump(conn, ["", "in/a", "all"])
    after = revisions.list_all(conn)
    assert after[""] == before.get("", 0) + 2
    assert after["in/a"] == 2
    assert after["all"] == before.get("all", 0) + 1
    assert revisions.find_generation(conn) == after[""]
