"""When flags were last evaluated: updated once a minute, without locks on flags."""

from __future__ import annotations

from sigservice.repository.flags import feature_environments, features
from sigservice.repository.usage import reports
from tests.repository.kit import add_built_ins, add_flag, is_locked_out, run, store_reports

DEVELOPMENT, PRODUCTION = "development", "production"


def mark(conn, *pairs):
    """Stores a report of flags in environments."""
    store_reports(
        conn, usages=[(name, "shop", environment, 0, 1, 0) for name, environment in pairs]
    )


def read_times(conn, name="a"):
    """{environment: time}, and the last time in all environments."""
    states = feature_environments.list_states(conn, [name])
    by_environment = {row["environment"]: row["last_seen_at"] for row in states}
    return by_environment, features.find(conn, name)["last_seen_at"]


def test_times_are_updated_once_a_minute(conn):
    add_built_ins(conn)
    add_flag(conn, "a")
    pairs = [("a", DEVELOPMENT), ("a", DEVELOPMENT), ("none", DEVELOPMENT), ("a", "nowhere")]
    for age in (59, 61):
        mark(conn, *pairs)
        run(conn, f"UPDATE feature_last_seen SET seen_at = now() - interval '{age} seconds'")
        mark(conn, *pairs)
        rows = run(conn, "SELECT feature, environment, seen_at = now() FROM feature_last_seen")
        assert rows == [("a", DEVELOPMENT, age > 60)]
    ((now,),) = run(conn, "SELECT now()")
    by_environment, anywhere = read_times(conn)
    assert (by_environment[DEVELOPMENT], by_environment[PRODUCTION], anywhere) == (now, None, now)


def test_new_flag_with_the_name_of_a_deleted_one_was_never_evaluated(conn):
    add_built_ins(conn)
    add_flag(conn, "a")
    mark(conn, ("a", DEVELOPMENT))
    run(conn, "UPDATE feature_last_seen SET seen_at = now() - interval '1 second'")
    assert read_times(conn) == ({DEVELOPMENT: None, PRODUCTION: None, "default": None}, None)


def test_rows_of_deleted_flags_and_environments_are_deleted_in_chunks(conn):
    add_built_ins(conn)
    add_flag(conn, "a")
    mark(conn, ("a", DEVELOPMENT))
    run(
        conn,
        "INSERT INTO feature_last_seen VALUES ('a', 'gone', now()), "
        "('gone', 'development', now()), ('gone', 'production', now())",
    )
    deleted = [reports.delete_orphaned_last_seen(conn, chunk=2) for _ in range(3)]
    assert deleted == [2, 1, 0]
    assert run(conn, "SELECT feature, environment FROM feature_last_seen") == [("a", DEVELOPMENT)]


def commit_flag(pool):
    with pool.transaction() as conn:
        add_built_ins(conn)
        add_flag(conn, "a")
        run(conn, "INSERT INTO feature_environments VALUES ('a', 'development')")


def change(conn):
    """All rows that a change of a flag can write."""
    run(conn, "UPDATE features SET stale = true, archived_at = now() WHERE name = 'a'")
    run(conn, "UPDATE feature_environments SET enabled = true WHERE feature = 'a'")


def delete(conn):
    run(conn, "DELETE FROM features WHERE name = 'a'")


def test_open_change_does_not_block_a_report(pool):
    commit_flag(pool)
    for work in (change, delete):
        with pool.transaction() as conn:
            work(conn)
            assert not is_locked_out(pool, lambda c: mark(c, ("a", DEVELOPMENT)))
            conn.rollback()


def test_open_report_does_not_block_a_change(pool):
    commit_flag(pool)
    for work in (change, delete):
        with pool.transaction() as conn:
            mark(conn, ("a", DEVELOPMENT))
            assert not is_locked_out(pool, work)
            conn.rollback()
