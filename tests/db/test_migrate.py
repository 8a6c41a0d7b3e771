"""Migrations: once, in order, in any schema, by several processes at once."""

from __future__ import annotations

import itertools
import json
import re
import threading

import psycopg2
import pytest

from sigservice.config.database import build_libpq_arguments
from sigservice.db import migrate as module
from sigservice.db import session
from sigservice.db.migrate import Migration, migrate, read_migrations
from sigservice.db.pool import Database
from sigservice.errors import StartError


@pytest.fixture
def open_pool(temporary_database, request):
    """`open_pool(schema)`: a pool on a database of this test's own."""
    name = f"migrate_{abs(hash(request.node.name)) % 10**8}"
    options = temporary_database.create_database(name)
    pools = []

    def make(schema="public"):
        arguments = build_libpq_arguments(
            options | {"ssl": False, "applicationName": "service"}, lambda name, text: ""
        )
        pools.append(Database(lambda: arguments, settings=session.build_settings(schema), **SMALL))
        return pools[-1]

    yield make
    for pool in pools:
        pool.close()


SMALL = {"min_size": 0, "max_size": 2, "idle_seconds": 1}


def names():
    return [migration.name for migration in read_migrations()]


def test_files_are_numbered_without_gaps():
    assert [int(name[:4]) for name in names()] == list(range(1, len(names()) + 1))


def test_running_twice_changes_nothing(open_pool):
    assert [one.name for one in migrate(open_pool(), "public")] == names()
    assert migrate(open_pool(), "public") == []


@pytest.mark.parametrize("schema", ["other", "my schema", 'with"quote', "back\\slash", "Größe"])
def test_any_schema_is_made_and_used(open_pool, schema):
    pool = open_pool(schema)
    migrate(pool, schema)
    with pool.transaction() as conn, conn.cursor() as cursor:
        cursor.execute("SELECT schemaname FROM pg_tables WHERE tablename = 'signals'")
        assert cursor.fetchall() == [(schema,)]
        cursor.execute("SELECT count(*) FROM signals")


def test_several_processes_may_start_at_once(open_pool):
    applied = []
    threads = [
        threading.Thread(target=lambda: applied.append(migrate(open_pool(), "public")))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.name for one in itertools.chain(*applied)) == names()
    assert len(applied) == 4


def test_a_role_without_the_right_to_create_may_use_what_is_there(open_pool, temporary_database):
    assert [one.name for one in migrate(open_pool(), "public")] == names()
    pool = open_pool()
    with pool.autocommit() as conn, conn.cursor() as cursor:
        cursor.execute("DROP ROLE IF EXISTS reader; CREATE ROLE reader")
        cursor.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
        cursor.execute("REVOKE CREATE ON SCHEMA public FROM public")
    as_reader = pool._connector._arguments() | {"options": "-c role=reader"}
    low = Database(lambda: as_reader, settings=pool.settings, **SMALL)
    assert migrate(low, "public") == []
    low.close()


def test_an_edited_file_is_refused(open_pool, monkeypatch):
    migrate(open_pool(), "public")
    edited = [Migration(m.name, m.text + "-- x") for m in read_migrations()]
    monkeypatch.setattr(module, "read_migrations", lambda: edited)
    with pytest.raises(StartError, match="edited"):
        migrate(open_pool(), "public")


def test_a_newer_schema_is_refused(open_pool, monkeypatch):
    migrate(open_pool(), "public")
    fewer = read_migrations()[:-1]
    monkeypatch.setattr(module, "read_migrations", lambda: fewer)
    with pytest.raises(StartError, match="newer"):
        migrate(open_pool(), "public")


def test_a_failing_file_leaves_nothing_behind(open_pool, monkeypatch):
    broken = Migration("9999_broken", "CREATE TABLE half (n int); SELECT nonsense")
    every = [*read_migrations(), broken]
    monkeypatch.setattr(module, "read_migrations", lambda: every)
    pool = open_pool()
    with pytest.raises(Exception, match="nonsense"):
        migrate(pool, "public")
    with pool.transaction() as conn, conn.cursor() as cursor:
        cursor.execute("SELECT to_regclass('half'), count(*) FROM schema_migrations")
        assert cursor.fetchone() == (None, len(names()))


