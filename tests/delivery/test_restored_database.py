"""A database that goes back under running processes: a restored backup, or a standby without the
last commits. No SDK keeps content that was lost, whatever it has and whichever process it asks."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import pytest
import webtest

from sigservice.services import revisions
from tests.conftest import ADMIN, ADMIN_TOKEN
from tests.routes.test_delta import Delta
from tests.samples import sample
from tests.server.raw_streams import Server, Stream
from tests.waiting import until

CLIENT, FRONTEND = "*:development.client", "*:development.frontend"
OPTIONS = {
    "authentication": {
        "initialAdminUser": None,
        "initApiTokens": [
            {"type": type, "secret": secret, "environment": environment, "project": "*"}
            for type, secret, environment in (
                ("admin", ADMIN_TOKEN, "*"),
                ("client", CLIENT, "development"),
                ("frontend", FRONTEND, "development"),
            )
        ],
    }
}
FEATURES = "/api/admin/projects/default/features"
NAMES = ("a", "b", "c")
TABLES = (
    "revisions",
    "revision_changes",
    "feature_environments",
    "feature_strategies",
)  # which a switch writes


class Backup:
    """The rows of TABLES. `restore` writes them back as they were."""

    def __init__(self, conn: Any) -> None:
        self._conn = conn
        with conn.cursor() as cursor:
            for table in TABLES:
                cursor.execute(f"CREATE TEMP TABLE saved_{table} AS TABLE {table}")

    def restore(self) -> None:
        with self._conn.cursor() as cursor:
            statements = ["SET session_replication_role = replica"]  # no triggers
            for table in TABLES:
                values = f"OVERRIDING SYSTEM VALUE SELECT * FROM saved_{table}"
                statements += [f"DELETE FROM {table}", f"INSERT INTO {table} {values}"]
            cursor.execute(";".join([*statements, "SET session_replication_role = origin"]))


class Poller:
    """An SDK that polls /api/client/features."""

    def __init__(self) -> None:
        self.etag, self.flags = "", {}

    def poll(self, web: webtest.TestApp) -> dict[str, bool]:
        headers = {"Authorization": CLIENT, "If-None-Match": self.etag}
        answer = web.get("/api/client/features", headers=headers)
        if answer.status_code == 200:
            self.etag, self.flags = answer.headers["ETag"], read_flags(answer.json["features"])
            assert answer.json["meta"]["etag"] == self.etag
            assert int(self.etag.split(":")[1]) == answer.json["meta"]["revisionId"] < 2**53
        return self.flags


class DeltaPoller(Delta):
    def __init__(self) -> None:
        super().__init__(None, CLIENT)

    def poll(self, web: webtest.TestApp) -> dict[str, bool]:
        self._web = web
        super().poll()
        return read_flags(self.flags.values())


def read_flags(features: Any) -> dict[str, bool]:
    return {feature["name"]: feature["enabled"] for feature in features}


def switch(web: webtest.TestApp, name: str, is_on: bool) -> None:
    path = f"{FEATURES}/{name}/environments/development/{'on' if is_on else 'off'}"
    web.post(path, headers=ADMIN)


@pytest.fixture
def services(make_service):
    return [make_service(OPTIONS) for _ in range(2)]


@pytest.fixture
def nodes(services):
    """Two processes. Event IDs are ahead of the clock, as after many changes in a short time."""
    nodes = [webtest.TestApp(service.app) for service in services]
    for name in NAMES:
        nodes[0].post_json(FEATURES, {"name": name}, headers=ADMIN)
        switch(nodes[0], name, False)
    with services[0].context.database.transaction() as conn:
        for _ in range(20):
            revisions.bump(conn, flags=[])
    return nodes


@pytest.fixture
def back_up(database, nodes):
    with contextlib.closing(database.connect()) as conn:
        yield lambda: Backup(conn)


def list_enabled(web):
    answer = web.get("/api/frontend", headers={"Authorization": FRONTEND})
    return {toggle["name"] for toggle in answer.json["toggles"]}


@pytest.mark.parametrize("create_sdk", [Poller, DeltaPoller])
def test_lost_content_is_replaced_at_the_next_poll(nodes, back_up, create_sdk):
    sdks = [create_sdk() for _ in range(2)]
    for sdk, node in zip(sdks, nodes, strict=True):
        sdk.poll(node)
    backup = back_up()
    switch(nodes[0], "a", True)
    for sdk, node in zip(sdks, nodes, strict=True):
        assert sdk.poll(node)["a"] is True
        assert list_enabled(node) == {"a"}
    lost = sdks[0].etag
    backup.restore()
    for sdk, node in zip(sdks, nodes, strict=True):
        assert sdk.poll(node) == dict.fromkeys(NAMES, False)
        assert list_enabled(node) == set()
        assert sdk.etag != lost


@pytest.mark.parametrize("create_sdk", [Poller, DeltaPoller])
def test_as_many_changes_as_were_lost_get_other_numbers(nodes, back_up, create_sdk):
    here, there = nodes
    backup = back_up()
    for count in (1, 2, 5):
        sdks = [create_sdk() for _ in range(count)]
        for number, sdk in enumerate(sdks):
            switch(here, "a", number % 2 == 0)
            sdk.poll(here)
        lost = {sdk.etag for sdk in sdks}
        backup.restore()
        for number in range(count):
            switch(there, "b", number % 2 == 0)
        create_sdk().poll(here)  # it has seen the lost state
        for sdk in sdks:
            for node in (there, here):
                assert sdk.poll(node) == {"a": False, "b": count % 2 == 1, "c": False}
                assert sdk.etag not in lost


@pytest.mark.parametrize("seed", sample(range(4), 1))
def test_any_sdk_is_current_after_each_return(nodes, back_up, seed):
    choose = random.Random(seed)
    backup, sdks = back_up(), [create() for create in (Poller, DeltaPoller) * 3]
    for _ in range(5):
        for _ in range(choose.randrange(8)):
            switch(choose.choice(nodes), choose.choice(NAMES), choose.random() < 0.5)
            choose.choice(sdks).poll(choose.choice(nodes))
        backup.restore()
        for _ in range(choose.randrange(4)):
            switch(choose.choice(nodes), choose.choice(NAMES), choose.random() < 0.5)
        for node in nodes:  # from now on one process at least knows
            Poller().poll(node)
        for sdk in sdks:
            node = choose.choice(nodes)
            assert sdk.poll(node) == Poller().poll(node)


def test_a_stream_returns_to_the_older_content(services, nodes, back_up):
    server, sdk = Server(services[0]), DeltaPoller()
    with Stream(server, CLIENT) as stream:
        stream.read_head()

        def receive():
            for event in stream.read_event()[1]:
                sdk.apply(event)
            return read_flags(sdk.flags.values())

        receive()
        backup = back_up()
        switch(nodes[0], "a", True)
        assert receive()["a"] is True
        backup.restore()
        switch(nodes[1], "b", True)
        until(lambda: receive() == {"a": False, "b": True, "c": False}, "what is in the database")


def test_a_document_has_the_revision_of_its_content(services, nodes, monkeypatch):
    """A change between the read of the revision and that of the flags must not give the content of
    the change the revision before it, which is the one that a restored database has."""
    cache = services[0].context.revision_cache
    before = cache.read_revisions()
    switch(nodes[1], "a", True)
    monkeypatch.setattr(cache, "read_revisions", lambda *_: before)
    poller = Poller()
    assert poller.poll(nodes[0])["a"] is True
    monkeypatch.undo()
    etag = poller.etag
    poller.poll(nodes[0])
    assert poller.etag == etag
    assert f":{before.of_environment('development')}:" not in etag
