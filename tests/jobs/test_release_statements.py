"""How many statements a request about a release takes; none of them depends on other releases."""

from __future__ import annotations

import pytest

from tests.jobs.release_kit import Releases
from tests.statement_counter import count_statements


@pytest.fixture
def kit(service, clock):
    kit = Releases(service, clock)
    kit.get(f"{kit.place}/releases")
    return kit


def test_requests_take_few_statements(kit, monkeypatch):
    endpoint = kit.endpoint("alertmanager", template="alertmanager")
    guard = {"kind": "signal", "endpointId": endpoint["id"], "effect": "rollBack"}
    releases = []
    requests = {
        "create with a guard": lambda: releases.append(kit.create(guards=[guard])),
        "hold": lambda: kit.command(releases[0], "hold"),
        "resume": lambda: kit.command(releases[0], "resume"),
        "roll back": lambda: kit.command(releases[0], "rollback"),
        "create without guards": lambda: releases.append(kit.create()),
    }
    counts = {name: count_statements(monkeypatch, work) for name, work in requests.items()}
    assert counts == {  # with one that finds the token
        "create with a guard": 12,
        "hold": 6,
        "resume": 6,
        "roll back": 7,
        "create without guards": 10,
    }
