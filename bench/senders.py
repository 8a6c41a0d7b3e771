"""What senders cost: signals with an idempotency key beside plain ones, and a flood of refused
calls beside good signals.

Usage: python bench/senders.py [keys] [refused]
"""

import http.client
import random
import statistics
import sys
import threading
import time

from generator import measure_requests
from load import build_post
from loads import SIGNAL, Load
from report import Report
from rounds import Server, find_median_ratio, measure_rounds
from service import Service, run_service

ROUNDS = 7
FLOOD_CONNECTIONS, FLOOD_DELAY_MS, FLOOD_SECONDS = 60, 10, 8
GOOD_PER_SECOND = 50
FLOOD_ROUNDS = 3
MAX_FLOOD_ROWS = 110  # of one endpoint, and the row of further callers
NO_FAILURE_LIMIT = {"FAILED_AUTH_LIMIT_PER_MINUTE": "1000000"}


def main(parts: list[str]) -> int:
    report = Report()
    if not parts or "keys" in parts:
        with run_service() as service:
            measure_keys(service, report)
    if not parts or "refused" in parts:
        with run_service() as service:
            measure_refused(service, report, "the limit of failures per address")
        with run_service(**NO_FAILURE_LIMIT) as service:
            measure_refused(service, report, "each call authenticated")
    return 1 if report.failures else 0


def measure_keys(service: Service, report: Report) -> None:
    _, token = service.create_signal_token()
    path, bearer = "/api/signal-endpoint/bench", f"Bearer {token}"
    plain = build_post(path, SIGNAL, bearer)
    header = b"\r\nIdempotency-Key: delivery-#########\r\nContent-Length"
    keyed = plain.replace(b"\r\nContent-Length", header, 1)
    assert keyed != plain
    loads = [
        Load("/health", [b"GET /health HTTP/1.1\r\nHost: bench\r\n\r\n"], 200, None, None),
        Load("plain", [plain], 200, None, None),
        Load("keyed", [keyed], 200, None, None),
    ]
    (figures,) = measure_rounds([Server(service.port, [service.pid], loads)], ROUNDS)
    time_ratio = find_median_ratio(figures["plain"].rates, figures["keyed"].rates)
    cpu_ratio = find_median_ratio(figures["keyed"].cpu_us, figures["plain"].cpu_us)
    report.check("signal with a key, time of a plain one", time_ratio, "", 1.15)
    report.check("signal with a key, CPU of a plain one", cpu_ratio, "", 1.15)


def measure_refused(service: Service, report: Report, kind: str) -> None:
    """The p99 of good signals alone and beside the flood, in turns."""
    id, token = service.create_signal_token()
    path = "/api/signal-endpoint/bench"
    flood = build_post(path, SIGNAL, "Bearer signal_wrong-#########")
    quiet, flooded, rates = [], [], []
    for _ in range(FLOOD_ROUNDS):
        quiet.append(measure_good_signals(service, path, token))
        result: dict[str, float] = {}
        thread = threading.Thread(target=send_flood, args=(service.port, flood, result))
        thread.start()
        time.sleep(1)
        flooded.append(measure_good_signals(service, path, token))
        thread.join()
        rates.append(result["rate"])
    time.sleep(6)  # the job writes every 5 s
    rows = len(service.send(f"/api/admin/signal-endpoints/{id}/refused-calls")["refusedCalls"])
    print(f"refused calls, {kind}: {statistics.median(rates):.0f}/s")
    alone, with_flood = statistics.median(quiet), statistics.median(flooded)
    print(f"good signals, p99: {alone:.1f} ms alone, {with_flood:.1f} ms beside")
    report.check("rows of refused calls", rows, "", MAX_FLOOD_ROWS)
    report.check("p99 of good signals beside them", find_median_ratio(flooded, quiet), "", 1.2)


def send_flood(port: int, request: bytes, result: dict[str, float]) -> None:
    number = random.randrange(900_000_000)
    result |= measure_requests(
        port, [request], FLOOD_CONNECTIONS, FLOOD_SECONDS, number, delay_ms=FLOOD_DELAY_MS
    )


def measure_good_signals(service: Service, path: str, token: str) -> float:
    """The p99 in milliseconds of signals that are sent at a steady rate."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    times, begin = [], time.monotonic()
    for n in range(GOOD_PER_SECOND * (FLOOD_SECONDS - 2)):
        time.sleep(max(0.0, begin + n / GOOD_PER_SECOND - time.monotonic()))
        sent_at = time.monotonic()
        connection.request("POST", path, SIGNAL, headers)
        response = connection.getresponse()
        response.read()
        assert response.status == 200, response.status
        times.append(time.monotonic() - sent_at)
    connection.close()
    return 1000 * statistics.quantiles(times, n=100)[98]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
