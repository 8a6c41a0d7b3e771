"""SIGKILL of two processes while releases go on, alerts fire, and a user edits guards: each
release ends as one that nothing disturbs, takes each step once, and rolls back once; an edit
happens as a whole, and none that was answered is lost."""

from __future__ import annotations

import contextlib
import http.client
import random
import threading
from typing import Any

import pytest

from sigservice.services.releases.release_journal import name_release_event
from tests.repository.kit import run
from tests.server.kills import Pair, count_kills
from tests.server.process import OPEN_LIMITS, Process, make_database_environ, until
from tests.waiting import take_time

KILLS = count_kills(4)
RELEASES = 40
FLAGS = "/api/admin/projects/default/features"
STEPS = [{"rollout": n, "minutes": 1} for n in range(10, 100, 10)] + [{"rollout": 100}]
TYPES = ["created", "started", *["advanced"] * (len(STEPS) - 1), "finished"]
ALERTS = [n for n in range(RELEASES) if n % 4 == 0]  # of the flags whose guard fires


def post(process: Process, path: str, body: Any = None) -> Any:
    status, answer = process.request("POST", path, body)
    assert status in (200, 201), answer
    return answer


def create_releases(process: Process) -> tuple[int, str, list[int]]:
    """The alerts' endpoint, its token, and the releases; those of even flags have a guard."""
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
        guards = [make_guard(endpoint, n)] if n % 2 == 0 else []
        body = {"steps": STEPS, "watchMinutes": 1, "guards": guards}
        ids.append(post(process, f"{place}/releases", body)["id"])
    return endpoint, secret, ids


def make_guard(endpoint: int, n: int, edit: str = "first") -> dict[str, Any]:
    """Fires for alerts of the flag; each `edit` makes it another guard."""
    filters = [{"path": "flag", "operator": "IN", "values": [str(n), edit]}]
    return {"kind": "signal", "endpointId": endpoint, "effect": "rollBack", "filters": filters}


class Editor(threading.Thread):
    """Edits guards in processes that are killed."""

    def __init__(self, processes: list[Process], ids: list[int], endpoint: int) -> None:
        super().__init__()
        self.processes, self.ids, self.endpoint = processes, ids, endpoint
        self.stop, self.chance = threading.Event(), random.Random(3)
        self.attempts: set[str] = set()
        self.edited: set[str] = set()

    def run(self) -> None:
        while not self.stop.wait(self.chance.random() / 5):
            n = self.chance.randrange(0, RELEASES, 2)
            path = f"{FLAGS}/flag-{n}/environments/production/releases/{self.ids[n]}"
            with contextlib.suppress(OSError, http.client.HTTPException):
                self._edit(self.chance.choice(self.processes), path, n)

    def _edit(self, process: Process, path: str, n: int) -> None:
        edit = f"edit {len(self.attempts)}"
        self.attempts.add(edit)
        body = {"guards": [make_guard(self.endpoint, n, edit)], "reason": edit}
        status, answer = process.request("PUT", f"{path}/guards", body)
        assert status in (200, 400, 409, 503), answer  # 400 while the alert fires
        if status == 200:
            self.edited.add(edit)


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
    with contextlib.ExitStack() as stack:
        pair = Pair(environ, stack, 7)
        processes, chance = pair.processes, pair.chance
        endpoint, secret, ids = create_releases(processes[0])
        conn = stack.enter_context(
            contextlib.closing(temporary_database.connect("killed_releases"))
        )
        editor = Editor(processes, ids, endpoint)
        editor.start()
        stack.callback(editor.join)
        stack.callback(editor.stop.set)
        for kill in range(KILLS):
            hurry(conn, [id for id in ids if chance.random() < len(STEPS) / 2 / KILLS])
            for index, n in enumerate(ALERTS):
                if index * KILLS // len(ALERTS) == kill:
                    path, body = "/api/signal-endpoint/alerts", {"flag": str(n)}
                    assert processes[0].request("POST", path, body, secret=secret)[0] == 200
            take_time(chance.random())
            pair.kill_one()

        def count_active() -> int:
            hurry(conn, ids)
            return run(conn, "SELECT count(*) FROM releases WHERE state = 'running'")[0][0]

        until(lambda: count_active() == 0, "the end of all releases")
        editor.stop.set()
        editor.join()
        events: dict[int, list[str]] = {id: [] for id in ids}
        edits: dict[int, list[str]] = {id: [] for id in ids}
        log = (
            "SELECT (data ->> 'releaseId')::bigint, type, data ->> 'reason' FROM events"
            " WHERE type LIKE 'release-%%' AND data ? 'releaseId' ORDER BY id"
        )
        rows = [(id, name_release_event(type), reason) for id, type, reason in run(conn, log)]
        for id, type, reason in rows:
            if type == "guardsEdited":
                edits[id].append(reason.rpartition(": ")[2])
            else:
                events[id].append(type)
        guards = run(conn, "SELECT release_id, definition FROM release_guards")
        states = dict(run(conn, "SELECT id, state FROM releases"))
        rollouts = dict(run(conn, "SELECT feature, parameters->>'rollout' FROM feature_strategies"))
    done = [edit for names in edits.values() for edit in names]
    assert editor.edited
    assert editor.edited <= set(done) <= editor.attempts
    assert len(done) == len(set(done))
    assert len(guards) == RELEASES / 2
    for id, definition in guards:
        edit = definition["filters"][0]["values"][1]
        assert edit == (edits[id] or ["first"])[-1]
    for n, id in enumerate(ids):
        if n in ALERTS:
            assert states[id] == "rolledBack"
            assert rollouts[f"flag-{n}"] == "0"
            assert events[id][-2:] == ["guardFired", "rolledBack"]
            assert events[id][:-2] == TYPES[: len(events[id]) - 2]
        else:
            assert (states[id], rollouts[f"flag-{n}"]) == ("finished", "100")
            assert events[id] == TYPES


pytestmark = pytest.mark.external
