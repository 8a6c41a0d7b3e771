"""Two services on one database share the signals: real processes and real time."""

from __future__ import annotations

import functools
import threading
from typing import Any

import pytest

from tests.server.process import (
    OPEN_LIMITS,
    Process,
    make_database_environ,
    run_service,
    until,
)

PROJECT = "/api/admin/projects/default"


@pytest.fixture
def environ(database) -> dict[str, str]:
    return make_database_environ(database.options()) | OPEN_LIMITS


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

        ids_by_sender: list[list[int]] = [[], []]
        senders = [
            threading.Thread(target=send, args=(process, token, 25, ids))
            for process, ids in zip(both, ids_by_sender, strict=True)
        ]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        done = until(lambda: finished(one, path, 6 + 50), "50 more runs")
        signals = [run["signalId"] for run in done]
        assert len(signals) == 6 + 50
        assert len(set(signals)) == len(signals)
        for ids in ids_by_sender:  # of signals that arrive at the same moment any may be the first
            assert [id for id in reversed(signals) if id in ids] == ids
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


def send(service: Process, token: str, amount: int, ids: list[int]) -> None:
    """Adds the IDs of the signals to `ids`."""
    for _ in range(amount):
        body = {"status": "firing", "groupKey": "a"}
        status, answer = service.request("POST", "/api/signal-endpoint/alerts", body, token)
        assert status == 200, answer
        ids.append(answer["signals"][0]["id"])


def finished(service: Process, path: str, amount: int) -> list[dict[str, Any]] | None:
    """The runs, newest first, once there are so many and none is under way."""
    status, answer = service.request("GET", path)
    assert status == 200, answer
    results = answer["actionSetEvents"]
    whole = len(results) >= amount and all(run["state"] != "started" for run in results)
    return results if whole else None
