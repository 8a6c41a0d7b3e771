"""Two processes on one data directory behind a real HAProxy, with the file of deploy/haproxy."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.haproxy import Haproxy, read_configuration, run_haproxy
from tests.server.process import (
    OPEN_LIMITS,
    Process,
    create_open_folder,
    find_free_port,
    find_postmaster,
    list_children,
    run_service,
    until,
)
from tests.waiting import DEADLINE_SECONDS

FILE = "haproxy/several-processes.cfg"
RATE, BURST = 4, 10
FLIPS = int(os.environ.get("FLIPS", "20"))  # by hand 1000
FLAG = "/api/admin/projects/default/features/checkout"
METRICS = "/internal-backstage/prometheus"


class Cluster(NamedTuple):
    nodes: list[Process]
    proxy: Haproxy
    data: Path

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of an admin's request through the proxy, which must succeed."""
        status, answer = self.proxy.request(method, path, body)
        assert status < 300, answer
        return answer

    def create_token(self) -> dict[str, Any]:
        body = {"tokenName": "sdk", "type": "client", "environment": "development"}
        return self.call("POST", "/api/admin/api-tokens", body)

    def create_signal_tokens(self, endpoint: str, count: int) -> list[str]:
        """The secrets of tokens of a new endpoint with its own limit."""
        limit = {"rateLimit": {"perSecond": RATE, "burst": BURST}}
        path = "/api/admin/signal-endpoints"
        created = self.call("POST", path, {"name": endpoint, "options": limit})
        path += f"/{created['id']}/tokens"
        return [self.call("POST", path, {"name": f"t{n}"})["token"] for n in range(count)]

    def count(self, metric: str) -> list[float]:
        """The sum of the samples of a metric in each process, whose line matches `metric`."""
        texts = [node.request("GET", METRICS)[1].decode() for node in self.nodes]
        return [sum(map(float, re.findall(f"^{metric}.* (\\S+)$", t, re.M))) for t in texts]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    port, *ports = (find_free_port() for _ in range(3))
    with create_open_folder() as folder, contextlib.ExitStack() as stack:
        environ = OPEN_LIMITS | {
            "SERVICE_DATA_DIR": str(folder / "data"),
            "SERVICE_TRUSTED_PROXY": "127.0.0.1",
            "SERVICE_SIGNAL_TOKENS_PER_ENDPOINT_LIMIT": "16",
            "HTTP_HOST": "127.0.0.1",
        }
        nodes = [
            stack.enter_context(run_service(environ | {"HTTP_PORT": str(number)}))
            for number in ports
        ]
        text = read_configuration(FILE, port, ports)
        proxy = stack.enter_context(run_haproxy(text, port))
        proxy.wait_for_servers(2)
        cluster = Cluster(nodes, proxy, folder / "data")
        cluster.call("POST", "/api/admin/projects/default/features", {"name": "checkout"})
        yield cluster


class Sender(threading.Thread):
    """Sends signals with one token in turn in all forms of its header, until `ends_at`. `others`
    are the statuses but 200, and 0 for a lost connection."""

    def __init__(self, proxy: Haproxy, endpoint: str, token: str, ends_at: float) -> None:
        super().__init__(daemon=True)
        self._proxy, self._path, self._ends_at = proxy, f"/api/signal-endpoint/{endpoint}", ends_at
        basic = [base64.b64encode(f"user{n}:{token}".encode()).decode() for n in range(4)]
        values = [f"Bearer {token}", token, f"bearer \t{token}", *(f"Basic {b}" for b in basic)]
        self._headers = [{"Authorization": value} for value in values]
        self._headers += [{"X-Gitlab-Token": token}]
        self.accepted, self.seconds, self.others = 0, 0.0, set[int]()

    def run(self) -> None:
        conn = http.client.HTTPConnection("127.0.0.1", self._proxy.port, timeout=DEADLINE_SECONDS)
        started_at, number = time.monotonic(), 0
        while time.monotonic() < self._ends_at:
            headers = self._headers[number % len(self._headers)]
            number += 1
            try:
                conn.request("POST", self._path, headers=headers)
                answer = conn.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):
                conn.close()
                self.others.add(0)
                continue
            if answer.status == 200:
                self.accepted += 1
            else:
                self.others.add(answer.status)
        self.seconds = time.monotonic() - started_at
        conn.close()