def test_a_read_only_database_is_refused(open_pool):
    pool = open_pool()
    with pool.autocommit() as conn, conn.cursor() as cursor:
        cursor.execute("SELECT current_database()")
        database = cursor.fetchone()[0]
        cursor.execute(f'ALTER DATABASE "{database}" SET default_transaction_read_only = on')
    with pytest.raises(psycopg2.OperationalError, match="session is read-only"):
        migrate(open_pool(), "public")


def test_synchronous_commit_is_on_whatever_the_cluster_says(open_pool):
    with open_pool().autocommit() as conn, conn.cursor() as cursor:
        cursor.execute("SHOW synchronous_commit")
        assert cursor.fetchone() == ("on",)


BREAKING = re.compile(
    r"\bDROP\s+(TABLE|COLUMN|TYPE|CONSTRAINT|FUNCTION|TRIGGER)\b|\bRENAME\b"
    r"|\bALTER\s+COLUMN\s+\w+\s+(SET\s+DATA\s+)?TYPE\b|\bSET\s+NOT\s+NULL\b",
    re.IGNORECASE,
)
NEW_COLUMN = re.compile(r"\bADD\s+COLUMN\b[^,;]*", re.IGNORECASE)


# No version was released with what they drop.
UNRELEASED = {
    "0053_step_patterns",
    "0054_one_kind_of_dry_run",
    "0055_former_messages",
    "0060_queued_events",
    "0061_one_way_to_tell",
    "0062_alerts",
    "0063_rules_of_guards",
    "0064_holds",
    "0067_silence_is_a_rule",
    "0068_log_of_releases",
    "0069_words",
    "0072_results_without_time",
}


def test_no_migration_takes_away_what_the_version_before_it_uses():
    """It may still run, see tests/server/test_previous_version.py."""
    for migration in read_migrations():
        text = re.sub(r"--.*", "", migration.text)
        assert not BREAKING.search(text) or migration.name in UNRELEASED, migration.name
        for column in NEW_COLUMN.findall(text):
            has_default = "DEFAULT" in column.upper()
            assert has_default or "NOT NULL" not in column.upper(), (migration.name, column)


BEFORE_LOG = """
INSERT INTO projects (id, name) VALUES ('p', 'p');
INSERT INTO features (name, project, type, created_by, created_by_user_id)
VALUES ('f', 'p', 'release', 'ada', 1);
INSERT INTO environments (name, type, sort_order) VALUES ('e', 'test', 1);
INSERT INTO releases (feature, environment, strategy_id, plan, state, rollout, start_rollout,
                      content, created_at, created_by, created_by_user_id)
VALUES ('f', 'e', 's', '{}', 'stopped', 1, 0, '{}', now(), 'ada', 1);
INSERT INTO release_events (release_id, created_at, type, step, rollout, actor, text)
SELECT 1, date '2026-01-01' + n, type, 0, 1, 'ada', type
FROM (VALUES (1, 'created'), (2, 'guardFired'), (3, 'stopped')) AS x (n, type);
INSERT INTO events (id, created_at, type, created_by, data) OVERRIDING SYSTEM VALUE
VALUES (7, '2026-01-04', 'release-stopped', 'ada', '{"releaseId": 1, "text": "stopped"}');
"""


def test_the_log_of_a_release_has_what_the_audit_log_lost(open_pool, monkeypatch):
    pool = open_pool()
    migrate_with_rows(pool, monkeypatch, "0068", BEFORE_LOG)
    with pool.transaction() as conn, conn.cursor() as cursor:
        cursor.execute("SELECT id, type, data ->> 'text', feature_name FROM events ORDER BY 1")
        assert cursor.fetchall() == [
            (5, "release-created", "created", "f"),
            (6, "release-guard-fired", "guardFired", "f"),
            (7, "release-stopped", "stopped", None),
        ]


