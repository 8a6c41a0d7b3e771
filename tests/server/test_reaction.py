"""From an alert to the SDK of an application, past real processes: docs/actions.md as it stands.

Debian's Alertmanager reports, the service switches, the official Python SDK sees it; and two
services on one database share the work.
"""

from __future__ import annotations

import contextlib
import functools
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.process import (
    OPEN_LIMITS,
    Process,
    find_free_port,
    make_database_environ,
    run_service,
    until,
)
from tests.server.test_alertmanager import PROGRAM, fetch
from tests.waiting import DEADLINE_SECONDS

GUIDE = (Path(__file__).parents[2] / "docs" / "actions.md").read_text()
STEPS = re.findall(r"^```sh\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
MISSING = [name for name in ("prometheus-alertmanager", "amtool", "jq") if not shutil.which(name)]
PROJECT = "/api/admin/projects/default"
# Only the guide's own variables: bash refuses to set those of its own.
KEEP = (
    "declare -p URL AUTH JSON PROJECT CLIENT_TOKEN SOURCE SIGNAL_TOKEN ACTOR SET >known 2>&- || :"
)


@pytest.fixture
def environ(database) -> dict[str, str]:
    return make_database_environ(database.options()) | OPEN_LIMITS


class Reader:
    """Follows the guide in a shell, step by step."""

    def __init__(self, folder: Path, service: Process, alertmanager_port: int) -> None:
        self._folder = folder
        self._ours = {
            "http://localhost:4242": f"http://127.0.0.1:{service.port}",
            "http://localhost:9093": f"http://127.0.0.1:{alertmanager_port}",
            "*:*.choose-a-long-random-text": OPEN_LIMITS["INIT_ADMIN_API_TOKENS"],
            "group_interval: 10s": "group_interval: 1s",
        }

    def step(self, beginning: str) -> str:
        """Runs the one step that has this text in it; variables of former steps are known."""
        (step,) = (step for step in STEPS if beginning in step)
        for theirs, ours in self._ours.items():
            step = step.replace(theirs, ours)
        script = f"set -euo pipefail; [ ! -e known ] || . ./known\n{step}\n{KEEP}"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self._folder,
            capture_output=True,
            text=True,
            timeout=DEADLINE_SECONDS,
            check=False,
        )
        assert done.returncode == 0, (beginning, done.stderr)
        return done.stdout

    def list_states(self) -> list[str]:
        """The states of the flag in the application's log."""
        return re.findall(r"^\S+ checkout is (\w+)$", (self._folder / "shop.log").read_text(), re.M)


@contextlib.contextmanager
def run_program(command: list[str], folder: Path, log: str) -> Iterator[None]:
    with (folder / log).open("wb") as file:
        process = subprocess.Popen(command, cwd=folder, stdout=file, stderr=subprocess.STDOUT)
    try:
        yield
    finally:
        process.terminate()
        process.wait(DEADLINE_SECONDS)


@pytest.mark.alertmanager
@pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} not installed")
def test_the_guide_from_alert_to_flag(environ, tmp_path):
    port = find_free_port()
    with run_service(environ) as service:
        reader = Reader(tmp_path, service, port)
        for beginning in (
            '{"name": "checkout"}',
            "shop.py",
            "ACTOR=",
            "set.json",
            "webhook_configs",
        ):
            reader.step(beginning)
        command = [
            str(PROGRAM),
            "--config.file=alertmanager.yml",
            "--storage.path=alerts",
            "--cluster.listen-address=",
            f"--web.listen-address=127.0.0.1:{port}",
        ]
        with (
            run_program([sys.executable, "shop.py"], tmp_path, "shop.log"),
            run_program(command, tmp_path, "log"),
        ):
            until(lambda: is_ready(port), "Alertmanager is ready")
            until(lambda: reader.list_states() == ["on"], "the application sees the flag on")
            reader.step("--annotation=summary")
            until(lambda: reader.list_states() == ["on", "off"], "the application sees it off")
            reader.step("--end=")
            until(lambda: reader.list_states() == ["on", "off", "on"], "it sees it on again")
        output = reader.step(".actionSetEvents[]")
        assert [line.split(",", 1)[1] for line in output.splitlines()] == [
            '"resolved","success","Reverted 1 of 1 change."]',
            '"signal","success","Disabled checkout in production."]',
        ]
        assert reader.step("/test").splitlines() == [
            '["status","firing",true]',
            '["commonLabels.service","search",false]',
        ]
        _, answer = service.request("GET", "/api/admin/events/checkout")
        assert answer["events"][0]["createdBy"] == "alert-robot"


