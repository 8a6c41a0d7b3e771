"""sql/queries/revisions.sql: ids that only grow, and never come back."""

from __future__ import annotations

import time

from sigservice.repository import revisions
from sigservice.repository.flags import feature_environments
from tests.repository.kit import add_built_ins, run


def test_ids_grow_by_topic(conn):
    revisions.lock(conn)
    revisions.bump(conn, ["", "in/a"])
    before = revisions.list_all(conn)
    revisions.bump(conn, ["", "in/a", "all"])
    after = revisions.list_all(conn)
    assert all(after[topic] > before[topic] for topic in ("", "in/a"))
    assert set(after) == {"", "in/a", "all"}
    assert revisions.find_generation(conn) == after[""]


def test_an_id_follows_the_clock(conn):
    before = int(time.time() * 1000)
    revisions.bump(conn, ["", "in/a"])
    assert all(id >= before for id in revisions.list_all(conn).values())


def test_an_id_ahead_of_the_clock_grows_by_one(conn):
    run(conn, "INSERT INTO revisions (topic, id) VALUES ('', 5000000000000)")
    revisions.bump(conn, [""])
    assert revisions.find_generation(conn) == 5000000000001


def test_an_id_of_a_lost_state_does_not_come_back(conn):
    """The database goes back to a backup, and as many changes follow as were lost."""
    add_built_ins(conn)
    for change in (
        lambda: revisions.bump(conn, ["", "in/a"]),
        lambda: feature_environments.set_states(conn, {}, topics=["", "in/a"]),
    ):
        run(conn, "DELETE FROM revisions")
        revisions.bump(conn, ["", "in/a"])
        run(conn, "SAVEPOINT backup")
        change()
        lost = revisions.list_all(conn)
        run(conn, "ROLLBACK TO SAVEPOINT backup")
        last = max(lost.values())
        while int(time.time() * 1000) <= last:
            pass
        change()
        assert not set(revisions.list_all(conn).items()) & set(lost.items())
