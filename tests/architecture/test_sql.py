"""Every statement is valid, used, and the hot ones use their index."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import sigservice
from sigservice.db import queries
from sigservice.db.statements import number_parameters
from sigservice.testing import QuickPasswords
from tests.table_tests import each

ROOT = Path(__file__).resolve().parents[2]
QUERIES = ROOT / "sql" / "queries"
FILES = sorted(path.relative_to(QUERIES).with_suffix("") for path in QUERIES.rglob("*.sql"))
PATHS = {file.name: str(file) for file in FILES}
STATEMENTS = [(table, name) for table, path in PATHS.items() for name in queries.load(path)]

HOT = {
    ("action_runs", "find_pending_work"): [
        "signal_queue_pkey",
        "action_runs_due_idx",
        "action_sets_due_at_idx",
    ],
    ("due_work", "find_due_work"): [
        "signal_queue_pkey",
        "action_runs_due_idx",
        "action_sets_due_at_idx",
        "outbox_due_message_idx",
        "alert_rules_due_at_idx",
    ],
    ("signal_queue", "list_queued_signals"): ["signal_queue_pkey", "signals_pkey"],
    ("signals", "insert_signals"): ["signal_endpoint_tokens_pkey", "signals_idempotency_key_idx"],
    ("signals", "find_signal_by_key"): ["signals_idempotency_key_idx"],
    ("signals", "list_signals_for_endpoint"): ["signals_endpoint_id_idx"],
    ("signals", "list_signals_for_token"): ["signals_token_id_idx"],
    ("signals", "find_search_end"): ["signals_"],
    ("signals", "list_last_signals"): ["signals_endpoint_id_idx"],
    ("signals", "find_last_received"): ["signals_token_id_idx"],
    ("signals", "list_signals"): ["signals_pkey"],
    ("signals", "lock_old_signals"): ["signals_pkey"],
    ("signals", "lock_surplus_signals"): ["signals_endpoint_id_idx"],
    ("signals", "list_endpoint_ids_with_signals"): ["signals_endpoint_id_idx"],
    ("sessions", "find_session_user"): ["sessions_pkey"],
    ("api_tokens", "find_api_token"): ["api_tokens_secret_hash_key"],
    ("personal_tokens", "find_owner"): ["personal_tokens_secret_hash_key"],
    ("api_tokens", "list_valid_tokens"): ["api_tokens_secret_hash_key"],
    ("client_metrics", "list_client_metrics"): ["client_metrics_pkey", "metrics_variants_pkey"],
    ("client_metrics", "list_client_metrics_hours"): ["client_metrics_pkey"],
    ("client_metrics", "delete_old_client_metrics"): ["client_metrics_hour_idx"],
    ("client_metrics", "delete_old_client_metrics_variants"): ["client_metrics_variants_hour_idx"],
    ("impact_metrics", "store_impact_samples"): ["impact_series_pkey"],
    ("impact_metrics", "list_impact_windows"): ["impact_series_labels_idx", "impact_windows_pkey"],
    ("impact_metrics", "delete_old_impact_windows"): ["impact_windows_starts_at_idx"],
    ("client_applications", "list_client_instances"): ["client_instances_pkey"],
    ("client_applications", "delete_old_client_instances"): ["client_instances_last_seen_idx"],
    ("outbox", "lease_mail"): ["outbox_due_message_idx"],
    ("integrations", "lease_queues"): ["outbox_integration_idx", "outbox_pkey"],
    ("integrations", "list_next_deliveries"): ["outbox_integration_idx", "events_pkey"],
    ("integrations", "settle_delivery"): ["outbox_pkey"],
    ("outbox", "delete_old_messages"): ["outbox_settled_idx"],
    ("mails", "find_last_mail"): ["outbox_user_id_idx"],
    ("reset_tokens", "find_reset_token"): ["reset_tokens_pkey"],
    ("action_runs", "list_run_statistics"): ["action_runs_counted_idx"],
    ("alerts", "list_alerts"): ["alerts_pkey", "alerts_firing_idx"],
    ("alerts", "take_holds"): ["holds_set_idx"],
    ("alerts", "list_holders"): ["holds_feature_idx", "alerts_pkey"],
    ("action_runs", "mark_reverted"): ["holds_pkey", "action_runs_pkey"],
    ("action_runs", "delete_old_runs"): ["holds_pkey", "alerts_run_idx"],
    ("action_runs", "lock_unfinished_runs"): ["action_runs_open_idx"],
    ("action_runs", "update_runs"): ["action_runs_pkey"],
    ("events", "list_events"): ["events_pkey"],
    ("events", "find_search_window"): ["events_pkey"],
    ("events", "lock_old_events"): ["events_pkey"],
    ("events", "delete_events"): ["events_pkey"],
    ("signals", "delete_signals"): ["signals_pkey"],
    ("silent_endpoints", "find_newest_signals"): ["signals_token_id_idx"],
    ("refused_calls", "add_refused_calls"): ["refused_calls_endpoint_name_idx"],
    ("action_sets", "list_of_endpoint"): ["action_sets_endpoint_idx"],
    ("events", "list_event_types"): ["events_type_id_idx"],
}


@pytest.fixture(scope="module")
def conn(temporary_database):
    """A connection to a migrated database where nothing ever changed the planner's mind."""
    options = temporary_database.create_database("plans")
    sigservice.create({"db": options, "logLevel": "error"}, {}, passwords=QuickPasswords()).stop()
    conn = temporary_database.connect("plans")
    yield conn
    conn.close()


@each("statement", STATEMENTS)
def test_every_statement_prepares(conn, statement):
    table, name = statement
    text, _ = number_parameters(queries.load(PATHS[table])[name])
    with conn.cursor() as cursor:
        if text.startswith(("LOCK", "ANALYZE")):  # can't be prepared
            cursor.execute(f"BEGIN; {text}; ROLLBACK")
            return
        cursor.execute(f"PREPARE checked AS {text}")
        cursor.execute("DEALLOCATE checked")


@pytest.mark.parametrize(("table", "name"), HOT, ids=lambda part: part)
def test_hot_statements_use_their_index(conn, table, name):
    text, parameters = number_parameters(queries.load(PATHS[table])[name])
    with conn.cursor() as cursor:
        cursor.execute(f"PREPARE hot AS {text}")
        cursor.execute("SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off")
        nulls = "(" + ", ".join(["NULL"] * len(parameters)) + ")" if parameters else ""
        cursor.execute(f"EXPLAIN EXECUTE hot {nulls}")
        plan = "\n".join(row[0] for row in cursor.fetchall())
        cursor.execute("DEALLOCATE hot; RESET plan_cache_mode; RESET enable_seqscan")
    for index in HOT[table, name]:
        assert index in plan, plan


@each("statement", STATEMENTS)
def test_every_statement_is_used_by_its_twin(statement):
    table, name = statement
    module = importlib.import_module(f"sigservice.repository.{PATHS[table].replace('/', '.')}")
    assert f'_SQL["{name}"]' in Path(str(module.__file__)).read_text()


@each("file", FILES)
def test_every_name_used_exists(file):
    source = (ROOT / "sigservice" / "repository" / f"{file}.py").read_text()
    assert set(re.findall(r'_SQL\["(\w+)"\]', source)) == set(queries.load(str(file)))


@each("file", FILES)
def test_statements_list_their_columns(file):
    text = (QUERIES / f"{file}.sql").read_text()
    assert "SELECT *" not in text
    assert "RETURNING *" not in text
