"""A rolling upgrade: the version before the newest migration and this one, on one database."""

from __future__ import annotations

import contextlib
import http.client
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ENCRYPTION_KEY
from tests.server.process import (
    OPEN_LIMITS,
    ROOT,
    Process,
    make_database_environ,
    run_service,
)
from tests.waiting import until

CLIENT, FRONTEND = "*:development.rolling", "*:development.rolling-frontend"
FILES = ("run.py", "setup.cfg", "sigservice", "sql", "static", "templates", "docs")
FIRST_VERSION = "0009_usage"  # its newest migration
FEATURES = "/api/admin/projects/default/features"
ENVIRONMENT = f"{FEATURES}/a/environments/development"
# The previous version must not import this one.
RUN = """
import os, runpy, sigservice
assert sigservice.__file__.startswith(os.getcwd() + "/"), sigservice.__file__
runpy.run_path("run.py", run_name="__main__")
"""


def git(*arguments: str) -> bytes:
    command = ["git", "-C", str(ROOT), "-c", "safe.directory=*", *arguments]
    return subprocess.run(command, check=True, capture_output=True).stdout


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the last commit without the newest migration."""
    folder = tmp_path_factory.mktemp("previous")
    newest = max((ROOT / "sql" / "migrations").glob("*.sql")).relative_to(ROOT)
    if newest.stem == FIRST_VERSION:
        pytest.skip("No version has an older schema.")
    try:
        log = git("log", "--diff-filter=A", "--format=%H", "-1", "--", str(newest))
        files = git("archive", f"{log.decode().strip()}^" if log else "HEAD", *FILES)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"needs git and the history of the repository: {error}")
    subprocess.run(["tar", "-x", "-C", folder], input=files, check=True)
    assert not (folder / newest).exists()
    return folder


@pytest.fixture(scope="module")
def processes(previous: Path, temporary_database: Any) -> Iterator[tuple[Process, Process]]:
    """The previous version, and this one, which migrates while the previous one runs."""
    environ = make_database_environ(temporary_database.create_database("rolling")) | OPEN_LIMITS
    environ |= {"SERVICE_ENCRYPTION_KEY": ENCRYPTION_KEY, "INIT_CLIENT_API_TOKENS": CLIENT}
    environ |= {"INIT_FRONTEND_API_TOKENS": FRONTEND}
    former = environ | {"PYTHONPATH": str(previous)}
    with run_service(former, RUN, cwd=previous, cold=True) as old, run_service(environ) as new:
        yield old, new
        for process in (old, new):
            assert "Traceback" not in process.stderr, process.stderr


class Poller:
    """An SDK that sends the ETag of its last answer, whichever process gave it."""

    def __init__(self, path: str) -> None:
        self._path, self._etag, self._body = path, "", {}

    def poll(self, process: Process) -> dict[str, Any]:
        headers = {"Authorization": CLIENT, "If-None-Match": self._etag}
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", process.port)) as conn:
            conn.request("GET", self._path, headers=headers)
            answer = conn.getresponse()
            text = answer.read()
        assert answer.status in (200, 304)
        if answer.status == 200:
            self._etag, self._body = answer.headers["ETag"], json.loads(text)
        return self._body


def send(process: Process, method: str, path: str, body: Any = None) -> Any:
    status, answer = process.request(method, path, body)
    assert status in (200, 201, 204), (status, answer)
    return answer


def list_toggles(process: Process) -> list[str]:
    status, answer = process.request("GET", "/api/frontend", secret=FRONTEND)
    assert status == 200
    return [toggle["name"] for toggle in answer["toggles"]]


def test_a_change_by_either_version_is_seen_by_both(processes: tuple[Process, Process]):
    old, new = processes
    send(old, "POST", FEATURES, {"name": "a"})
    features, delta = Poller("/api/client/features"), Poller("/api/client/delta")
    for number, writer in enumerate((new, old, old, new, new, old)):
        is_on = number % 2 == 0
        send(writer, "POST", f"{ENVIRONMENT}/{'on' if is_on else 'off'}")
        for reader in (old, new, old):
            (flag,) = features.poll(reader)["features"]
            assert flag["enabled"] is is_on
            event = delta.poll(reader)["events"][-1]
            flags = event["features"] if event["type"] == "hydration" else [event["feature"]]
            assert flags[0]["enabled"] is is_on
            assert list_toggles(reader) == (["a"] if is_on else [])


def test_signals_to_either_version_are_stored_and_act_once(processes: tuple[Process, Process]):
    old, new = processes
    send(new, "POST", FEATURES, {"name": "b"})
    endpoint, token = old.create_sender()
    account = send(
        old,
        "POST",
        "/api/admin/service-account",
        {"username": "robot", "name": "Robot", "rootRole": "Editor"},
    )["id"]
    params = {"environment": "development", "featureName": "b"}
    action = {"action": "TOGGLE_FEATURE_ON", "sortOrder": 1, "executionParams": params}
    match = {"source": "signal-endpoint", "sourceId": endpoint, "payload": {}}
    body = {"name": "on", "actorId": account, "match": match, "actions": [action]}
    sets = "/api/admin/projects/default/actions"
    action_set = send(new, "POST", sets, body)["id"]
    for process in (old, new) * 3:
        status, _ = process.request("POST", "/api/signal-endpoint/deploys", {"n": 1}, secret=token)
        assert status == 200
    path = f"{sets}/{action_set}/events"
    until(lambda: len(send(old, "GET", path)["actionSetEvents"]) == 6, "the runs of all signals")
    for process in processes:
        runs = send(process, "GET", path)["actionSetEvents"]
        assert [run["state"] for run in runs] == ["success"] * 6
        assert "b" in list_toggles(process)
        path_of_signals = f"/api/admin/signal-endpoints/{endpoint}/signals"
        assert len(send(process, "GET", path_of_signals)["signalEndpointSignals"]) == 6


def test_a_token_that_either_version_deletes_is_refused_by_both(
    processes: tuple[Process, Process],
):
    for deleter, other in (processes, processes[::-1]):
        fields = {"tokenName": "t", "type": "client", "environment": "development"}
        secret = send(deleter, "POST", "/api/admin/api-tokens", fields)["secret"]
        for process in processes:
            assert process.request("GET", "/api/client/features", secret=secret)[0] == 200
        send(deleter, "DELETE", f"/api/admin/api-tokens/{secret}")
        assert other.request("GET", "/api/client/features", secret=secret)[0] == 401
