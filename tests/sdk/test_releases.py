"""The official SDKs during a release: each step only adds users, a rollback leaves those of
before."""

from __future__ import annotations

import pytest

from tests.sdk.conftest import CLIENT_TOKEN, PROJECT
from tests.sdk.test_server_side import connect
from tests.server.process import until

PLACE = f"{PROJECT}/features/checkout/environments/development"
USERS = range(200)


class NodeUsers:
    def __init__(self, program):
        self._program = program

    def list_enabled(self):
        return {n for n in USERS if self._program.ask(do="on", flag="checkout", context=_make(n))}


class PythonUsers:
    def __init__(self, client):
        self._client = client

    def list_enabled(self):
        return {n for n in USERS if self._client.is_enabled("checkout", _make(n))}


def _make(number):
    return {"userId": str(number)}


@pytest.fixture
def sdks(server, node, tmp_path):
    server.flag("checkout", parameters={"rollout": 10, "stickiness": "userId"})
    program = node("node_sdk.cjs", server.url, CLIENT_TOKEN)
    program.ask(do="ready")
    client = connect(server, tmp_path)
    client.initialize_client()
    yield NodeUsers(program), PythonUsers(client)
    client.destroy()


def list_changed(sdks, before):
    """The users of both SDKs once both have the next percentage."""
    for sdk in sdks:
        until(lambda sdk=sdk: sdk.list_enabled() != before, "the next percentage")
    node, python = (sdk.list_enabled() for sdk in sdks)
    assert node == python
    return node


def test_each_step_only_adds_users_and_a_rollback_leaves_those_of_before(server, sdks):
    start = list_changed(sdks, set())
    steps = [{"rollout": 25, "minutes": 60}, {"rollout": 60, "minutes": 60}, {"rollout": 100}]
    release = server.admin("POST", f"{PLACE}/releases", {"steps": steps})
    path = f"{PLACE}/releases/{release['id']}"
    users = [start, list_changed(sdks, start)]
    for _ in steps[1:]:
        server.admin("POST", f"{path}/advance")
        users.append(list_changed(sdks, users[-1]))
    assert users[0] < users[1] < users[2] < users[3] == set(USERS)
    server.admin("POST", f"{path}/rollback")
    assert list_changed(sdks, users[-1]) == start
