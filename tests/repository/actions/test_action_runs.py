"""Runs: one for each set and signal, which is next, what counts, what can be restored."""

from __future__ import annotations

import json

import pytest

from sigservice.errors import ConflictError
from sigservice.repository.actions import action_runs, action_sets
from tests.repository.kit import ids, is_locked_out, run

CHANGED = {"actions": [{"changes": []}, {"changes": [{"what": "state"}]}]}
UNCHANGED = {"actions": [{"changes": []}]}


def add(conn, *signals, **more):
    """Ids of new runs, one for each signal."""
    values = {"action_set_id": 1, "project": "default", "cause": "signal", "actor_id": 7}
    values |= {"state": "started", "dry_run": False, "signal": {"payload": {}}}
    values |= {"action_set": CHANGED} | more
    run_ids = [values | {"signal_id": signal} for signal in signals]
    return [row["id"] for row in action_runs.insert_many(conn, json.dumps(run_ids))]


def end(conn, id, state="success", action_set=CHANGED, minutes=None):
    rows = end_all(conn, [id], state, action_set, minutes)
    return rows[0] if rows else None


def end_all(conn, run_ids, state="success", action_set=CHANGED, minutes=None):
    columns = {"state": state, "action_set": action_set, "next_action": 1}
    columns |= {"restore_minutes": minutes}
    items = json.dumps([columns | {"id": id} for id in run_ids])
    return action_runs.update_many(conn, items, first=run_ids[0], last=run_ids[-1])


def next_open(conn, since=0):
    rows = action_runs.lock_unfinished(conn, since=since, limit=1)
    return rows[0] if rows else None


def due(conn):
    run(conn, "UPDATE action_runs SET revert_due_at = now() WHERE revert_due_at IS NOT NULL")


def test_a_set_and_a_signal_have_one_run(conn):
    assert len(add(conn, 1, 2)) == 2
    assert len(add(conn, 2, 3)) == 1
    assert len(add(conn, 2, action_set_id=2)) == 1
    assert len(add(conn, None, None, cause="timer")) == 2  # without a signal any number
    with pytest.raises(ConflictError):
        add(conn, 9, state="dreaming")


def test_open_runs_come_oldest_first(conn):
    first, second = add(conn, 5, 4)
    add(conn, 6, state="suppressed", reason="cooldown")
    assert next_open(conn)["id"] == first
    assert end(conn, first, state="started")["finished_at"] is None
    row = next_open(conn, since=first)
    assert (row["id"], row["next_action"], row["signal_id"]) == (first, 1, 5)
    assert next_open(conn, since=first + 1)["id"] == second
    assert end(conn, first)["finished_at"]
    assert next_open(conn)["id"] == second
    end(conn, second, state="failed")
    assert next_open(conn) is None
    assert end(conn, 999, state="failed") is None


def test_open_runs_are_locked_in_their_order_up_to_a_limit(conn):
    all_ids = add(conn, 5, 4, 9)
    assert ids(action_runs.lock_unfinished(conn, since=0, limit=2)) == all_ids[:2]
    assert ids(action_runs.lock_unfinished(conn, since=all_ids[1], limit=5)) == all_ids[1:]
    assert action_runs.lock_unfinished(conn, since=all_ids[2] + 1, limit=5) == []


def test_runs_of_one_statement_end_one_after_another(conn):
    all_ids = add(conn, *range(1, 41))
    rows = {row["id"]: row["finished_at"] for row in end_all(conn, all_ids)}
    times = [rows[id] for id in all_ids]
    assert times == sorted(set(times))


def test_suppressed_runs_are_finished(conn):
    (id,) = add(conn, 1, state="suppressed", reason="Cooldown: it ran less than 5 s ago.")
    row = action_runs.find(conn, 1, id)
    assert (row["state"], row["reason"]) == ("suppressed", "Cooldown: it ran less than 5 s ago.")
    assert row["finished_at"]
    assert action_runs.find(conn, 2, id) is None


def test_giving_up_ends_what_is_open(conn):
    open_, ended = add(conn, 1, 2)
    end(conn, ended)
    for id in (open_, ended):
        action_runs.fail(conn, id, reason="stuck")
    row = action_runs.find(conn, 1, open_)
    assert (row["state"], row["reason"]) == ("failed", "stuck")
    assert row["finished_at"]
    assert action_runs.find(conn, 1, ended)["state"] == "success"


def test_work(conn):
    def work():
        work = action_runs.find_pending_work(conn, None)
        return {name for name, waits in work.items() if waits}

    assert work() == set()
    (id,) = add(conn, 1)
    assert work() == {"runs"}
    end(conn, id, minutes=5)
    assert work() == set()
    due(conn)
    assert work() == {"reverts"}
    assert ids(action_runs.pop_due_reverts(conn, None)) == [id]
    assert action_runs.pop_due_reverts(conn, None) == []
    assert work() == set()
    run(conn, "INSERT INTO signal_queue (signal_id, endpoint_id) VALUES (1, 1)")
    assert work() == {"signals"}


