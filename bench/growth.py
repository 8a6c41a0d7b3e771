"""What a change costs with 100 to 10 000 flags of three strategies each.

usage: python bench/growth.py [COUNT …]
"""

import contextlib
import http.client
import statistics
import sys
import threading
import time
from collections.abc import Callable

from flips import flip, poll
from processes import read_cpu_seconds, read_resident_mb
from report import Report
from seed import seed_plain_flags
from service import FRONTEND, Service, run_service
from streaming import STREAMS, Lines, find_p99, open_streams, send_signal

COUNTS = (100, 1000, 5000, 10_000)
CHANGES, ROUNDS, SIGNALS, RATE, CHANGE_RATE = 40, 15, 500, 100, 5
# Figure: unit, and how many times that of COUNTS[0] it may be with COUNTS[-1] flags. The memory has
# a limit of its own.
LIMITS: dict[str, tuple[str, float | None]] = {
    "switch": ("ms", 1.3),
    "first poll, plain": ("ms", 3),
    "first poll, gzip": ("ms", 4),
    "16 first polls, gzip": ("ms", None),
    f"last of {STREAMS} streams": ("ms", 1.3),
    "frontend evaluation": ("ms", None),
    "CPU of a change": ("ms", 1.3),
    "p99 of signals": ("ms", 1.5),
    "memory": ("MB", None),
}
MAX_MB = 150
Figures = dict[str, float]


class Flips:
    """Switches one flag on and off."""

    def __init__(self, service: Service) -> None:
        self._service, self._is_on = service, False

    def measure(self, follow: Callable[[], object] | None = None) -> tuple[float, float]:
        """Milliseconds of a switch, and from its end to that of `follow`."""
        self._is_on = not self._is_on
        began_at = time.perf_counter()
        flip(self._service, is_on=self._is_on)
        changed_at = time.perf_counter()
        if follow is not None:
            follow()
        return 1000 * (changed_at - began_at), 1000 * (time.perf_counter() - changed_at)

    def measure_median(self, follow: Callable[[], object]) -> float:
        return statistics.median([self.measure(follow)[1] for _ in range(ROUNDS)])


def measure_growth(count: int) -> Figures:
    """The figures by name, with this number of flags."""
    with run_service() as service, contextlib.ExitStack() as stack:
        seed_plain_flags(service, count)
        _, token = service.create_signal_token("flips")
        flips = Flips(service)
        connect = lambda: http.client.HTTPConnection("127.0.0.1", service.port)  # noqa: E731
        pollers = [stack.enter_context(contextlib.closing(connect())) for _ in range(16)]
        figures = _measure_changes(service, flips)
        figures |= _measure_polls(flips, pollers)
        figures["frontend evaluation"] = _measure_evaluation(flips, pollers[0])
        with open_streams(service, STREAMS) as readers:
            readers.wait_for("open")
            figures[f"last of {STREAMS} streams"] = _measure_streams(service, flips, readers)
        figures["p99 of signals"] = _measure_signals(flips, pollers[0], token)
        figures["memory"] = read_resident_mb(service.pid)
        return figures


def _measure_changes(service: Service, flips: Flips) -> Figures:
    for _ in range(ROUNDS):
        flips.measure()
    cpu_seconds = read_cpu_seconds(service.pid)
    switch_ms = statistics.median([flips.measure()[0] for _ in range(CHANGES)])
    cpu_ms = 1000 * (read_cpu_seconds(service.pid) - cpu_seconds) / CHANGES
    return {"switch": switch_ms, "CPU of a change": cpu_ms}


def _measure_polls(flips: Flips, pollers: list[http.client.HTTPConnection]) -> Figures:
    figures = {}
    for name, encoding, clients in (
        ("first poll, plain", "identity", pollers[:1]),
        ("first poll, gzip", "gzip", pollers[:1]),
        ("16 first polls, gzip", "gzip", pollers),
    ):
        poll(clients, encoding, "")
        figures[name] = flips.measure_median(
            lambda clients=clients, encoding=encoding: poll(clients, encoding, "")
        )
    return figures


def _measure_evaluation(flips: Flips, client: http.client.HTTPConnection) -> float:
    def evaluate() -> None:
        client.request("GET", "/api/frontend?userId=7", headers={"Authorization": FRONTEND})
        response = client.getresponse()
        response.read()
        assert response.status == 200

    evaluate()
    return flips.measure_median(evaluate)


def _measure_streams(service: Service, flips: Flips, readers: Lines) -> float:
    times_ms = []
    for _ in range(ROUNDS):
        began_at = time.time()
        flips.measure()
        _, _, last = readers.next()[1].split()
        times_ms.append(1000 * (float(last) - began_at))
    return statistics.median(times_ms)


def _measure_signals(flips: Flips, client: http.client.HTTPConnection, token: str) -> float:
    """The 99th percentile of RATE signals a second beside CHANGE_RATE changes."""
    stop = threading.Event()

    def change() -> None:
        while not stop.wait(1 / CHANGE_RATE):
            flips.measure()

    thread = threading.Thread(target=change)
    thread.start()
    times = []
    began_at = time.perf_counter()
    for number in range(SIGNALS):
        time.sleep(max(0.0, began_at + number / RATE - time.perf_counter()))
        started_at = time.perf_counter()
        send_signal(client, token, "none")
        times.append(time.perf_counter() - started_at)
    stop.set()
    thread.join()
    return 1000 * find_p99(times)


def report_growth(report: Report, few: Figures, many: Figures) -> None:
    """Checks the ratios of the figures with many flags to those with few, and the memory."""
    for name, (_, limit) in LIMITS.items():
        if limit is not None:
            report.check(
                f"{name}, ratio with {COUNTS[-1]} flags", many[name] / few[name], "", limit
            )
    report.check(f"memory with {COUNTS[-1]} flags", many["memory"], "MB", MAX_MB)


def main() -> int:
    counts = [int(text) for text in sys.argv[1:]] or COUNTS
    print(f"{'flags':>6}" + "".join(f"{name:>24}" for name in LIMITS))
    figures = {}
    for count in counts:
        figures[count] = measure_growth(count)
        cells = (f"{figures[count][name]:.1f} {unit}" for name, (unit, _) in LIMITS.items())
        print(f"{count:>6}" + "".join(f"{cell:>24}" for cell in cells), flush=True)
    report = Report()
    if {COUNTS[0], COUNTS[-1]} <= figures.keys():
        report_growth(report, figures[COUNTS[0]], figures[COUNTS[-1]])
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
