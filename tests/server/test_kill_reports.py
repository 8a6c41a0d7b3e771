"""SIGKILL while signals, client metrics and registrations are stored in groups: each acknowledged
one is stored, signals once, and no counts that nobody sent."""

import http.client
import itertools
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.repository.kit import run
from tests.server.kills import (
    VICTIMS,
    Load,
    Senders,
    assert_exactly_once,
    await_more,
    connect,
    embedded,
    run_with_kills,
)
from tests.server.process import Process, run_service

TOKEN = "*:development.reports"
FLAGS = ("one", "two", "three")
OPEN = {
    "INIT_CLIENT_API_TOKENS": TOKEN,
    "REGISTER_CLIENT_RATE_LIMIT_PER_MINUTE": "1000000",
    "CLIENT_METRICS_RATE_LIMIT_PER_MINUTE": "1000000",
    "SERVICE_CLIENT_INSTANCES_LIMIT": "1000000",
}


class Reports(Senders):
    """SDKs that report metrics, and others that register instances, each once."""

    def __init__(self, process: Process) -> None:
        self.requests, self.acked, self.registered = 0, 0, set[str]()
        self._statuses = set[int]()
        self._numbers = itertools.count()
        super().__init__(process, [self._report] * 4 + [self._register] * 4)

    def _report(self) -> bool:
        bucket = {"start": 0, "stop": 0, "toggles": {name: {"yes": 1} for name in FLAGS}}
        with self._lock:
            self.requests += 1
        is_stored = self._post("metrics", {"appName": "shop", "bucket": bucket})
        with self._lock:
            self.acked += is_stored
        return is_stored

    def _register(self) -> bool:
        name = f"i{next(self._numbers)}"
        body = {"appName": "shop", "instanceId": name, "interval": 1, "started": 1}
        is_stored = self._post("register", body | {"strategies": []})
        if is_stored:
            self.registered.add(name)
        return is_stored

    def _post(self, path: str, body: Any) -> bool:
        try:
            status, _ = self.process.request("POST", f"/api/client/{path}", body, secret=TOKEN)
        except (OSError, http.client.HTTPException):
            status = 0
        self._statuses.add(status)
        return status == 202

    def statuses(self) -> set[int]:
        return self._statuses

    def wait_for_acks(self, count: int) -> None:
        """Waits until `count` more of each kind are acknowledged."""
        await_more(lambda: self.acked, count, "report acknowledged")
        await_more(lambda: len(self.registered), count, "registration acknowledged")

    def assert_stored(self, conn: Any) -> None:
        sums = run(conn, "SELECT feature, sum(yes)::int FROM client_metrics GROUP BY 1")
        names = {name for (name,) in run(conn, "SELECT instance_id FROM client_instances")}
        conn.close()
        assert {flag for flag, _ in sums} == set(FLAGS)
        assert len({count for _, count in sums}) == 1, "a report is stored as a whole"
        assert self.acked <= sums[0][1] <= self.requests
        assert not self.registered - names, "acknowledged and lost"


def create_flags(process: Process) -> str:
    """Returns the token of an endpoint."""
    for name in FLAGS:
        path = "/api/admin/projects/default/features"
        assert process.request("POST", path, {"name": name})[0] == 201
    return process.create_sender()[1]


def start_loads(process: Process) -> tuple[Load, Reports]:
    return Load(process, create_flags(process)), Reports(process)


@pytest.mark.parametrize("victim", VICTIMS)
def test_kills_lose_nothing_that_was_acknowledged(data: Path, victim: str):
    with run_with_kills(victim, data, start_loads, embedded(data) | OPEN) as (load, reports):
        reports.assert_stored(connect(data))
        assert_exactly_once(connect(data), load)


def test_stop_answers_what_it_accepted(data: Path):
    with run_service(embedded(data) | OPEN) as process:
        with Load(process, create_flags(process)) as load, Reports(process) as reports:
            load.wait_for_acks(20)
            reports.wait_for_acks(20)
            process.send(signal.SIGTERM)
            assert process.wait() == 0
        assert set(load.statuses()) | reports.statuses() <= {0, 200, 202}, "no 503"
    with run_service(embedded(data) | OPEN):
        reports.assert_stored(connect(data))
        assert_exactly_once(connect(data), load)
