"""The newest page of an endpoint with 10 000 signals and with 1 000 000, interleaved.

usage: python bench/pages.py [requests]
Target: at most 1.5 times.
"""

from __future__ import annotations

import http.client
import statistics
import sys
import time

import psycopg2
from service import TOKEN, Service, run_service

SIZES = (10_000, 1_000_000)
INSERT = """INSERT INTO signals (endpoint_id, token_id, payload, payload_bytes, created_at)
SELECT %s, %s, json_build_object('n', n, 'text', repeat('x', 200)), 230,
       now() - make_interval(secs => %s - n)
FROM generate_series(1, %s) n"""


def insert_signals(socket_dir: str, endpoint: int, count: int) -> None:
    conn = psycopg2.connect(host=socket_dir, user="sigservice", dbname="postgres")
    with conn, conn.cursor() as cursor:
        cursor.execute(INSERT, (endpoint, endpoint, count, count))
    conn.autocommit = True
    with conn.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE signals")
    conn.close()


def measure_page(service: Service, path: str, requests: int) -> list[float]:
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    durations_ms = []
    for _ in range(requests):
        started_at = time.perf_counter()
        connection.request("GET", path, headers={"Authorization": TOKEN})
        assert connection.getresponse().read().count(b'"id"') == 50
        durations_ms.append(1000 * (time.perf_counter() - started_at))
    connection.close()
    return durations_ms


def main(requests: int) -> None:
    with run_service(
        SERVICE_SIGNALS_RETENTION_COUNT="0", SERVICE_SIGNALS_RETENTION_DAYS="0"
    ) as service:
        with open(f"/proc/{service.pid}/environ") as environ:
            data = environ.read().split("SERVICE_DATA_DIR=")[1].split("\0")[0]
        durations_ms: dict[int, list[float]] = {size: [] for size in SIZES}
        paths = {}
        for size in SIZES:
            endpoint, _ = service.create_signal_token(f"e{size}")
            insert_signals(f"{data}/socket", endpoint, size)
            paths[size] = f"/api/admin/signal-endpoints/{endpoint}/signals"
        for _ in range(10):
            for size in SIZES:
                durations_ms[size] += measure_page(service, paths[size], requests // 10)
    small, large = (statistics.median(durations_ms[size]) for size in SIZES)
    print(f"newest 50 of {SIZES[0]:>9}: median {small:.2f} ms")
    print(f"newest 50 of {SIZES[1]:>9}: median {large:.2f} ms")
    print(f"ratio {large / small:.2f}  target at most 1.5")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
