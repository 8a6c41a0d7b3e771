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
from service import TOKEN, Running, running

SIZES = (10_000, 1_000_000)
FILL = """INSERT INTO signals (endpoint_id, token_id, payload, payload_bytes, created_at)
SELECT %s, %s, json_build_object('n', n, 'text', repeat('x', 200)), 230,
       now() - make_interval(secs => %s - n)
FROM generate_series(1, %s) n"""


def fill(socket_dir: str, endpoint: int, count: int) -> None:
    conn = psycopg2.connect(host=socket_dir, user="sigservice", dbname="postgres")
    with conn, conn.cursor() as cursor:
        cursor.execute(FILL, (endpoint, endpoint, count, count))
    conn.autocommit = True
    with conn.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE signals")
    conn.close()


def times(service: Running, path: str, requests: int) -> list[float]:
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    found = []
    for _ in range(requests):
        began = time.perf_counter()
        connection.request("GET", path, headers={"Authorization": TOKEN})
        assert connection.getresponse().read().count(b'"id"') == 50
        found.append(1000 * (time.perf_counter() - began))
    connection.close()
    return found


def main(requests: int) -> None:
    with running(
        SERVICE_SIGNALS_RETENTION_COUNT="0", SERVICE_SIGNALS_RETENTION_DAYS="0"
    ) as service:
        with open(f"/proc/{service.pid}/environ") as environ:
            data = environ.read().split("SERVICE_DATA_DIR=")[1].split("\0")[0]
        found: dict[int, list[float]] = {size: [] for size in SIZES}
        paths = {}
        for size in SIZES:
            endpoint, _ = service.signal_token(f"e{size}")
            fill(f"{data}/socket", endpoint, size)
            paths[size] = f"/api/admin/signal-endpoints/{endpoint}/signals"
        for _ in range(10):
            for size in SIZES:
                found[size] += times(service, paths[size], requests // 10)
    small, large = (statistics.median(found[size]) for size in SIZES)
    print(f"newest 50 of {SIZES[0]:>9}: median {small:.2f} ms")
    print(f"newest 50 of {SIZES[1]:>9}: median {large:.2f} ms")
    print(f"ratio {large / small:.2f}  target at most 1.5")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