def test_limit_of_each_token_is_exact(cluster: Cluster):
    tokens = cluster.create_signal_tokens("limited", 16)
    ends_at = time.monotonic() + 1.5
    senders = [Sender(cluster.proxy, "limited", token, ends_at) for token in tokens]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join(DEADLINE_SECONDS)
    for sender in senders:
        assert BURST <= sender.accepted <= BURST + RATE * sender.seconds + 1
        assert sender.others == {429}
    accepted = cluster.count('signals_received_total{endpoint="limited",result="accepted"')
    assert sum(accepted) == sum(sender.accepted for sender in senders)
    assert min(accepted) > 0, accepted


QUERIES = (
    "token={0}",
    "x=y?token={1}&token={0}",
    "?token={1}&token={0}",
    "x=1;token={1}&token={0}",
    "token={0}#{1}",
)


def test_no_query_reaches_two_processes_with_one_token(cluster: Cluster):
    """What HAProxy takes for the token is the token of the service, or the query is refused."""
    (token,) = cluster.create_signal_tokens("queries", 1)
    endpoints = cluster.call("GET", "/api/admin/signal-endpoints")["signalEndpoints"]
    (endpoint,) = [endpoint for endpoint in endpoints if endpoint["name"] == "queries"]
    body = {"name": "queries", "options": endpoint["options"] | {"allowQueryToken": True}}
    cluster.call("PUT", f"/api/admin/signal-endpoints/{endpoint['id']}", body)
    started_at, statuses = time.monotonic(), []
    for number in range(12 * len(QUERIES)):
        query = QUERIES[number % len(QUERIES)].format(token, f"invented-{number}")
        conn = http.client.HTTPConnection("127.0.0.1", cluster.proxy.port, timeout=DEADLINE_SECONDS)
        with contextlib.closing(conn):
            conn.request("POST", f"/api/signal-endpoint/queries?{query}")
            statuses.append(conn.getresponse().status)
    accepted = statuses.count(200)
    assert 0 < accepted <= BURST + RATE * (time.monotonic() - started_at) + 1
    assert set(statuses[:: len(QUERIES)]) <= {200, 429}
    assert set(statuses[1 :: len(QUERIES)]) == {400}


def test_limit_is_exact_behind_two_proxies(cluster: Cluster):
    """They don't talk to each other: the same servers in the same order give the same hash."""
    (token,) = cluster.create_signal_tokens("shared", 1)
    ports = [node.port for node in cluster.nodes]
    with contextlib.ExitStack() as stack:
        proxies = []
        for _ in range(2):
            port = find_free_port()
            text = read_configuration("cluster/haproxy.cfg", port, ports)
            proxies.append(stack.enter_context(run_haproxy(text, port)))
        for proxy in proxies:
            proxy.wait_for_servers(2)
        senders = [Sender(proxy, "shared", token, time.monotonic() + 1) for proxy in proxies]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join(DEADLINE_SECONDS)
    accepted = sum(sender.accepted for sender in senders)
    assert BURST <= accepted <= BURST + RATE * max(sender.seconds for sender in senders) + 1


def test_flip_and_revocation_are_right_at_the_next_request(cluster: Cluster):
    secret = cluster.create_token()["secret"]
    for number in range(FLIPS):
        is_on = number % 2 == 0
        cluster.call("POST", f"{FLAG}/environments/development/{'on' if is_on else 'off'}")
        for client in (*cluster.nodes, cluster.proxy):
            _, document = client.request("GET", "/api/client/features", secret=secret)
            assert [flag["enabled"] for flag in document["features"]] == [is_on]
    cluster.call("DELETE", f"/api/admin/api-tokens/{secret}")
    for client in (*cluster.nodes, cluster.proxy):
        assert client.request("GET", "/api/client/features", secret=secret)[0] == 401


