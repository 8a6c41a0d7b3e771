"""List pages of a large and of a small service: HTML and admin API, newest, deep by key, filters.

usage: python bench/lists.py [--requests 25] [word …]
Large: 1 000 000 signals, 1 000 000 events, 100 000 runs, 5 000 flags; small: a hundredth.
Target: a page of the large one takes at most 1.5 times as long. With words, only the pages whose
addresses contain one of them. Needs 2 GB of disk.
"""

import argparse
import contextlib
import http.client
import json
import os
import statistics
import sys
import time
from dataclasses import dataclass
from typing import Any

from list_rows import LARGE, SMALL, fill
from service import Service, run_service

MAX_RATIO = 1.5
PASSWORD = "a password of the bench"
SETTINGS = {
    "SERVICE_SIGNALS_RETENTION_COUNT": "0",
    "SERVICE_SIGNALS_RETENTION_DAYS": "0",
    "SERVICE_DEFAULT_ADMIN_USERNAME": "bench",
    "SERVICE_DEFAULT_ADMIN_PASSWORD": PASSWORD,
    # Each service does nothing else while its pages are measured.
    "CHECK_VERSION": "false",
}
PAGES = (
    "/",
    "/admin/signals",
    "/admin/signals/{endpoint}/log",
    "/admin/signals/{endpoint}/log?before={signals}",
    "/admin/signals/{endpoint}/log?token={token}",
    "/admin/signals/{endpoint}/log?query=xx",
    "/admin/signals/{endpoint}/log?query=missing",
    "/admin/events",
    "/admin/events?before={events}",
    "/admin/events?type=feature-created",
    "/admin/events?feature=flag-00007",
    "/admin/events?query=missing",
    "/admin/projects",
    "/admin/actions",
    "/admin/projects/default/actions",
    "/admin/projects/default/actions/{set}/runs",
    "/admin/projects/default/actions/{set}/runs?before={action_runs}",
    "/admin/features",
    "/admin/features?offset={middle}",
    "/admin/features?query=flag-00",
    "/admin/features?query=missing",
    "/admin/features?type=release",
    "/admin/features?tag=simple:team-a",
    "/admin/features?state=on:development",
    "/admin/features?life=stale",
    "/admin/features?life=archived",
    "/api/admin/signals?limit=50",
    "/api/admin/signals?limit=50&before={signals}",
    "/api/admin/signals?limit=50&from=IS:{today}",
    "/api/admin/signal-endpoints",
    "/api/admin/signal-endpoints/{endpoint}/signals",
    "/api/admin/signal-endpoints/{endpoint}/signals?before={signals}",
    "/api/admin/signal-endpoints/{endpoint}/signals?tokenId={token}",
    "/api/admin/signal-endpoints/{endpoint}/signals?query=xx",
    "/api/admin/signal-endpoints/{endpoint}/signals?query=missing",
    "/api/admin/events",
    "/api/admin/events?before={events}",
    "/api/admin/events?type=feature-created",
    "/api/admin/events?project=default",
    "/api/admin/events/flag-00007",
    "/api/admin/search/events?type=IS:feature-created",
    "/api/admin/search/events?feature=IS:flag-00007",
    "/api/admin/search/events?createdBy=IS:bench",
    "/api/admin/search/events?from=IS:{today}",
    "/api/admin/search/events?query=yy",
    "/api/admin/search/events?query=missing",
    "/api/admin/projects/default/actions",
    "/api/admin/projects/default/actions/{set}/events",
    "/api/admin/projects/default/actions/{set}/events?before={action_runs}",
    "/api/admin/projects",
    "/api/admin/search/features",
    "/api/admin/search/features?offset={middle}",
    "/api/admin/search/features?query=flag-00",
    "/api/admin/search/features?query=missing",
    "/api/admin/search/features?state=IS:stale",
    "/api/admin/search/features?tag=INCLUDE:simple:team-a",
    "/api/admin/search/features?status=development:enabled",
    "/api/admin/search/features?sortBy=createdAt&sortOrder=desc",
)


@dataclass
class Client:
    """One signed-in user; `values` are those of the addresses."""

    connection: http.client.HTTPConnection
    headers: dict[str, str]
    values: dict[str, Any]

    def measure_page(self, page: str) -> float:
        """Milliseconds."""
        started_at = time.perf_counter()
        self.connection.request("GET", page.format_map(self.values), headers=self.headers)
        response = self.connection.getresponse()
        body = response.read()
        duration_ms = 1000 * (time.perf_counter() - started_at)
        assert response.status == 200, f"{page}: {response.status} {body[:300]!r}"
        return duration_ms


def sign_in(service: Service, values: dict[str, Any]) -> Client:
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    body = json.dumps({"username": "bench", "password": PASSWORD})
    connection.request("POST", "/auth/simple/login", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    text = response.read()
    assert response.status == 200, text
    return Client(connection, {"Cookie": response.headers["Set-Cookie"].split(";")[0]}, values)


def main(requests: int, words: list[str]) -> int:
    missed = []
    with contextlib.ExitStack() as stack:
        services = [stack.enter_context(run_service(**SETTINGS)) for _ in (SMALL, LARGE)]
        values = [fill(*pair) for pair in zip(services, (SMALL, LARGE), strict=True)]
        clients = [sign_in(*pair) for pair in zip(services, values, strict=True)]
        print(f"load of the machine {os.getloadavg()[0]:.1f}")
        print(f"{'small ms':>8} {'large ms':>8} {'ratio':>6}  page")
        for page in PAGES:
            if words and not any(word in page for word in words):
                continue
            times_ms: list[list[float]] = [[], []]
            for number in range(-2, requests):
                for client, series in zip(clients, times_ms, strict=True):
                    duration_ms = client.measure_page(page)
                    if number >= 0:
                        series.append(duration_ms)
            # Other work on the machine only adds time: the fastest quarter says most.
            small, large = (statistics.quantiles(series)[0] for series in times_ms)
            is_missed = large > MAX_RATIO * small
            missed += [page] if is_missed else []
            mark = "  MISSED" if is_missed else ""
            print(f"{small:8.2f} {large:8.2f} {large / small:6.2f}  {page}{mark}", flush=True)
    print(f"missed (at most {MAX_RATIO}): {len(missed)}" if missed else "all targets met")
    return 1 if missed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=25)
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    sys.exit(main(arguments.requests, arguments.words))
