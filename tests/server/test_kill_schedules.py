"""SIGKILL while schedules are due: each time has one run."""

from __future__ import annotations

import contextlib
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sigservice.clock import format_iso
from sigservice.db.embedded import EmbeddedPostgres
from tests.repository.kit import run
from tests.server.kills import connect, count_kills, embedded, pause
from tests.server.process import Process, run_service, until
from tests.server.test_kill_actions import FLAGS, SETS, act

KILLS = count_kills(2)
SETS_FOR_EACH_KILL = 20


def environ(data: Path) -> dict[str, str]:
    return embedded(data) | {"SERVICE_ACTION_SETS_PER_PROJECT_LIMIT": "100000"}


def schedule_sets(process: Process) -> None:
    """Sets that are due at any moment of two seconds and switch a flag to and fro."""
    (account,) = process.request("GET", "/api/admin/service-account")[1]["serviceAccounts"]
    for number in range(SETS_FOR_EACH_KILL):
        at = datetime.now(UTC) + timedelta(seconds=random.uniform(3, 5))
        body = {
            "name": f"{at} {number}",
            "actorId": account["id"],
            "match": {"source": "schedule", "at": format_iso(at)},
            "actions": [act("ON" if number % 2 else "OFF", "a") | {"sortOrder": 1}],
        }
        status, answer = process.request("POST", SETS, body)
        assert status == 201, answer


def count(data: Path, where: str) -> int:
    with contextlib.closing(connect(data)) as conn:
        return int(run(conn, f"SELECT count(*) FROM action_runs WHERE {where}")[0][0])


def test_each_time_has_one_run(data: Path):
    """The database stays: another user of its folder keeps it."""
    keeper = EmbeddedPostgres(str(data))
    keeper.start()
    try:
        with run_service(environ(data)) as process:
            account = {"username": "robot", "name": "Robot", "rootRole": "Editor"}
            assert process.request("POST", "/api/admin/service-account", account)[0] == 201
            assert process.request("POST", FLAGS, {"name": "a"})[0] == 201
        for number in range(KILLS):
            with run_service(environ(data)) as process:
                schedule_sets(process)
                until(lambda n=number: count(data, "true") > n * SETS_FOR_EACH_KILL, "a run")
                pause()
                process.kill()
        total = KILLS * SETS_FOR_EACH_KILL
        with run_service(environ(data)):
            until(lambda: count(data, "state <> 'started'") >= total, "the end of all runs")
        assert count(data, "true") == total
        assert count(data, "state = 'success' AND next_action = 1") == total
        with contextlib.closing(connect(data)) as conn:
            assert run(conn, "SELECT count(DISTINCT action_set_id) FROM action_runs") == [(total,)]
            events = run(conn, "SELECT count(*) FROM events WHERE type ~ 'environment-.*abled'")
            statement = "SELECT sum(jsonb_array_length(action_set #> '{actions,0,changes}'))::int "
            changes = run(conn, f"{statement} FROM action_runs")
            assert events == changes, "an event for each change that a run tells of"
    finally:
        keeper.stop()
