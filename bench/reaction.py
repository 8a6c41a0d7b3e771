"""From the 200 of a signal to the new state of the flag in GET /api/client/features.

usage: python bench/reaction.py [--processes 2] [changes]
Idle, and while 200 signals per second arrive that match other sets: sets that change nothing, and
sets that change a flag each time. With two processes the second one serves the polls and receives
half of the signals.
"""

import argparse
import contextlib
import http.client
import json
import os
import time

from load import build_post, run_paced_load
from service import CLIENT, Service, run_service

RATE = 200
STATES = ("off", "on")


class FlagChanger:
    """Sends signals on one connection and polls on another."""

    def __init__(self, signals: list[int], polls: int, token: str) -> None:
        self._senders = [http.client.HTTPConnection("127.0.0.1", port) for port in signals]
        self._poller = http.client.HTTPConnection("127.0.0.1", polls)
        self._token = token
        self._etag, self._enabled = "", False

    def measure_change(self, number: int) -> float:
        """The duration in seconds."""
        state = STATES[number % 2]
        sender = self._senders[number // 2 % len(self._senders)]
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        sender.request("POST", "/api/signal-endpoint/flips", json.dumps({"to": state}), headers)
        response = sender.getresponse()
        response.read()
        started_at = time.perf_counter()
        assert response.status == 200
        while self._is_on() is not (state == "on"):
            pass
        seconds = time.perf_counter() - started_at
        if seconds > 5:  # the queue grows, and the service closes the idle connection
            sender.close()
        return seconds

    def _is_on(self) -> bool:
        headers = {"Authorization": CLIENT, "If-None-Match": self._etag}
        self._poller.request("GET", "/api/client/features", headers=headers)
        response = self._poller.getresponse()
        data = response.read()
        if response.status == 200:
            self._etag = response.headers["ETag"]
            flags = {flag["name"]: flag["enabled"] for flag in json.loads(data)["features"]}
            self._enabled = flags["flipped"]
        return self._enabled


def measure_changes(name: str, ports: list[int], token: str, changes: int) -> None:
    changer = FlagChanger(ports, ports[-1], token)
    for number in range(10):
        changer.measure_change(number)
    times = sorted(1000 * changer.measure_change(number) for number in range(changes))
    p50, p99 = times[changes // 2], times[changes * 99 // 100]
    load = os.getloadavg()[0]
    print(f"{name:36} p50 {p50:7.1f} ms  p99 {p99:7.1f} ms  max {times[-1]:7.1f}  load {load:.1f}")


def main(processes: int, changes: int) -> None:
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(run_service())
        services: list[Service] = [first]
        if processes > 1:
            services.append(stack.enter_context(run_service(SERVICE_DATA_DIR=first.data)))
        ports = [service.port for service in services]
        actor = first.create_service_account()
        tokens = {}
        for endpoint, flag in (("flips", "flipped"), ("load", "busy")):
            id, tokens[endpoint] = first.create_signal_token(endpoint)
            first.create_flag(flag)
            for state in STATES:
                first.create_action_set(f"{flag} {state}", actor, id, state, flag)
        measure_changes("idle", ports, tokens["flips"], changes)
        requests = [
            build_post(
                "/api/signal-endpoint/load",
                json.dumps({"to": state}).encode(),
                f"Bearer {tokens['load']}",
            )
            for state in STATES
        ]
        for name, load_requests in (
            ("nothing to change", requests[:1]),
            ("a change each", requests),
        ):
            with run_paced_load(ports, load_requests, RATE) as load:
                time.sleep(1)
                measure_changes(f"{RATE} signals/s, {name}", ports, tokens["flips"], changes)
            assert load.stdout is not None
            print(f"  load: {load.stdout.read()}")
    print("target: p50 20 ms, p99 100 ms idle; p99 500 ms under load")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, default=1, choices=(1, 2))
    parser.add_argument("changes", type=int, nargs="?", default=300)
    arguments = parser.parse_args()
    main(arguments.processes, arguments.changes)
