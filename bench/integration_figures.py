"""What integrations promise, on real processes: how much a change slows down, and how soon events
arrive when receivers hang, during a burst of changes, and after a kill.

usage: python bench/integration_figures.py [word …]
With words, only the figures whose names contain one of them. The exit status is 1 if one is missed.
"""

import http.client
import os
import signal
import statistics
import sys
import threading
import time
from collections.abc import Callable

from integrations import fetch_counts, make_changes, run_receivers, send
from service import Service, run_service

FLAGS = "/api/admin/projects/default/features"
SETTINGS = {"SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1"}
CHANGES, ROUNDS = 200, 4
GIVE_UP_SECONDS = 120.0


def create(service: Service, port: int, path: str, *events: str) -> None:
    parameters = {"url": f"http://127.0.0.1:{port}/{path}"}
    body = {"provider": "webhook", "enabled": True, "events": events, "parameters": parameters}
    service.send("/api/admin/addons", body)


def await_requests(port: int, path: str, count: int = 1) -> float:
    """When the receiver had as many."""
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while fetch_counts(port).get(f"/{path}", [0])[0] < count:
        assert time.monotonic() < deadline, path
        time.sleep(0.02)
    return time.monotonic()


def measure_median(service: Service) -> float:
    """Milliseconds of a change, not in a burst."""
    connection, times = http.client.HTTPConnection("127.0.0.1", service.port), []
    for number in range(CHANGES):
        state = "off" if number % 2 else "on"
        started_at = time.monotonic()
        send(connection, "POST", f"{FLAGS}/flag/environments/development/{state}")
        times.append(time.monotonic() - started_at)
        time.sleep(0.06)
    connection.close()
    return statistics.median(times) * 1000


def measure_change() -> tuple[float, float, str]:
    """The median of a change with fifty integrations, one of which wants it and hangs."""
    medians: dict[bool, list[float]] = {False: [], True: []}
    with run_receivers() as port, run_service(**SETTINGS) as without:
        with run_service(**SETTINGS) as service:
            for number in range(50):
                event = "feature-archived" if number else "feature-environment-enabled"
                create(service, port, "hang", event)
            for one in (without, service):
                one.create_flag("flag")
                measure_median(one)
            for _ in range(ROUNDS):
                for one in (without, service):
                    medians[one is service].append(measure_median(one))
    plain, loaded = (statistics.median(medians[key]) for key in (False, True))
    return loaded, 1.3 * plain + 3, f"ms; without integrations {plain:.1f}"


def measure_independence() -> tuple[float, float, str]:
    """The thirteenth integration beside twelve whose receivers hang."""
    with run_receivers() as port, run_service(**SETTINGS) as service:
        for _ in range(12):
            create(service, port, "hang", "feature-created")
        create(service, port, "answers", "feature-created")
        service.create_flag("flag-0")
        await_requests(port, "hang", 12)
        delays = []
        for number in range(1, 11):
            service.create_flag(f"flag-{number}")
            committed_at = time.monotonic()
            delays.append(await_requests(port, "answers", number + 1) - committed_at)
    return max(delays), 3.0, "s, the longest of ten"


def measure_first_attempt() -> tuple[float, float, str]:
    """Events that come now and then, while another client makes changes in a row."""
    is_over = threading.Event()
    with run_receivers() as port, run_service(**SETTINGS) as service:
        service.create_flag("flag")
        for number in range(9):
            create(service, port, f"{number}", "feature-environment-enabled")
        create(service, port, "first", "feature-created")

        def make_burst() -> None:
            while not is_over.is_set():
                make_changes(service, 20)

        thread = threading.Thread(target=make_burst)
        thread.start()
        delays = []
        try:
            for number in range(1, 7):
                time.sleep(1)
                service.create_flag(f"flag-{number}")
                committed_at = time.monotonic()
                delays.append(await_requests(port, "first", number) - committed_at)
        finally:
            is_over.set()
            thread.join()
    return max(delays), 2.0, "s, the longest of six during a burst"


def measure_takeover() -> tuple[float, float, str]:
    """A process is killed while it waits for a receiver: another one sends the event again."""
    with run_receivers() as port, run_service(**SETTINGS) as first:
        create(first, port, "hang", "feature-created")
        first.create_flag("flag")
        await_requests(port, "hang")
        with run_service(**SETTINGS, SERVICE_DATA_DIR=first.data):
            os.kill(first.pid, signal.SIGKILL)
            killed_at = time.monotonic()
            return await_requests(port, "hang", 2) - killed_at, 40.0, "s after the kill"


MEASURES: dict[str, Callable[[], tuple[float, float, str]]] = {
    "change with fifty integrations": measure_change,
    "beside twelve that hang": measure_independence,
    "first attempt": measure_first_attempt,
    "takeover": measure_takeover,
}


def main(words: list[str]) -> bool:
    """Whether the targets are met."""
    is_met = True
    for name, measure in MEASURES.items():
        if not words or any(word in name for word in words):
            value, target, unit = measure()
            print(f"{name:32}{value:8.2f} (target {target:.2f}) {unit}", flush=True)
            is_met = is_met and value <= target
    return is_met


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