BEFORE_WORDS = """
INSERT INTO signal_verdicts (signal_id, verdicts)
VALUES (1, '[]'),
       (2, '[{"actionSetId": 1, "name": "a", "verdict": "restores"},
             {"actionSetId": 2, "name": "b", "verdict": "nothing to restore", "because": "no"}]');
INSERT INTO projects (id, name) VALUES ('p', 'p');
INSERT INTO action_sets (project, name, actor_id, source_id, armed, created_by_user_id)
VALUES ('p', 'a', 1, 7, false, 1);
INSERT INTO action_runs (action_set_id, project, cause, actor_id, state, dry_run, action_set)
VALUES (1, 'p', 'undo', 1, 'success', false, '{"actions": [{"action": "RESTORE"}]}');
"""


def test_what_is_stored_has_the_present_words(open_pool, monkeypatch):
    pool = open_pool()
    migrate_with_rows(pool, monkeypatch, "0069", BEFORE_WORDS)
    with pool.transaction() as conn, conn.cursor() as cursor:
        cursor.execute("SELECT results FROM signal_results ORDER BY signal_id")
        assert [json.loads(results) for (results,) in cursor.fetchall()] == [
            [],
            [
                {"actionSetId": 1, "name": "a", "state": "reverts"},
                {"actionSetId": 2, "name": "b", "state": "nothing to revert", "reason": "no"},
            ],
        ]
        cursor.execute("SELECT endpoint_id, has_run_once FROM action_sets")
        assert cursor.fetchall() == [(7, True)]
        cursor.execute("SELECT action_set #>> '{actions,0,action}' FROM action_runs")
        assert cursor.fetchall() == [("REVERT",)]


SETTINGS = '{"restoreWhenResolved": {"path": "status", "values": ["ok"], "key": "key"}}'
BEFORE_ALERTS = f"""
INSERT INTO projects (id, name) VALUES ('p', 'p');
INSERT INTO signal_endpoints (name, created_by_user_id) VALUES ('e', 1);
INSERT INTO action_sets (project, name, actor_id, source_id, settings, created_by_user_id)
SELECT 'p', n::text, 1, 1, '{SETTINGS}', 1 FROM generate_series(1, 3) n;
INSERT INTO action_runs (action_set_id, project, cause, actor_id, state, correlation, dry_run,
                         restored_by_run_id, signal_id, action_set)
SELECT x.*, row_number() OVER (), '{{"match": {{"sourceId": 1}}, "options": {SETTINGS}}}'
FROM (VALUES (1, 'p', 'signal', 1, 'success', 'before', false, NULL::bigint),
             (1, 'p', 'resolved', 1, 'success', 'other', false, NULL),  -- all fire no longer
             (1, 'p', 'signal', 1, 'success', 'a', false, NULL),
             (1, 'p', 'signal', 1, 'suppressed', 'a', false, NULL),
             (1, 'p', 'signal', 1, 'success', 'b', false, NULL),
             (1, 'p', 'resolved', 1, 'suppressed', 'b', false, NULL),
             (1, 'p', 'signal', 1, 'success', 'c', true, NULL),
             (1, 'p', 'signal', 1, 'success', NULL, false, NULL),
             (2, 'p', 'signal', 1, 'success', 'd', false, 99),  -- undone
             (2, 'p', 'signal', 1, 'success', repeat('long', 9999), false, NULL)) x;
UPDATE action_runs SET action_set = action_set || jsonb_build_object('actions', jsonb_build_array(
    jsonb_build_object('changes', jsonb_build_array(
        jsonb_build_object('what', 'state', 'feature', 'f' || id, 'environment', 'production',
                           'before', true, 'after', false)))));
INSERT INTO ignored_alerts (action_set_id, run_id, correlation, created_by, created_at)
VALUES (1, 3, 'a', 'ada', now()), (2, 9, 'd', 'bob', now());
"""


def migrate_with_rows(pool, monkeypatch, first, rows):
    """Migrates up to the migration before number `first`, inserts `rows` and migrates the rest;
    returns what the rest warns of."""
    every = read_migrations()
    older = [migration for migration in every if migration.name < first]
    monkeypatch.setattr(module, "read_migrations", lambda: older)
    migrate(pool, "public")
    with pool.transaction() as conn, conn.cursor() as cursor:
        cursor.execute(rows)
    monkeypatch.setattr(module, "read_migrations", lambda: every)
    return [warning for applied in migrate(pool, "public") for warning in applied.warnings]


