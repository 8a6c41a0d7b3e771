"""From a signal's 200 to the flag's new state in GET /api/client/features.

usage: python bench/reaction.py [--processes 2] [flips]
Idle, and while 200 signals a second arrive that other sets match: sets that have nothing to
change, and sets that change a flag each time. With two processes the second one answers the polls
and takes half of the signals.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import time

from load import paced, post
from service import Running, running

CLIENT = "*:development.bench"
RATE = 200
TO = ("off", "on")


class Flipper:
    """Sends signals on one connection and polls on another."""

    def __init__(self, signals: list[int], polls: int, token: str) -> None:
        self._senders = [http.client.HTTPConnection("127.0.0.1", port) for port in signals]
        self._poller = http.client.HTTPConnection("127.0.0.1", polls)
        self._token = token
        self._etag, self._enabled = "", False

    def flip(self, number: int) -> float:
        """Seconds."""
        to = TO[number % 2]
        sender = self._senders[number // 2 % len(self._senders)]
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        sender.request("POST", "/api/signal-endpoint/flips", json.dumps({"to": to}), headers)
        answer = sender.getresponse()
        answer.read()
        began = time.perf_counter()
        assert answer.status == 200
        while self._is_on() is not (to == "on"):
            pass
        taken = time.perf_counter() - began
        if taken > 5:  # the queue grows; the service has closed the idle connection, or will
            sender.close()
        return taken

    def _is_on(self) -> bool:
        headers = {"Authorization": CLIENT, "If-None-Match": self._etag}
        self._poller.request("GET", "/api/client/features", headers=headers)
        answer = self._poller.getresponse()
        data = answer.read()
        if answer.status == 200:
            self._etag = answer.headers["ETag"]
            flags = {flag["name"]: flag["enabled"] for flag in json.loads(data)["features"]}
            self._enabled = flags["flipped"]
        return self._enabled


def measure(name: str, ports: list[int], token: str, flips: int) -> None:
    flipper = Flipper(ports, ports[-1], token)
    for number in range(10):
        flipper.flip(number)
    taken = sorted(1000 * flipper.flip(number) for number in range(flips))
    p50, p99 = taken[flips // 2], taken[flips * 99 // 100]
    load = os.getloadavg()[0]
    print(f"{name:36} p50 {p50:7.1f} ms  p99 {p99:7.1f} ms  most {taken[-1]:7.1f}  load {load:.1f}")


def main(processes: int, flips: int) -> None:
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(running(INIT_CLIENT_API_TOKENS=CLIENT))
        services: list[Running] = [first]
        if processes > 1:
            services.append(stack.enter_context(running(SERVICE_DATA_DIR=first.data)))
        ports = [service.port for service in services]
        actor = first.account()
        tokens = {}
        for endpoint, flag in (("flips", "flipped"), ("load", "busy")):
            id, tokens[endpoint] = first.signal_token(endpoint)
            first.flag(flag)
            for to in TO:
                first.action_set(f"{flag} {to}", actor, id, to, flag)
        measure("idle", ports, tokens["flips"], flips)
        requests = [
            post("/api/signal-endpoint/load", json.dumps({"to": to}).encode(), tokens["load"])
            for to in TO
        ]
        for name, some in (("nothing to change", requests[:1]), ("a change each", requests)):
            with paced(ports, some, RATE) as load:
                time.sleep(1)
                measure(f"{RATE} signals/s, {name}", ports, tokens["flips"], flips)
            assert load.stdout is not None
            print(f"  load: {load.stdout.read()}")
    print("target: p50 20 ms, p99 100 ms idle; p99 500 ms under load")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, default=1, choices=(1, 2))
    parser.add_argument("flips", type=int, nargs="?", default=300)
    asked = parser.parse_args()
    main(asked.processes, asked.flips)
