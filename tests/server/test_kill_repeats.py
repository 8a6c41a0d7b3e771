"""SIGKILL between store and answer: a sender that repeats its delivery until it is acknowledged
stores one signal, which runs its sets once."""

from __future__ import annotations

import contextlib
import http.client
from pathlib import Path

from tests.repository.kit import run
from tests.server.kills import BOTH, Load, connect, embedded, run_with_kills
from tests.server.process import Process
from tests.server.test_kill_actions import await_end_of_work, furnish

ENDPOINT = "/api/admin/signal-endpoints/1"


class RepeatingLoad(Load):
    """Each sender repeats a number until it gets a 200."""

    def _send(self) -> bool:
        number = next(self._numbers)
        while number not in self.acked:
            with contextlib.suppress(OSError, http.client.HTTPException):
                status, _ = self.process.request(
                    "POST", "/api/signal-endpoint/deploys", {"n": number}, secret=self._secret
                )
                if status == 200:
                    self.acked.add(number)
            self._stop.wait(0.002)
        return True


def start_load(process: Process) -> tuple[Load]:
    """For an endpoint whose signals are identified by their number."""
    secret = furnish(process)
    options = {"idempotency": {"paths": ["n"]}}
    status, answer = process.request("PUT", ENDPOINT, {"name": "deploys", "options": options})
    assert status == 200, answer
    return (RepeatingLoad(process, secret),)


def test_repeated_deliveries_are_one_signal_and_one_run(data: Path):
    with run_with_kills(BOTH, data, start_load, embedded(data)) as (load,):
        await_end_of_work(lambda: connect(data))
        with contextlib.closing(connect(data)) as conn:
            rows = run(conn, "SELECT (payload->>'n')::int, count(*) FROM signals GROUP BY 1")
            pairs = run(conn, "SELECT action_set_id, signal_id FROM action_runs")
    counts = dict(rows)
    assert not load.acked - set(counts), "acknowledged and lost"
    assert set(counts.values()) == {1}, "stored twice"
    assert len(pairs) == len(set(pairs)) > 0
