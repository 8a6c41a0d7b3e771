"""A durable signal, compared with a request that only authenticates and parses.

usage: python bench/signals.py [seconds]
Prints rates and latencies at 1, 16 and 64 connections, interleaved, and the ratio at 16.
"""

from __future__ import annotations

import statistics
import sys

from load import build_post, measure_load
from service import run_service

BODY = (
    b'{"type": "deploy", "data": {"service": "checkout", "version": "1.2.3", "labels": ["a", "b"]}}'
)
ROUNDS = 5


def main(seconds: float) -> None:
    with run_service("bench/service_with_baseline.py") as service:
        _, token = service.create_signal_token()
        requests = {
            "parses": build_post("/bench/parses", BODY, token),
            "authenticates and parses": build_post("/bench/authenticates", BODY, token),
            "durable signal": build_post("/api/signal-endpoint/bench", BODY, token),
        }
        for request in requests.values():
            measure_load(service.port, request, 16, 0.5)
        print(f"{'request':26} {'conns':>5} {'req/s':>8} {'p50 ms':>8} {'p99 ms':>8} errors")
        for connections in (1, 16, 64):
            rounds: dict[str, list[dict[str, float]]] = {kind: [] for kind in requests}
            for _ in range(ROUNDS):
                for kind, request in requests.items():
                    rounds[kind].append(measure_load(service.port, request, connections, seconds))
            medians = {}
            for kind, results in rounds.items():
                middle = {
                    name: statistics.median(result[name] for result in results)
                    for name in ("rate", "p50", "p99", "errors")
                }
                medians[kind] = middle["rate"]
                print(
                    f"{kind:26} {connections:5} {middle['rate']:8.0f} {middle['p50']:8.2f} "
                    f"{middle['p99']:8.2f} {middle['errors']:4.0f}"
                )
            durable = medians["durable signal"]
            for kind in ("parses", "authenticates and parses"):
                print(
                    f"  a durable signal costs {medians[kind] / durable:.2f} times one that {kind}"
                )
    print("target: at most 3 times one that authenticates and parses, at 16 connections")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0)
