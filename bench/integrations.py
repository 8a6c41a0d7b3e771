"""What ten integrations, one with a receiver that hangs, cost a burst of changes, and how soon they
have sent all of them.

usage: python bench/integrations.py [changes [rounds]]
In each round one client makes the changes in a row twice: while the integrations are disabled, and
while they are enabled. The second time it waits until nine receivers have all events, in order.
The CPU seconds are those of the service and its PostgreSQL: on a busy machine only they say much.
"""

import http.client
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from processes import read_cpu_seconds
from service import TOKEN, Service, run_service

RECEIVERS = 10  # the last one hangs
MAX_RATIO, MAX_DRAIN_SECONDS = 2.0, 10
GIVE_UP_SECONDS = 120
BURST_PAUSE_SECONDS = 2  # then the changes that follow are a burst of their own


def main(changes: int, rounds: int) -> bool:
    """Whether the targets are met."""
    ratios, drains = [], []
    with run_receivers() as port, run_service(SERVICE_WEBHOOK_ALLOWED_HOSTS="127.0.0.1") as service:
        service.create_flag("flag")
        ids = [create_integration(service, port, number) for number in range(RECEIVERS)]
        make_changes(service, 200)
        print(f"{'':10}{'disabled':>9} {'enabled':>9} {'ratio':>6} {'drain':>7}")
        for number in range(1, rounds + 1):
            switch(service, port, ids, enabled=False)
            disabled = measure(service, lambda: make_changes(service, changes))
            switch(service, port, ids, enabled=True)
            enabled = measure(service, lambda: make_changes(service, changes))
            drain = measure(service, lambda count=number * changes: wait_for_all(port, count))
            ratios.append(enabled[0] / disabled[0])
            drains.append(drain[0])
            for label, *row in zip(("seconds", "CPU"), disabled, enabled, drain, strict=True):
                print(
                    f"{label:10}{row[0]:9.2f} {row[1]:9.2f} {row[1] / row[0]:6.2f} {row[2]:7.2f}",
                    flush=True,
                )
    ratio = statistics.median(ratios)
    print(
        f"median ratio {ratio:.2f} (target {MAX_RATIO}), longest drain {max(drains):.1f} s", end=""
    )
    print(f" (target {MAX_DRAIN_SECONDS} s)")
    return ratio <= MAX_RATIO and max(drains) <= MAX_DRAIN_SECONDS


@contextmanager
def run_receivers() -> Iterator[int]:
    command = [sys.executable, "bench/receivers.py"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.terminate()
        process.wait()


def make_body(port: int, number: int, *, enabled: bool) -> dict[str, object]:
    path = "hang" if number == RECEIVERS - 1 else f"{number}"
    return {
        "provider": "webhook",
        "enabled": enabled,
        "events": ["feature-environment-enabled", "feature-environment-disabled"],
        "parameters": {"url": f"http://127.0.0.1:{port}/{path}"},
    }


def create_integration(service: Service, port: int, number: int) -> int:
    return service.send("/api/admin/addons", make_body(port, number, enabled=False))["id"]


def switch(service: Service, port: int, ids: list[int], *, enabled: bool) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    for number, id in enumerate(ids):
        body = make_body(port, number, enabled=enabled)
        send(connection, "PUT", f"/api/admin/addons/{id}", body)
    connection.close()
    time.sleep(BURST_PAUSE_SECONDS)


def measure(service: Service, work: Callable[[], None]) -> tuple[float, float]:
    """Seconds, and CPU seconds of the service and its PostgreSQL."""
    started_at, cpu_before = time.monotonic(), read_cpu_seconds(service.pid)
    work()
    return time.monotonic() - started_at, read_cpu_seconds(service.pid) - cpu_before


def make_changes(service: Service, count: int) -> None:
    """Switches a flag."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    path = "/api/admin/projects/default/features/flag/environments/development"
    for number in range(count):
        send(connection, "POST", f"{path}/{'off' if number % 2 else 'on'}")
    connection.close()


def send(
    connection: http.client.HTTPConnection, method: str, path: str, body: object = None
) -> None:
    headers = {"Authorization": TOKEN, "Content-Type": "application/json"}
    connection.request(method, path, json.dumps(body or {}), headers)
    response = connection.getresponse()
    text = response.read()
    assert response.status == 200, (path, response.status, text)


def wait_for_all(port: int, count: int) -> None:
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while time.monotonic() < deadline:
        received = fetch_counts(port)
        if all(received.get(f"/{number}", [0])[0] >= count for number in range(RECEIVERS - 1)):
            break
        time.sleep(0.1)
    assert all(is_sorted for _, is_sorted in received.values()), received


def fetch_counts(port: int) -> dict[str, list[int]]:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/")
    counts = json.loads(connection.getresponse().read())
    connection.close()
    return counts


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]]
    sys.exit(0 if main(*(numbers + [1000, 3][len(numbers) :])) else 1)