NAMED = '{"type": "integration", "name": "ops", "on": %s}'
IN_PLACE = '{"type": "webhook", "url": "https://example.com", "on": ["success"]}'
BEFORE_EVENTS = f"""
INSERT INTO projects (id, name) VALUES ('p', 'p');
INSERT INTO signal_endpoints (name, created_by_user_id, options)
VALUES ('e', 1, '{{"silence": {{"everySeconds": 60, "notifications": [{IN_PLACE}]}}}}');
INSERT INTO silence_checks (endpoint_id, state, since, alert_key, last_signal_id, last_signal_at,
                            started_seconds, waits_from_seconds)
VALUES (1, 'down', now(), 'silence/e', 7, now(), 0, 0);
INSERT INTO action_sets (project, name, actor_id, source_id, settings, created_by_user_id)
VALUES ('p', 'set', 1, 1, '{{"notifications": [{NAMED % '["failed"]'}, {IN_PLACE}]}}', 1);
INSERT INTO alert_rules (name, endpoint_id, enabled, condition, notifications)
VALUES ('rule', 1, true, '{{}}', '[{NAMED % '["firing"]'}]');
INSERT INTO integrations (provider, enabled, name, events)
VALUES ('webhook', true, 'ops', '{{}}'), ('webhook', true, 'unused', '{{}}'),
       ('webhook', true, 'siem', '{{*}}');
"""


def test_chosen_integrations_subscribe_and_owners_of_other_recipients_are_logged(
    open_pool, monkeypatch
):
    pool = open_pool()
    warnings = migrate_with_rows(pool, monkeypatch, "0061", BEFORE_EVENTS)
    assert [warning.split(":")[0] for warning in warnings] == [
        "The recipients of the action set set of p are gone",
        "The recipients of the signal endpoint e are gone",
    ]
    with pool.transaction() as conn, conn.cursor() as cursor:
        cursor.execute("SELECT name, enabled, events FROM integrations ORDER BY 1")
        assert [(name, on, sorted(events)) for name, on, events in cursor.fetchall()] == [
            ("ops", True, ["action-run-failed", "alert-rule-firing"]),
            ("siem", True, ["*"]),
            ("unused", False, []),
        ]


def test_an_endpoint_that_expected_signals_gets_a_rule_on_silence(open_pool, monkeypatch):
    pool = open_pool()
    migrate_with_rows(pool, monkeypatch, "0061", BEFORE_EVENTS)
    with pool.transaction() as conn, conn.cursor() as cursor:
        cursor.execute(
            "SELECT name, endpoint_id, condition #>> '{source,everySeconds}', state, has_fired,"
            " last_signal_id, alert_key FROM alert_rules WHERE silent_endpoint_id = 1"
        )
        assert cursor.fetchall() == [("e-silence-1", 1, "60", "firing", True, 7, "silence/e")]
        cursor.execute("SELECT options FROM signal_endpoints")
        assert cursor.fetchall() == [("{}",)]


def test_alerts_and_holds_are_those_of_the_runs(open_pool, monkeypatch):
    pool = open_pool()
    migrate_with_rows(pool, monkeypatch, "0062", BEFORE_ALERTS)
    with pool.transaction() as conn, conn.cursor() as cursor:
        cursor.execute(
            "SELECT action_set_id, left(key, 4), is_firing, run_id, ignored_by FROM alerts"
            " ORDER BY 1, 2"
        )
        assert cursor.fetchall() == [
            (1, "a", True, 4, "ada"),
            (2, "d", False, 9, "bob"),
            (2, "long", True, 10, None),
        ]
        cursor.execute("SELECT run_id, action_set_id, feature FROM holds ORDER BY 1")
        assert cursor.fetchall() == [(3, 1, "f3"), (5, 1, "f5"), (10, 2, "f10")]
