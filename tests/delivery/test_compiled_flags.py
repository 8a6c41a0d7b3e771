"""Compiled flags: one read for each change, without blocking other environments."""

from __future__ import annotations

import threading

from sigservice.services.flags import client_features
from tests.waiting import DEADLINE_SECONDS


def test_an_environment_is_built_while_another_one_is_being_built(service, monkeypatch):
    compiled_flags = service.context.compiled_flags
    begun, gate, built = threading.Event(), threading.Event(), []
    original = client_features.read_all

    def slow(conn, environment):
        built.append(environment)
        if environment == "development":
            begun.set()
            assert gate.wait(DEADLINE_SECONDS)
        return original(conn, environment)

    monkeypatch.setattr(client_features, "read_all", slow)

    def get(environment):
        revision = service.context.revision_cache.read_revisions().of_environment(environment)
        return compiled_flags.get(environment, revision)

    threads = [threading.Thread(target=get, args=("development",)) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(DEADLINE_SECONDS)
    assert get("production") is get("production")
    gate.set()
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
        assert not thread.is_alive()
    assert sorted(built) == ["development", "production"]
