"""SIGKILL of two processes while releases go on and alerts fire: each release ends as one that
nothing disturbs, takes each step once, and rolls back once.

KILLS is the number of kills; the suite makes four, by hand make 300.
"""

from __future__ import annotations

import contextlib
import os
import random
from typing import Any

import pytest

from tests.repository.kit import run
from tests.server.process import OPEN_LIMITS, Process, make_database_environ, until
from tests.waiting import take_time

KILLS = int(os.environ.get("KILLS", "4"))
RELEASES = 40
FLAGS = "/api/admin/projects/default/features"
STEPS = [{"rollout": n, "minutes": 1} for n in range(5, 100, 5)] + [{"rollout": 100}]
TYPES = ["created", "started", *["advanced"] * (len(STEPS) - 1), "finished"]
ALERTS = [n for n in range(RELEASES) if n % 4 == 0]  # of the flags whose guard fires


def post(process: Process, path: str, body: Any = None) -> Any:
    status, answer = process.request("POST", path, body)
    assert status in (200, 201), answer
    return answer


def create_releases(process: Process) -> tuple[str, list[int]]:
    """The token of the alerts' endpoint, and the releases; those of even flags have a guard."""
    endpoint, secret = process.create_sender("alerts")
    ids = []
    for n in range(RELEASES):
        place = f"{FLAGS}/flag-{n}/environments/production"
        post(process, FLAGS, {"name": f"flag-{n}"})
        post(
            process,
            f"{place}/strategies",
            {"name": "flexibleRollout", "parameters": {"rollout": 0}},
        )
        post(process, f"{place}/on")
        filters = [{"path": "flag", "operator": "IN", "values": [str(n)]}]
        guard = {"kind": "signal", "endpointId": endpoint, "effect": "rollBack", "filters": filters}
        body = {"steps": STEPS, "watchMinutes": 1, "guards": [guard] if n % 2 == 0 else []}
        ids.append(post(process, f"{place}/releases", body)["id"])
    return secret, ids


def hurry(conn: Any, ids: list[int]) -> None:
    """As if the time of the present steps were over."""
    run(
        conn,
        "UPDATE releases SET due_at = now() - interval '1 second', "
        "evidence_at = now() - interval '1 hour' WHERE state = 'running' AND id = ANY(%s)",
        ids,
    )


def test_releases_end_as_if_nothing_was_killed(temporary_database):
    options = temporary_database.create_database("killed_releases")
    environ = OPEN_LIMITS | make_database_environ(options)
    chance = random.Random(7)
    with contextlib.ExitStack() as stack:
        processes = [Process(environ) for _ in range(2)]
        for process in processes:
            stack.callback(process.close)
            process.wait_for_address()
        secret, ids = create_releases(processes[0])
        conn = stack.enter_context(
            contextlib.closing(temporary_database.connect("killed_releases"))
        )
        for kill in range(KILLS):
            hurry(conn, [id for id in ids if chance.random() < len(STEPS) / 2 / KILLS])
            for index, n in enumerate(ALERTS):
                if index * KILLS // len(ALERTS) == kill:
                    path, body = "/api/signal-endpoint/alerts", {"flag": str(n)}
                    assert processes[0].request("POST", path, body, secret=secret)[0] == 200
            take_time(chance.random())
            victim = chance.randrange(2)
            processes[victim].kill()
            processes[victim] = Process(environ)
            stack.callback(processes[victim].close)
            processes[victim].wait_for_address()

        def count_active() -> int:
            hurry(conn, ids)
            return run(conn, "SELECT count(*) FROM releases WHERE state = 'running'")[0][0]

        until(lambda: count_active() == 0, "the end of all releases")
        events = {id: [] for id in ids}
        for id, type in run(conn, "SELECT release_id, type FROM release_events ORDER BY id"):
            events[id].append(type)
        states = dict(run(conn, "SELECT id, state FROM releases"))
        rollouts = dict(run(conn, "SELECT feature, parameters->>'rollout' FROM feature_strategies"))
        audited = run(
            conn,
            "SELECT count(*) FROM events WHERE type LIKE 'release-%%' AND data ? 'releaseId'",
        )[0][0]
    for n, id in enumerate(ids):
        if n in ALERTS:
            assert states[id] == "rolledBack"
            assert rollouts[f"flag-{n}"] == "0"
            assert events[id][-2:] == ["guardFired", "rolledBack"]
            assert events[id][:-2] == TYPES[: len(events[id]) - 2]
        else:
            assert (states[id], rollouts[f"flag-{n}"]) == ("finished", "100")
            assert events[id] == TYPES
    assert audited == sum(map(len, events.values()))


pytestmark = pytest.mark.external
