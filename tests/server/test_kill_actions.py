"""SIGKILL while signals arrive and sets run: each signal one run, each action once, and no flag in
a state that no run explains."""

from __future__ import annotations

import contextlib
import itertools
import signal
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from sigservice.db.embedded import EmbeddedPostgres
from tests.repository.kit import run
from tests.server.kills import (
    VICTIMS,
    Load,
    assert_exactly_once,
    connect,
    embedded,
    run_with_kills,
)
from tests.server.process import Process, run_service, until

FLAGS = "/api/admin/projects/default/features"
SETS = "/api/admin/projects/default/actions"
WORLD = ("a", "b", "c")


def act(kind: str, flag: str, environment: str = "development") -> dict[str, Any]:
    params = {"environment": environment, "featureName": flag}
    return {"action": f"TOGGLE_FEATURE_{kind}", "executionParams": params}


def furnish(process: Process) -> str:
    """An endpoint's token; sets that switch to and fro, fail on the way, and cool down."""

    def post(path: str, body: Any) -> Any:
        status, answer = process.request("POST", path, body)
        assert status in (200, 201), answer
        return answer

    endpoint, secret = process.create_sender()
    account = {"username": "robot", "name": "Robot", "rootRole": "Editor"}
    actor = post("/api/admin/service-account", account)["id"]
    for name in (*WORLD, "gone"):
        post(FLAGS, {"name": name})

    def add(name: str, last: list[str], actions: list[Any], **options: Any) -> None:
        """Matches the signals whose number ends with one of the digits."""
        pattern = {"operator": "REGEX", "value": f"[{''.join(last)}]$"}
        match = {"source": "signal-endpoint", "sourceId": endpoint, "payload": {"n": pattern}}
        numbered = [action | {"sortOrder": n} for n, action in enumerate(actions, 1)]
        body = {"name": name, "actorId": actor, "match": match, "actions": numbered}
        post(SETS, body | {"options": options})

    add("on", list("02468"), [act("ON", "a"), act("ON", "b")])
    add("off", list("13579"), [act("OFF", "b"), act("OFF", "a")])
    mixed = [act("ON", "c"), act("ON", "gone"), act("OFF", "c")]
    add("fails", list("05"), mixed, continueOnFailure=True)
    add("cools", list("0123456789"), [act("OFF", "c")], cooldownSeconds=1)
    assert process.request("DELETE", f"{FLAGS}/gone")[0] in (200, 202)
    return secret


def await_end_of_work(open_connection: Callable[[], Any]) -> None:
    """However much there is, as long as it gets less."""

    def remaining() -> int:
        with contextlib.suppress(psycopg2.Error), contextlib.closing(open_connection()) as conn:
            results = run(
                conn,
                "SELECT (SELECT count(*) FROM signal_queue) * 100 + (SELECT "
                "coalesce(sum(jsonb_array_length(action_set->'actions') - next_action), 0) "
                "FROM action_runs WHERE state = 'started')",
            )
            return int(results[0][0])
        return -1

    while before := remaining():
        until(lambda before=before: remaining() not in (-1, before), f"progress with {before} left")


def assert_explained(conn: Any, load: Load) -> None:
    """Runs, events and flags tell the same story."""
    snapshot = dict(run(conn, "SELECT (payload->>'n')::int, id FROM signals"))
    assert len(load.acked) > 10
    assert not load.acked - set(snapshot), "acknowledged and lost"
    names = dict(run(conn, "SELECT id, name FROM action_sets"))
    runs = run(
        conn,
        "SELECT action_set_id, signal_id, state, action_set->'actions', next_action "
        "FROM action_runs ORDER BY id",
    )
    ran = defaultdict(list)
    for set_id, signal_id, *_ in runs:
        ran[names[set_id]].append(signal_id)
    for name, last in (("on", "02468"), ("off", "13579"), ("fails", "05"), ("cools", "0123456789")):
        expected = [id for number, id in snapshot.items() if str(number)[-1] in last]
        assert Counter(ran[name]) == Counter(expected), f"one run of {name} for each signal"
    states = Counter((names[run[0]], run[2]) for run in runs)
    assert {state for name, state in states if name == "fails"} == {"failed"}
    assert {state for name, state in states if name in ("on", "off")} == {"success"}
    assert states["cools", "suppressed"] > 0

    done = []
    for set_id, _, state, actions, place in runs:
        if state == "suppressed":
            continue
        assert place == len(actions)
        expected = ["success", "failed", "success"] if names[set_id] == "fails" else ["success"]
        assert {a["state"] for a in actions} == set(expected)
        done += [
            (change["feature"], change["after"])
            for action in actions
            for change in action["changes"]
        ]
    events = run(
        conn,
        "SELECT feature_name, type = 'feature-environment-enabled' FROM events "
        "WHERE type IN ('feature-environment-enabled', 'feature-environment-disabled') ORDER BY id",
    )
    assert events == done, "an event for each change that a run tells of, in that order"
    flags = dict.fromkeys(WORLD, False) | dict(done)
    now = dict.fromkeys(WORLD, False) | dict(
        run(
            conn,
            "SELECT feature, enabled FROM feature_environments "
            "WHERE environment = 'development' AND feature IN ('a', 'b', 'c')",
        )
    )
    assert now == flags
    conn.close()


@pytest.mark.parametrize("victim", VICTIMS)
def test_each_signal_runs_once_whatever_is_killed(data: Path, victim: str):
    def start_load(process: Process) -> tuple[Load]:
        return (Load(process, furnish(process)),)

    with run_with_kills(victim, data, start_load, embedded(data)) as (load,):
        await_end_of_work(lambda: connect(data))
        assert_explained(connect(data), load)
        assert_exactly_once(connect(data), load)


def test_two_processes_share_the_work_and_stop_in_the_midst_of_it(data: Path):
    with run_service(embedded(data)) as first, run_service(embedded(data)) as second:
        secret = furnish(first)
        with Load(first, secret, threads=4) as load:
            load.wait_for_acks(20)
            load.process = second
            load.wait_for_acks(20)
            first.send(signal.SIGTERM)
            assert first.wait() == 0
            load.wait_for_acks(20)
        await_end_of_work(lambda: connect(data))
        with contextlib.closing(connect(data)) as conn:
            for name in ("on", "off"):
                order = run(
                    conn,
                    "SELECT r.signal_id, r.id FROM action_runs r JOIN action_sets s "
                    f"ON s.id = r.action_set_id WHERE s.name = '{name}' ORDER BY r.finished_at",
                )
                runs, signals = [row[1] for row in order], [row[0] for row in order]
                assert runs == sorted(runs)
                # Of signals that arrive at the same moment any may be stored first.
                newest = itertools.accumulate(signals, max)
                assert all(id > before - 10 for id, before in zip(signals, newest, strict=True))
        second.send(signal.SIGTERM)
        assert second.wait() == 0
    database = EmbeddedPostgres(str(data))
    database.start()
    try:
        assert_explained(connect(data), load)
    finally:
        database.stop()
