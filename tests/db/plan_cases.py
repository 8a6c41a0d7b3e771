"""Executions of the statements that SDKs, senders, streams, jobs and common pages cause.

The values are those of large_tables.py. Not among them: `count_events` and `find_search_window` of
an environment, which read all its events without statistics, so their time grows with the log.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

NOW = datetime.now(UTC)
HOUR = NOW.replace(minute=0, second=0, microsecond=0).isoformat()
ALL_FLAGS = [f"flag-{n}" for n in range(1, 5001)]
FLAGS = ALL_FLAGS[:100]
SETS = list(range(1, 101))
RUNS = list(range(50_000, 50_100))
CHANGES = [3_600_000, 3_699_990]  # all recorded changes are later, or the last ones
ANY_ID = "f3f9b0a2-a45d-467f-9f52-16c4be3be0a0"


class Case(NamedTuple):
    """One execution of a statement. Parameters without a value are NULL."""

    path: str
    statement: str
    values: dict[str, Any]

    def __str__(self) -> str:
        texts = {key: str(value)[:30] for key, value in self.values.items()}
        return f"{self.path}.{self.statement} {texts}"


def list_cases() -> list[Case]:
    groups = (_list_flags, _list_flag_pages, _list_signals, _list_actions, _list_events)
    others = (_list_access, _list_definitions, _list_usage)
    return [Case(*case) for group in groups + others for case in group()]


CaseTuple = tuple[str, str, dict[str, Any]]


def _list_flags() -> Iterator[CaseTuple]:
    path, statement = "flags/client_features", "list_client_features"
    for environment in ("env-1", "production"):
        for since in (None, CHANGES[0], CHANGES[-1]):
            yield path, statement, {"environment": environment, "since": since}
    touched = {"flags": FLAGS, "segments": [], "above_id": 0, "above_event_id": 0}
    numbers = {"topics": ["", "all"]}
    yield "revisions", "bump_revisions", numbers | touched
    yield "revisions", "delete_old_revision_changes", {"chunk": 5000}
    states = {"places": ["env-1"] * 100, "states": [True] * 100, "topics": [""]}
    path = "flags/feature_environments"
    yield path, "list_feature_states", {"features": FLAGS}
    yield path, "list_target_states", {"features": FLAGS, "environments": ["env-1"] * 100}
    yield path, "set_feature_states", {"features": FLAGS} | states | touched
    strategy = {"id": ANY_ID, "feature": "flag-7", "environment": "env-1", "parameters": "{}"}
    path = "flags/feature_strategies"
    yield path, "set_strategy_parameters", strategy | numbers | touched
    yield "flags/feature_strategies", "list_strategies", {"features": ALL_FLAGS}
    yield "flags/feature_strategies", "list_strategies", {"features": FLAGS, "environment": "env-1"}
    yield "flags/feature_lifecycle", "add_reached_stages", {}
    yield "flags/feature_lifecycle", "add_reached_stages", {"names": FLAGS}
    yield "flags/features", "fill_feature_created_by", {"system_id": -1, "token_id": -2}
    yield "revisions", "list_revisions", {}
    yield "revisions", "find_generation", {}


def _list_flag_pages() -> Iterator[CaseTuple]:
    page = {"archived": False, "sort": "name", "descending": False, "limit": 50, "offset": 0}
    filters: tuple[dict[str, Any], ...] = (
        {},
        {"projects": ["project-3"]},
        {"tags": ["simple:tag-1"]},
        {"words": ["%77%", "%flag%"]},
        {"words": ["%tag-13%"]},
        {"environment": "env-1", "enabled": True},
        {"environment": "env-1", "enabled": False},
        {"favorites_of": 1},
        {"names": FLAGS},
        {"sort": "createdAt"},
        {"sort": "lastSeenAt"},
        {"sort": "state", "sort_environment": "env-1"},
        {"offset": 4900},
        {"archived": True},
    )
    for values in filters:
        yield "flags/features", "search_features", page | values
        yield "flags/features", "count_matching_features", page | values
    yield "flags/features", "list_features_by_name", {"names": FLAGS}
    yield "flags/features", "list_active_names", {"names": FLAGS}
    yield "flags/features", "list_removable_features", {"names": FLAGS, "days": 30}
    yield "flags/features", "list_old_features", {"days": 30}
    yield "flags/feature_tags", "list_feature_tags", {"features": FLAGS}
    yield "flags/feature_dependencies", "list_dependencies", {"features": ["flag-7"]}
    project = {"project": "project-1"}
    yield "flags/feature_dependencies", "list_possible_parents", project | {"child": "flag-1"}
    yield "flags/feature_lifecycle", "list_stages", project | {"name": "flag-1"}
    yield "flags/feature_lifecycle", "summarize_stages", project
    yield "flags/segments", "list_segments", {}
    yield "projects/projects", "list_projects", {}
    yield "projects/environments", "list_environments", {}
    yield "projects/environments", "list_environments", {"name": "env-1"}
    yield "projects/environments", "list_environments_of_project", project
    yield "projects/context_fields", "list_context_fields_with_uses", {}
    yield "projects/context_fields", "list_strategies_of_context_field", {"name": "region"}
    yield "projects/favorites", "list_favorite_features", {"names": FLAGS, "user_id": 1}
    yield "projects/favorites", "list_favorite_features", {"user_id": 1}
    yield "releases/releases", "list_moving_states", {}
    yield "projects/projects", "count_for_status", project
    yield "projects/projects", "count_events_by_day", project
    yield "system/home", "find_first_steps", {}
    yield "system/home", "list_silent_endpoints", {}
    words = {"words": ["%flag-77%"], "limit": 10, "endpoints": True}
    yield "system/search", "find_names", words


def _list_signals() -> Iterator[CaseTuple]:
    path = "signals/signals"
    page = {"endpoint_id": 3, "limit": 100, "offset": 0, "page_bytes": 1_000_000}
    days = {"from_time": NOW - timedelta(days=3), "to_time": NOW - timedelta(days=2)}
    window = {"endpoint_id": 3, "window_rows": 10_000, "window_bytes": 10_000_000}
    search = {"endpoint_id": 3, "pattern": "%nothing%", "oldest_id": 990_000, "limit": 50}
    yield path, "list_signals_for_endpoint", page
    yield path, "list_signals_for_endpoint", page | {"before": 500_000}
    yield path, "list_signals_for_token", page | {"token_id": 3}
    yield path, "list_signals", page
    yield path, "list_signals", page | days
    yield path, "find_search_end", window
    yield path, "find_search_end", window | {"token_id": 3}
    yield path, "search_signals", search
    yield path, "search_signals", search | {"token_id": 3}
    yield path, "find_signal", {"endpoint_id": 3, "id": 500_002}
    key = {"endpoint_id": 3, "idempotency_key": ANY_ID, "window_hours": 24}
    yield path, "find_signal_by_key", key
    yield path, "count_signals", {"limit": 10_000}
    yield path, "count_signals_for_endpoint", {"endpoint_id": 3, "limit": 10_000}
    yield path, "list_last_signals", {}
    yield path, "find_last_received", {}
    yield path, "count_signals_by_hour", {}
    yield path, "list_endpoint_ids_with_signals", {}
    yield path, "list_signals_by_id", {"ids": list(range(500_000, 501_000))}
    yield path, "insert_signals", {"signals": json.dumps(_build_signals())}
    yield path, "lock_old_signals", {"chunk": 1000, "days": 1}
    yield path, "lock_surplus_signals", {"endpoint_id": 3, "keep": 10_000, "chunk": 1000}
    yield path, "delete_signals", {"ids": list(range(500_000, 501_000))}
    path, newest = "signals/signal_queue", list(range(999_900, 1_000_000))
    yield path, "list_queued_signals", {"limit": 100, "max_bytes": 1_000_000}
    yield path, "list_results", {"signal_ids": newest}
    yield path, "delete_orphaned_results", {"chunk": 1000}
    yield "rules/silent_endpoints", "find_newest_signals", {"endpoint_ids": [1, 2]}
    yield "signals/signal_endpoints", "find_signal_endpoints_state", {}
    yield "signals/signal_endpoints", "list_signal_endpoint_settings", {}


def _build_signals() -> list[dict[str, Any]]:
    return [
        {
            "position": n,
            "endpoint_id": n % 20 + 1,
            "version": 0,
            "token_id": n % 20 + 1,
            "payload": "{}",
            "payload_bytes": 2,
        }
        for n in range(100)
    ]


def _list_actions() -> Iterator[CaseTuple]:
    yield "actions/action_sets", "list_action_sets", {}
    yield "actions/action_sets", "list_action_sets", {"sources": [1, 2, 3]}
    path = "actions/action_runs"
    yield path, "find_pending_work", {}
    yield "system/due_work", "find_due_work", {"now": datetime.now(UTC)}
    yield path, "list_run_statistics", {"sets": SETS, "max_runs": [10] * 100}
    yield path, "list_runs_by_id", {"ids": RUNS, "payloads": True}
    keys = [f"alert-{n}" for n in SETS]
    yield "actions/alerts", "list_alerts", {"sets": SETS, "keys": keys}
    alert = {"is_firing": True, "endpoint_id": 1, "key_path": "key"}
    alerts = [alert | {"action_set_id": id, "key": key} for id, key in zip(SETS, keys, strict=True)]
    ended = {"signal_ids": [*range(999_900, 1_000_000)], "results": ["[]"] * 100}
    reported = {"alerts": json.dumps(alerts), "reverting": SETS[:9]}
    yield "actions/alerts", "end_signals", reported | ended
    yield "actions/alerts", "delete_ended_alerts", {"chunk": 1000, "days": 90}
    hold = {"position": 9, "action_set_id": 7, "change": {"feature": "a", "environment": "b"}}
    holds = [hold | {"run_id": id, "held_at": NOW.isoformat()} for id in RUNS]
    yield "actions/alerts", "add_holds", {"holds": json.dumps(holds)}
    yield "actions/alerts", "take_holds", {"action_set_id": 7, "by": 99_000}
    yield "actions/alerts", "list_holders", {"features": FLAGS}
    first = {"limit": 20, "payloads": True}
    yield "actions/alerts", "list_held_flags", first
    yield "actions/alerts", "list_held_flags", first | {"features": FLAGS}
    yield path, "mark_reverted", {"id": RUNS[8], "by": RUNS[9]}
    page = {"action_set_id": 7, "limit": 50, "offset": 0, "page_bytes": 1_000_000}
    yield path, "list_runs_of_set", page
    yield path, "list_runs_of_signals", {"signal_ids": RUNS}
    yield path, "list_last_runs", {"action_set_ids": SETS}
    yield path, "count_runs_by_hour", {}
    yield path, "lock_unfinished_runs", {"since": 0, "limit": 100}
    yield path, "pop_due_reverts", {}
    yield path, "insert_runs", {"runs": json.dumps([_build_run(n) for n in range(100)])}
    progress = [{"id": id, "state": "success", "action_set": {}, "next_action": 1} for id in RUNS]
    ends = {"first": RUNS[0], "last": RUNS[-1]}
    yield path, "update_runs", {"runs": json.dumps(progress)} | ends
    yield path, "delete_old_runs", {"days": 10, "chunk": 1000}
    yield "outbox", "lease_mail", {"now": NOW, "until": NOW}
    yield "outbox", "delete_old_messages", {"days": 10, "chunk": 1000}


def _build_run(n: int) -> dict[str, Any]:
    return {
        "action_set_id": 7,
        "project": "project-0",
        "cause": "signal",
        "signal_id": 900_000 + n,
        "actor_id": 1,
        "state": "started",
        "dry_run": False,
        "signal": {},
        "action_set": {},
    }


def _list_events() -> Iterator[CaseTuple]:
    path = "system/events"
    page = {"projects_only": False, "limit": 100, "offset": 0, "page_bytes": 8_000_000}
    filters: tuple[dict[str, Any], ...] = (
        {},
        {"projects_only": True},
        {"types": ["feature-created"]},
        {"types": ["nothing"]},
        {"features": ["flag-7"]},
        {"features": FLAGS},
        {"projects": ["project-7"]},
        {"projects": ["project-7"], "types": ["feature-tagged"]},
        {"environments": ["env-1"]},
        {"authors": ["user-7"], "author_ids": [7]},
        {"families": ["feature"]},
        {"start": NOW - timedelta(days=10), "end": NOW - timedelta(days=9)},
        {"text": "zzz", "oldest_id": 190_000, "newest_id": 200_000},
    )
    for values in filters:
        yield path, "list_events", page | values
    yield path, "count_events", page
    yield path, "count_events", page | {"features": ["flag-7"]}
    yield path, "find_search_window", page | {"window_rows": 10_000, "window_bytes": 10_000_000}
    yield path, "list_event_types", {}
    yield path, "list_events_by_id", {"ids": list(range(1000, 2000))}
    yield path, "fill_created_by", {"system_id": -1, "token_id": -2}
    yield path, "lock_old_events", {"chunk": 1000, "days": 1}
    yield path, "delete_events", {"ids": list(range(1000, 2000))}
    path = "releases/releases"
    yield path, "list_release_events", {"release_id": 7}
    yield path, "list_guard_events", {"release_ids": [7, 8], "since": NOW - timedelta(hours=1)}


def _list_access() -> Iterator[CaseTuple]:
    hashes = [_hash(f"token-{n}") for n in range(20)]
    yield "access/api_tokens", "list_valid_tokens", {"secret_hashes": hashes}
    session = _hash("session-7")
    yield "access/sessions", "find_session_user", {"id_hash": session, "now": NOW}
    yield "access/sessions", "mark_sessions_used", {"hashes": [session], "times": [NOW]}
    yield "access/api_tokens", "find_api_token", {"secret_hash": hashes[7], "now": NOW}
    yield "access/api_tokens", "list_api_token_scopes", {"ids": SETS}
    yield "access/api_tokens", "mark_api_tokens_used", {"ids": SETS, "times": [NOW] * 100}


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _list_definitions() -> Iterator[CaseTuple]:
    path = "transfer/definitions"
    for kind in ("project_environments", "segments", "feature_locations", "features"):
        yield path, f"list_{kind}", {}
    yield path, "list_features", {"names": ALL_FLAGS}
    yield path, "list_feature_names", {"project": "project-1"}
    yield path, "list_feature_names", {"tag": "simple:tag-1"}
    yield path, "list_states", {"names": ALL_FLAGS}
    yield path, "list_used_strategy_ids", {"ids": [ANY_ID] * 15_000}
    author = {"created_by": "ada", "created_by_user_id": 1}
    flag = {"project": "project-1", "type": "release", "stale": False, "impressionData": False}
    state = {"environment": "env-1", "enabled": False, "variants": []}
    yield "flags/features", "put_features", author | _build_items("name", flag)
    yield path, "put_states", _build_items("feature", state)
    yield path, "put_feature_tags", _build_items("feature", {"type": "simple", "value": "new"})
    yield path, "delete_strategies", _build_items("feature", {"environment": "env-1"})
    yield path, "insert_strategy_segments", _build_items("strategy", {"segment": "segment-7"})
    parent = {"parent": "flag-x", "enabled": True, "variants": []}
    yield path, "put_dependencies", _build_items("child", parent)


def _build_items(key: str, members: dict[str, Any]) -> dict[str, Any]:
    return {"items": json.dumps([{key: name} | members for name in ALL_FLAGS])}


def _list_usage() -> Iterator[CaseTuple]:
    flag = {"feature": "flag-7", "hours": 720}
    for kind in ("list_client_metrics", "list_client_metrics_hours"):
        yield "usage/client_metrics", kind, flag
    slots = flag | {"slot_hours": 24, "app_name": None, "sdk_type": None}
    yield "usage/client_metrics", "list_client_metrics_variant_slots", slots
    yield "usage/client_metrics", "list_client_metrics_features", {"app_names": ["app-7"]}
    old = {"hours": 23, "chunk": 1000}
    yield "usage/client_metrics", "delete_old_client_metrics", old
    yield "usage/client_applications", "list_client_applications", {"limit": 100, "offset": 0}
    app = {"app_name": "app-7", "limit": 100}
    yield "usage/client_applications", "list_client_instances", app
    yield "usage/reports", "delete_orphaned_last_seen", {"chunk": 1000}
    yield "usage/statistics", "count_for_metrics", {"reported": ALL_FLAGS}
    reported = {"environment": "env-1", "app_name": "app-1"}
    usages = [
        reported | {"feature": f, "hour": HOUR, "yes": 1, "no": 1, "is_frontend": False}
        for f in ALL_FLAGS[:1000]
    ]
    evaluated = [{"feature": name, "environment": "env-1"} for name in ALL_FLAGS[:1000]]
    instance = reported | {"sdk_version": "x", "sdk_type": "backend", "client_ip": "x", "room": 10}
    instances = [instance | {"instance_id": f"instance-{n}"} for n in range(500)]
    path = "usage/reports"
    yield path, "store_last_seen", {"flags": json.dumps(evaluated)}
    yield path, "store_usages", {"usages": json.dumps(usages)}
    yield path, "count_instances", {"environment": "env-1", "is_frontend": False}
    yield path, "store_instances", {"instances": json.dumps(instances)}
    yield path, "store_instances_with_room", {"instances": json.dumps(instances)}