def test_reads_of_one_token_use_both_processes(cluster: Cluster):
    secret = cluster.create_token()["secret"]
    polls = "http_request_duration_milliseconds_count.*/api/client/features"
    before = cluster.count(polls)
    for _ in range(10):
        assert cluster.proxy.request("GET", "/api/client/features", secret=secret)[0] == 200
    after = cluster.count(polls)
    assert sum(after) - sum(before) == 10
    assert min(b - a for a, b in zip(before, after, strict=True)) > 0


def test_metrics_are_those_of_each_process(cluster: Cluster):
    for path in (METRICS, METRICS.replace("prom", "%70rom")):
        assert cluster.proxy.request("GET", path)[0] == 404
    assert all(count > 0 for count in cluster.count("http_request_duration_milliseconds_count"))


def test_stream_gets_a_change_that_another_process_made(cluster: Cluster):
    secret = cluster.create_token()["secret"]
    conn = http.client.HTTPConnection("127.0.0.1", cluster.proxy.port, timeout=DEADLINE_SECONDS)
    with contextlib.closing(conn):
        conn.request("GET", "/api/client/streaming", headers={"Authorization": secret})
        answer = conn.getresponse()
        assert answer.status == 200
        for node, switch in zip(cluster.nodes, ("on", "off"), strict=True):
            path = f"{FLAG}/environments/development/{switch}"
            assert node.request("POST", path)[0] == 200
            lines = iter(answer.readline, b"")
            data = (json.loads(line[6:]) for line in lines if line.startswith(b"data: {"))
            states = (
                event["feature"]["enabled"]
                for message in data
                for event in message["events"]
                if event["type"] == "feature-updated"
            )
            assert next(states) is (switch == "on")


def test_processes_stay_up_while_the_database_stalls(cluster: Cluster):
    (token,) = cluster.create_signal_tokens("stalled", 1)
    postmaster = find_postmaster(cluster.data)
    pids = [postmaster, *list_children(postmaster)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        conn = http.client.HTTPConnection("127.0.0.1", cluster.proxy.port, timeout=DEADLINE_SECONDS)
        with contextlib.closing(conn):
            conn.request("POST", "/api/signal-endpoint/stalled", headers={"Authorization": token})
            answer = conn.getresponse()
            assert answer.status == 503
            assert json.loads(answer.read())["name"] == "UnavailableError"  # not of HAProxy
            assert answer.getheader("Retry-After")
        assert cluster.proxy.request("GET", "/health")[0] == 200
        assert cluster.proxy.count_servers("writes") == 2
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)

    def send() -> bool:
        path = "/api/signal-endpoint/stalled"
        return cluster.proxy.request("POST", path, {}, token)[0] == 200

    until(send, "signals are accepted again")


def test_killed_process_costs_its_tokens_one_more_burst(cluster: Cluster):
    """The last test of this file: it kills the process that has started the database."""
    tokens = cluster.create_signal_tokens("survivors", 8)
    ends_at = time.monotonic() + 3
    senders = [Sender(cluster.proxy, "survivors", token, ends_at) for token in tokens]
    for sender in senders:
        sender.start()
    until(lambda: all(sender.accepted >= BURST for sender in senders), "each burst is used")
    cluster.nodes[0].kill()
    for sender in senders:
        sender.join(DEADLINE_SECONDS)
    for sender in senders:
        assert sender.accepted <= 2 * BURST + RATE * sender.seconds + 2
        assert sender.others <= {429, 502, 503, 0}
    until(lambda: cluster.proxy.count_servers("writes") == 1, "the proxy has noticed")
    assert cluster.proxy.request("GET", "/api/admin/projects")[0] == 200
    path = "/api/signal-endpoint/survivors"
    for token in tokens:
        until(
            lambda token=token: cluster.proxy.request("POST", path, {}, token)[0] == 200,
            "a signal of each token",
        )
