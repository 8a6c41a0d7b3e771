"""SIGKILL of processes with one database while flags change: afterwards every process has the
documents of one that read all flags."""

from __future__ import annotations

import contextlib
import http.client
import threading
from pathlib import Path
from typing import Any

from tests.properties.flag_changes import ENVIRONMENTS, Changes
from tests.server.kills import Pair, count_kills, embedded
from tests.server.process import Process, run_service, until
from tests.waiting import DEADLINE_SECONDS

# Not by the admin API.
NEED_SERVICES = {
    *("change_activate", "change_environment", "change_import", "change_parameters"),
    "change_permanent",
}
TOKENS = {environment: f"*:{environment}.reader" for environment in ENVIRONMENTS}
ENVIRON = {"INIT_CLIENT_API_TOKENS": ",".join(TOKENS.values())}


class ProcessChanges(Changes):
    """Random changes in running processes. One may be killed at any moment."""

    def __init__(self, processes: list[Process], seed: int) -> None:
        self._processes, self.count = processes, 0
        super().__init__([], seed)
        self.kinds = [kind for kind in self.kinds if kind not in NEED_SERVICES]

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        while True:
            process = self.random.choice(self._processes)
            with contextlib.suppress(OSError, http.client.HTTPException):
                payload = None if method in ("GET", "DELETE") else body or {}
                status, answer = process.request(method, f"/api/admin/{path}", payload)
                if status != 503:
                    assert status < 500, answer
                    self.count += 1
                    return answer if status < 300 and isinstance(answer, (dict, list)) else {}


def read_documents(process: Process) -> list[Any]:
    """None for each that isn't there at the moment."""
    answers = [
        process.request("GET", "/api/client/features", secret=token) for token in TOKENS.values()
    ]
    return [document if status == 200 else None for status, document in answers]


def test_documents_after_kills_are_those_of_a_new_process(data: Path):
    environ = embedded(data) | ENVIRON
    with contextlib.ExitStack() as stack:
        pair = Pair(environ, stack, 4)
        changes, stop = ProcessChanges(pair.processes, 4), threading.Event()

        def make_changes() -> None:
            while not stop.is_set():
                changes.make()

        thread = threading.Thread(target=make_changes)
        thread.start()
        try:
            for _ in range(count_kills(2)):
                goal = changes.count + pair.chance.randrange(20, 60)
                until(lambda goal=goal: changes.count > goal, "some changes")
                assert thread.is_alive()
                pair.kill_one()
        finally:
            stop.set()
            thread.join(DEADLINE_SECONDS)
        new = stack.enter_context(run_service(environ))
        expected = until(lambda: all(read_documents(new)) and read_documents(new), "documents")
        assert len(expected[0]["features"]) > 3
        for process in pair.processes:
            assert read_documents(process) == expected
