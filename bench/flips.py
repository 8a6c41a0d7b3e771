"""From the 200 of a flag's switch to the end of the next poll, which has the new body."""

import http.client
import time

from seed import PROJECT, seed_plain_flags
from service import CLIENT, Service, run_service

FLAGS = 1000
ENCODINGS = ("identity", "gzip")
FLIPS = 11


def measure_flips() -> dict[str, list[float]]:
    """Milliseconds by encoding. The body has FLAGS flags with three strategies each."""
    times_ms: dict[str, list[float]] = {encoding: [] for encoding in ENCODINGS}
    with run_service() as service:
        seed_plain_flags(service, FLAGS)
        poller = http.client.HTTPConnection("127.0.0.1", service.port)
        etag = poll(poller, "identity", "")
        for number in range(2 * FLIPS):
            encoding = ENCODINGS[number // 2 % 2]
            flip(service, is_on=bool(number % 2))
            started_at = time.perf_counter()
            etag = poll(poller, encoding, etag)
            times_ms[encoding].append(1000 * (time.perf_counter() - started_at))
        poller.close()
    return times_ms


def flip(service: Service, *, is_on: bool) -> None:
    state = "on" if is_on else "off"
    service.send(f"{PROJECT}/features/plain-0/environments/development/{state}", {})


def poll(poller: http.client.HTTPConnection, encoding: str, etag: str) -> str:
    """The ETag of the new body. Raises AssertionError if the body is still the one of `etag`."""
    headers = {"Authorization": CLIENT, "If-None-Match": etag, "Accept-Encoding": encoding}
    poller.request("GET", "/api/client/features", headers=headers)
    response = poller.getresponse()
    response.read()
    assert response.status == 200
    return response.headers["ETag"]
