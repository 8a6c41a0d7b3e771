"""sql/queries/revisions.sql: ids that only grow, and never come back."""

from __future__ import annotations

import time

from sigservice.repository import revisions
from sigservice.repository.flags import feature_environments
from tests.repository.kit import add_built_ins, run, touch


def list_ids(conn, member="id"):
    return {row["topic"]: row[member] for row in revisions.list_all(conn)}


def test_ids_grow_by_topic(conn):
    revisions.lock(conn)
    revisions.bump(conn, touch(["", "in/a"]))
    before = list_ids(conn)
    revisions.bump(conn, touch(["", "in/a", "all"]))
    after = list_ids(conn)
    assert all(after[topic] > before[topic] for topic in ("", "in/a"))
    assert set(after) == {"", "in/a", "all"}
    assert revisions.find_generation(conn) == after[""]


def test_an_id_follows_the_clock(conn):
    before = int(time.time() * 1000)
    revisions.bump(conn, touch(["", "in/a"]))
    assert all(id >= before for id in list_ids(conn).values())


def test_an_id_ahead_of_the_clock_grows_by_one(conn):
    run(conn, "INSERT INTO revisions (topic, id) VALUES ('', 5000000000000)")
    revisions.bump(conn, touch([""]))
    assert revisions.find_generation(conn) == 5000000000001


def test_an_id_of_a_lost_state_does_not_come_back(conn):
    """The database goes back to a backup, and as many changes follow as were lost."""
    add_built_ins(conn)
    for change in (
        lambda: revisions.bump(conn, touch(["", "in/a"])),
        lambda: feature_environments.set_states(conn, {}, touch(["", "in/a"])),
    ):
        run(conn, "DELETE FROM revisions")
        revisions.bump(conn, touch(["", "in/a"]))
        run(conn, "SAVEPOINT backup")
        change()
        lost = list_ids(conn)
        run(conn, "ROLLBACK TO SAVEPOINT backup")
        last = max(lost.values())
        while int(time.time() * 1000) <= last:
            pass
        change()
        assert not set(list_ids(conn).items()) & set(lost.items())


def test_all_topics_of_a_change_get_one_event_id(conn):
    revisions.bump(conn, touch(["", "in/a", "in/b"]))
    first = list_ids(conn, "event_id")
    revisions.bump(conn, touch(["", "in/b"]))
    second = list_ids(conn, "event_id")
    assert first["in/a"] == first["in/b"] == first[""] == second["in/a"]
    assert second["in/b"] == second[""] > first[""]


def test_all_topics_of_a_change_get_one_id(conn):
    """Also if they are ahead of the others: the revision of an environment is the largest."""
    revisions.bump(conn, touch(["", "in/a"]))
    run(conn, "UPDATE revisions SET id = id + 1000000")
    for topics in (["", "all"], ["", "in/a"], ["", "all", "in/a"]):
        before = list_ids(conn)
        revisions.bump(conn, touch(topics))
        after = list_ids(conn)
        assert {after[topic] for topic in topics} == {before[""] + 1}


def test_numbers_that_were_lost_are_passed(conn):
    revisions.bump(conn, touch(["", "in/a"]))
    ids, event_ids = list_ids(conn), list_ids(conn, "event_id")
    lost, lost_event = ids[""] + 5_000_000, event_ids[""] + 5_000
    revisions.bump(conn, touch(["", "all"], above_id=lost, above_event_id=lost_event))
    assert list_ids(conn) == {"": lost + 1, "all": lost + 1, "in/a": ids["in/a"]}
    assert list_ids(conn, "event_id")["all"] == list_ids(conn, "event_id")[""] > lost_event
    revisions.bump(conn, touch([""], above_id=1, above_event_id=1))
    assert revisions.find_generation(conn) == lost + 2


def test_an_event_id_follows_the_clock_in_seconds(conn):
    before = int(time.time())
    revisions.bump(conn, touch([""]))
    assert before <= list_ids(conn, "event_id")[""] <= time.time() + 1


def test_an_event_id_ahead_of_the_clock_grows_by_one(conn):
    run(conn, "INSERT INTO revisions (topic, id) VALUES ('', 1)")
    run(conn, "UPDATE revisions SET event_id = 4000000000")
    revisions.bump(conn, touch(["", "all"]))
    assert list_ids(conn, "event_id") == {"": 4000000002, "all": 4000000002}


def test_the_statement_that_switches_flags_counts_events_too(conn):
    add_built_ins(conn)
    revisions.bump(conn, touch(["", "in/a"]))
    before = list_ids(conn, "event_id")
    feature_environments.set_states(conn, {}, touch(["", "in/a"]))
    assert list_ids(conn, "event_id")["in/a"] == before["in/a"] + 1