def test_runs_that_are_due_longest_are_reverted_first(conn):
    first, second, third = add(conn, 1, 2, 3)
    for id, minutes in ((first, 2), (second, 3), (third, 1)):
        end(conn, id, minutes=minutes)
    run(conn, "UPDATE action_runs SET revert_due_at = revert_due_at - interval '1 hour'")
    assert ids(action_runs.pop_due_reverts(conn, None)) == [third, first, second]


def test_a_restored_run_is_not_due_any_more(conn):
    one, two = add(conn, 1, 2)
    for id in (one, two):
        end(conn, id, minutes=5)
    action_runs.mark_reverted(conn, one, by=two)
    due(conn)
    assert ids(action_runs.pop_due_reverts(conn, None)) == [two]
    assert action_runs.find(conn, 1, one)["reverted_by_run_id"] == two


def test_cancelling(conn):
    (id,) = add(conn, 1)
    assert action_runs.cancel_auto_revert(conn, id) is False
    end(conn, id, minutes=1)
    assert action_runs.cancel_auto_revert(conn, id) is True
    assert action_runs.cancel_auto_revert(conn, id) is False


def test_what_counts_for_cooldown_and_cap(conn):
    old, fresh, _ = add(conn, 1, 2, 3)
    add(conn, 4, state="suppressed", reason="x")
    add(conn, None, cause="resolved")
    add(conn, 1, action_set_id=2)
    run(conn, "UPDATE action_runs SET created_at = now() - interval '2 hours' WHERE id = %s", old)
    end(conn, fresh, state="failed")
    results = action_runs.list_statistics(conn, {1: 5, 2: 5, 3: 5})
    rows = {row["action_set_id"]: row for row in results}
    assert {id: row["in_last_hour"] for id, row in rows.items()} == {1: 2, 2: 1, 3: 0}
    assert rows[3]["last_at"] is None
    (capped,) = action_runs.list_statistics(conn, {1: 1})  # no more is counted than is asked for
    assert capped["in_last_hour"] == 1
    newest = run(conn, "SELECT max(created_at) FROM action_runs WHERE signal_id = 3")[0][0]
    assert rows[1]["last_at"] == newest


def test_lists(conn):
    one, two, three = add(conn, 1, 2, 3)
    (other,) = add(conn, 1, action_set_id=2, project="other")
    assert ids(action_runs.list_of_set(conn, 2, limit=9)) == [other]
    assert ids(action_runs.list_of_set(conn, 1, limit=2)) == [three, two]
    assert ids(action_runs.list_of_set(conn, 1, limit=2, offset=2)) == [one]
    assert ids(action_runs.list_of_set(conn, 1, before=three, limit=1)) == [two]
    assert ids(action_runs.list_of_signals(conn, [1])) == [one, other]


def test_the_newest_run_of_each_set_that_there_is(conn):
    run(conn, "INSERT INTO projects (id, name) VALUES ('default', 'd') ON CONFLICT DO NOTHING")
    id = action_sets.insert(
        conn,
        project="default",
        name="s",
        description=None,
        enabled=True,
        actor_id=7,
        endpoint_id=1,
        schedule=None,
        filters="[]",
        settings="{}",
        created_by_user_id=1,
    )
    run_ids = add(conn, 1, 2, action_set_id=id)
    add(conn, 1, action_set_id=id + 1)
    assert ids(action_runs.list_last(conn, [id, id + 9])) == [run_ids[1]]
    assert ids(action_runs.list_last(conn, [])) == []


def test_a_page_ends_before_it_weighs_too_much(conn, monkeypatch):
    run_ids = add(conn, 1, 2, 3, signal={"payload": "x" * 1000})
    (plain,) = add(conn, None, cause="timer", signal=None)
    monkeypatch.setattr(action_runs, "PAGE_BYTES", 1500)
    assert ids(action_runs.list_of_set(conn, 1, limit=9)) == [plain, run_ids[2], run_ids[1]]
    assert ids(action_runs.list_of_set(conn, 1, limit=9, before=run_ids[1])) == [run_ids[0]]
    monkeypatch.setattr(action_runs, "PAGE_BYTES", 1)
    assert ids(action_runs.list_of_set(conn, 1, limit=9, before=plain)) == [run_ids[2]]


def test_old_runs_are_deleted_but_not_what_is_still_to_be_done(conn):
    done, open_, scheduled, young = add(conn, 1, 2, 3, 4)
    for id in (done, young):
        end(conn, id)
    end(conn, scheduled, minutes=5)
    run(
        conn,
        "UPDATE action_runs SET created_at = now() - interval '9 days' WHERE id <> %s",
        young,
    )
    assert action_runs.delete_old(conn, days=10, chunk=5) == 0
    assert action_runs.delete_old(conn, days=8, chunk=5) == 1
    assert ids(action_runs.list_of_set(conn, 1, limit=9)) == [young, scheduled, open_]


def test_workers_take_turns(pool):
    with pool.transaction() as conn:
        action_runs.lock(conn)
        assert is_locked_out(pool, action_runs.lock)
    assert not is_locked_out(pool, action_runs.lock)