def is_ready(port: int) -> bool:
    try:
        return fetch(f"http://127.0.0.1:{port}/-/ready").startswith("OK")
    except OSError:
        return False


def test_two_processes_share_a_database(environ):
    """Each signal goes to one and is acted on once; both serve what came of it at once."""
    with run_service(environ) as one, run_service(environ) as other:
        both = [one, other]
        token, path = prepare(one)
        client = {"tokenName": "shop", "type": "client", "environment": "production"}
        status, items = one.request("POST", "/api/admin/api-tokens", client)
        assert status == 201, items

        def states(name: str) -> set[bool]:
            answers = [
                p.request("GET", "/api/client/features", None, items["secret"])[1] for p in both
            ]
            return {f["enabled"] for a in answers for f in a["features"] if f["name"] == name}

        for turn in range(6):
            word = ("firing", "resolved")[turn % 2]
            body = {"status": word, "groupKey": "a"}
            status, _ = both[turn // 2 % 2].request(
                "POST", "/api/signal-endpoint/alerts", body, token
            )
            assert status == 200
            until(functools.partial(finished, one, path, turn + 1), "a run")
            assert states("checkout") == {word == "resolved"}

        senders = [threading.Thread(target=send, args=(p, token, 25)) for p in both]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        done = until(lambda: finished(one, path, 6 + 50), "50 more runs")
        signals = [run["signalId"] for run in done]
        assert len(signals) == 6 + 50
        assert len(set(signals)) == len(signals)
        assert signals == sorted(signals, reverse=True)  # newest first: in the order of the signals
        assert {run["state"] for run in done} == {"success"}
        assert states("checkout") == {False}
        switched = [run for run in done[:50] if run["actionSet"]["actions"][0]["changes"]]
        assert len(switched) == 1


def prepare(service: Process) -> tuple[str, str]:
    """A flag that is on, and a set that switches it: the token to send signals with, and where the
    runs are."""
    for method, path, body in (
        ("POST", f"{PROJECT}/features", {"name": "checkout"}),
        ("POST", f"{PROJECT}/features/checkout/environments/production/on", None),
    ):
        status, answer = service.request(method, path, body)
        assert status < 300, answer
    account = {"username": "robot", "name": "Robot", "rootRole": "Editor"}
    status, actor = service.request("POST", "/api/admin/service-account", account)
    assert status == 201, actor
    source, token = service.create_sender("alerts")
    off = {"environment": "production", "featureName": "checkout"}
    resolved = {"path": "status", "values": ["resolved"], "key": "groupKey"}
    body = {
        "name": "off",
        "actorId": actor["id"],
        "match": {
            "source": "signal-endpoint",
            "sourceId": source,
            "payload": {"status": {"operator": "IN", "values": ["firing"]}},
        },
        "actions": [{"action": "TOGGLE_FEATURE_OFF", "sortOrder": 1, "executionParams": off}],
        "options": {"restoreWhenResolved": resolved},
    }
    status, answer = service.request("POST", f"{PROJECT}/actions", body)
    assert status == 201, answer
    return token, f"{PROJECT}/actions/{answer['id']}/events?limit=1000"


def send(service: Process, token: str, amount: int) -> None:
    for _ in range(amount):
        body = {"status": "firing", "groupKey": "a"}
        status, answer = service.request("POST", "/api/signal-endpoint/alerts", body, token)
        assert status == 200, answer


def finished(service: Process, path: str, amount: int) -> list[dict[str, Any]] | None:
    """The runs, newest first, once there are so many and none is under way."""
    status, answer = service.request("GET", path)
    assert status == 200, answer
    results = answer["actionSetEvents"]
    whole = len(results) >= amount and all(run["state"] != "started" for run in results)
    return results if whole else None
