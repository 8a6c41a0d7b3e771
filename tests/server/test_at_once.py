"""20 concurrent keep-alive connections over real sockets: tools that write, SDKs that poll."""

from __future__ import annotations

import http.client
import json
import threading

import pytest

from tests.conftest import ADMIN_TOKEN
from tests.delivery.test_revision_cache import CLIENT, TOKENS
from tests.waiting import DEADLINE_SECONDS

FEATURES = "/api/admin/projects/default/features"
STATE = f"{FEATURES}/a/environments/development"


@pytest.fixture
def service(make_service):
    service = make_service(TOKENS | {"server": {"gracefulShutdownEnable": False}})
    service.start()
    return service


class Connection:
    """One keep-alive connection that is never opened again."""

    def __init__(self, port, secret):
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_SECONDS)
        self._http.connect()
        self._sock, self._secret = self._http.sock, secret

    def request(self, method, path, body=None, **headers):
        headers |= {"Authorization": self._secret, "Content-Type": "application/json"}
        self._http.request(method, path, json.dumps(body) if body else None, headers)
        answer = self._http.getresponse()
        data = answer.read()
        assert self._http.sock is self._sock, "the server closed the connection"
        return answer.status, data, answer.headers

    def close(self):
        self._http.close()


def test_concurrent_requests_succeed_and_see_the_newest_state(service):
    admin = Connection(service.port, ADMIN_TOKEN)
    assert admin.request("POST", FEATURES, {"name": "a"})[0] == 201
    turns, problems, gate = [0] * 20, [], threading.Barrier(20)

    def tool(connection, n):
        for turn in range(1, 9):
            way = "on" if turn % 2 else "off"
            yield connection.request("POST", f"{STATE}/{way}")[0], {200}
            yield (
                connection.request("POST", f"{STATE}/strategies", {"name": "default"})[0],
                {200, 400},
            )
            yield connection.request("POST", FEATURES, {"name": f"f{n}.{turn}"})[0], {201}
            turns[n] = turn

    def sdk(connection, _):
        etag = ""
        for _ in range(25):
            before = list(turns)
            status, data, headers = connection.request(
                "GET", "/api/client/features", **{"If-None-Match": etag}
            )
            if status == 200:
                etag = headers["ETag"]
                names = {feature["name"] for feature in json.loads(data)["features"]}
            expected = {f"f{n}.{turn}" for n in range(20) for turn in range(1, before[n] + 1)}
            yield expected - names, [set()]
            yield status, {200, 304}

    def run(n):
        work, secret = (tool, ADMIN_TOKEN) if n % 2 else (sdk, CLIENT)
        connection = Connection(service.port, secret)
        gate.wait(DEADLINE_SECONDS)
        try:
            problems.extend(pair for pair in work(connection, n) if pair[0] not in pair[1])
        except Exception as error:  # noqa: BLE001  shown by the test
            problems.append(error)
        connection.close()

    threads = [threading.Thread(target=run, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
        assert not thread.is_alive(), "a connection hangs"
    assert problems == []
    status, data, _ = admin.request("GET", f"{STATE}/strategies")
    assert (status, len(json.loads(data))) == (200, 30)
    admin.close()
