"""From the 200 of a flag's switch to the end of the next polls, which have the new body."""

import http.client
import time

from seed import PROJECT, seed_plain_flags
from service import CLIENT, Service, run_service

FLAGS = 1000
# Name: encoding, SDKs that poll at the same time.
POLLS = {"identity": ("identity", 1), "gzip": ("gzip", 1), "gzip, 16 SDKs": ("gzip", 16)}
FLIPS = 11


def measure_flips() -> dict[str, list[float]]:
    """Milliseconds by the name of POLLS. The body has FLAGS flags with three strategies each."""
    times_ms: dict[str, list[float]] = {name: [] for name in POLLS}
    with run_service() as service:
        seed_plain_flags(service, FLAGS)
        pollers = [http.client.HTTPConnection("127.0.0.1", service.port) for _ in range(16)]
        etag = poll(pollers, "identity", "")
        for number in range(2 * FLIPS):
            for step, (name, (encoding, count)) in enumerate(POLLS.items()):
                flip(service, is_on=bool((number + step) % 2))
                started_at = time.perf_counter()
                etag = poll(pollers[:count], encoding, etag)
                times_ms[name].append(1000 * (time.perf_counter() - started_at))
        for poller in pollers:
            poller.close()
    return times_ms


def flip(service: Service, *, is_on: bool) -> None:
    state = "on" if is_on else "off"
    service.send(f"{PROJECT}/features/plain-0/environments/development/{state}", {})


def poll(pollers: list[http.client.HTTPConnection], encoding: str, etag: str) -> str:
    """The ETag of the new body. Raises AssertionError if a body is still the one of `etag`."""
    headers = {"Authorization": CLIENT, "If-None-Match": etag, "Accept-Encoding": encoding}
    for poller in pollers:
        poller.request("GET", "/api/client/features", headers=headers)
    for poller in pollers:
        response = poller.getresponse()
        response.read()
        assert response.status == 200
        etag = response.headers["ETag"]
    return etag
