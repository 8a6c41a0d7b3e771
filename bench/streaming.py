"""From a signal to the changed answer of a running program that streams, and what streams cost.

usage: python bench/streaming.py [reaction] [rollback] [fan-out] [changes]
`reaction` and `rollback` need Node.js with `npm install --prefix tests/sdk`.
"""

import contextlib
import http.client
import json
import queue
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from load import build_post, run_paced_load
from processes import read_resident_mb
from seed import seed_flags
from service import CLIENT, ROOT, Service, run_service

STREAMS, MANY_STREAMS, RATE, ROUNDS = 500, 2000, 200, 5
PROGRAMS = {
    "Node": ["node", f"{ROOT}/bench/flag_program.cjs"],
    "Python": [sys.executable, f"{ROOT}/bench/flag_program.py"],
}
STATES = ("off", "on")
RELEASED = "/api/admin/projects/default/features/released/environments/development"


class Lines:
    """The lines that a process prints, with the time of their arrival (time.perf_counter)."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._queue: queue.SimpleQueue[tuple[float, str]] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._queue.put((time.perf_counter(), line.strip()))

    def next(self, seconds: float = 60) -> tuple[float, str]:
        return self._queue.get(timeout=seconds)

    def wait_for(self, text: str) -> float:
        while (pair := self.next())[1] != text:
            pass
        return pair[0]


@contextlib.contextmanager
def run_program(command: list[str]) -> Iterator[Lines]:
    lines = Lines(command)
    try:
        yield lines
    finally:
        lines.process.kill()
        lines.process.wait()


def open_streams(service: Service, count: int) -> contextlib.AbstractContextManager[Lines]:
    script = f"{ROOT}/bench/stream_readers.py"
    return run_program([sys.executable, script, str(service.port), CLIENT, str(count)])


def describe(times: list[float]) -> str:
    times = sorted(1000 * seconds for seconds in times)
    p50, p99 = times[len(times) // 2], times[len(times) * 99 // 100]
    return f"p50 {p50:6.1f} ms  p99 {p99:6.1f} ms  max {times[-1]:6.1f} ms"


def find_p99(times: list[float]) -> float:
    return sorted(times)[len(times) * 99 // 100]


def send_signal(conn: http.client.HTTPConnection, token: str, state: str) -> None:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    conn.request(
        "POST", "/api/signal-endpoint/flips", json.dumps({"to": state, "key": "flips"}), headers
    )
    response = conn.getresponse()
    response.read()
    assert response.status == 200


def measure_programs(
    name: str, service: Service, programs: dict[str, Lines], token: str, changes: int
) -> None:
    conn = http.client.HTTPConnection("127.0.0.1", service.port)
    times: dict[str, list[float]] = {program: [] for program in programs}
    for number in range(-10, changes):
        state = STATES[number % 2]
        started_at = time.perf_counter()
        send_signal(conn, token, state)
        for program, lines in programs.items():
            seconds = lines.wait_for(state) - started_at
            if number >= 0:
                times[program].append(seconds)
        time.sleep(0.02)
    for program in programs:
        print(f"{name:42} {program:7} {describe(times[program])}", flush=True)


def measure_reaction(changes: int) -> None:
    with contextlib.ExitStack() as stack:
        service = stack.enter_context(run_service())
        seed_flags(service)
        service.create_flag("flipped")
        id, token = service.create_signal_token("flips")
        _, load_token = service.create_signal_token("load")
        actor = service.create_service_account()
        for state in STATES:
            service.create_action_set(state, actor, id, state, "flipped")
        url = f"http://127.0.0.1:{service.port}"
        programs = {
            name: stack.enter_context(run_program([*command, url, CLIENT, "flipped"]))
            for name, command in PROGRAMS.items()
        }
        for lines in programs.values():
            lines.wait_for("off")
        time.sleep(1)
        conn = http.client.HTTPConnection("127.0.0.1", service.port)
        send_signal(conn, token, "on")
        for lines in programs.values():
            lines.wait_for("on")
        measure_programs("idle", service, programs, token, changes)
        stack.enter_context(open_streams(service, STREAMS)).wait_for("open")
        measure_programs(f"beside {STREAMS} streams", service, programs, token, changes)
        request = build_post("/api/signal-endpoint/load", b"{}", f"Bearer {load_token}")
        with run_paced_load([service.port], [request], RATE) as load:
            time.sleep(1)
            name = f"beside {STREAMS} streams, {RATE} signals/s"
            measure_programs(name, service, programs, token, changes)
        assert load.stdout is not None
        print(f"  load: {load.stdout.read()}", end="")
    print("target: p50 40 ms, p99 100 ms idle; p99 250 ms beside streams and signals")


def measure_rollbacks(changes: int) -> None:
    """From an alert until the guard of a release has rolled it back in running programs."""
    with contextlib.ExitStack() as stack:
        service = stack.enter_context(run_service())
        seed_flags(service)
        service.create_flag("released")
        strategy = {"name": "flexibleRollout", "parameters": {"rollout": 0}}
        service.send(f"{RELEASED}/strategies", strategy)
        service.send(f"{RELEASED}/on", {})
        id, token = service.create_signal_token("flips")
        guard = {
            "kind": "signal",
            "endpointId": id,
            "effect": "rollBack",
            "filters": [{"path": "to", "operator": "IN", "values": ["off"]}],
            "resolved": {"path": "to", "values": ["on"], "key": "key"},
        }
        url = f"http://127.0.0.1:{service.port}"
        programs = {
            name: stack.enter_context(run_program([*command, url, CLIENT, "released"]))
            for name, command in PROGRAMS.items()
        }
        for lines in programs.values():
            lines.wait_for("off")
        time.sleep(1)
        measure_rollbacks_of("rollback, idle", service, programs, token, guard, changes)
        stack.enter_context(open_streams(service, STREAMS)).wait_for("open")
        _, load_token = service.create_signal_token("load")
        request = build_post("/api/signal-endpoint/load", b"{}", f"Bearer {load_token}")
        with run_paced_load([service.port], [request], RATE):
            time.sleep(1)
            name = f"rollback, beside {STREAMS} streams, {RATE} signals/s"
            measure_rollbacks_of(name, service, programs, token, guard, changes)
    print("target: p50 40 ms, p99 100 ms idle; p99 250 ms beside streams and signals")


def measure_rollbacks_of(
    name: str,
    service: Service,
    programs: dict[str, Lines],
    token: str,
    guard: dict[str, Any],
    changes: int,
) -> None:
    conn = http.client.HTTPConnection("127.0.0.1", service.port)
    times: dict[str, list[float]] = {program: [] for program in programs}
    for number in range(-10, changes):
        service.send(f"{RELEASED}/releases", {"steps": [{"rollout": 100}], "guards": [guard]})
        for lines in programs.values():
            lines.wait_for("on")
        started_at = time.perf_counter()
        send_signal(conn, token, "off")
        for program, lines in programs.items():
            seconds = lines.wait_for("off") - started_at
            if number >= 0:
                times[program].append(seconds)
        send_signal(conn, token, "on")  # the alert is resolved
        time.sleep(0.02)
    for program in programs:
        print(f"{name:42} {program:7} {describe(times[program])}", flush=True)


def measure_signals(service: Service, token: str, count: int = 2000) -> list[float]:
    """Round trips of signals, RATE per second."""
    conn = http.client.HTTPConnection("127.0.0.1", service.port)
    times = []
    began_at = time.perf_counter()
    for number in range(count):
        time.sleep(max(0.0, began_at + number / RATE - time.perf_counter()))
        started_at = time.perf_counter()
        send_signal(conn, token, "none")
        times.append(time.perf_counter() - started_at)
    return times


def count_threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def measure_flips(service: Service, readers: Lines, count: int = 20) -> list[tuple[float, float]]:
    """(seconds to the first, to the last stream) from the request of each change."""
    results = []
    path = "/api/admin/projects/default/features/flipped/environments/development"
    for number in range(count):
        started_at = time.time()
        service.send(f"{path}/{STATES[number % 2 == 0]}", {})
        _, first, last = readers.next()[1].split()
        results.append((float(first) - started_at, float(last) - started_at))
        time.sleep(0.1)
    return results


def measure_fan_out() -> None:
    with run_service() as service:
        seed_flags(service)
        service.create_flag("flipped")
        _, token = service.create_signal_token("flips")
        measure_signals(service, token, 200)
        with open_streams(service, 1) as readers:  # starts the thread of streams
            readers.wait_for("open")
        memory, threads = read_resident_mb(service.pid), count_threads(service.pid)
        for count in (STREAMS, MANY_STREAMS):
            with open_streams(service, count) as readers:
                readers.wait_for("open")
                flips = measure_flips(service, readers)
                more = read_resident_mb(service.pid) - memory
                more_threads = count_threads(service.pid) - threads
                print(
                    f"{count} streams: {more:+.1f} MB, {more_threads:+d} threads; a flip "
                    f"reaches the last one: {describe([last for _, last in flips])}",
                    flush=True,
                )
            time.sleep(2)
        plain, parked = [], []
        for _ in range(ROUNDS):
            plain.append(find_p99(measure_signals(service, token)))
            with open_streams(service, STREAMS) as readers:
                readers.wait_for("open")
                time.sleep(1)
                parked.append(find_p99(measure_signals(service, token)))
            time.sleep(1)
        ratio = statistics.median(b / a for a, b in zip(plain, parked, strict=True))
        print(
            f"p99 of signals, median of {ROUNDS} rounds: {1000 * statistics.median(plain):.1f} ms "
            f"alone, {1000 * statistics.median(parked):.1f} ms beside {STREAMS} streams, "
            f"ratio {ratio:.2f}"
        )
    print(f"target: {STREAMS} streams: 50 MB, no thread, all within 300 ms, signal p99 +10%")


if __name__ == "__main__":
    words = sys.argv[1:]
    changes = next((int(word) for word in words if word.isdigit()), 300)
    parts = [word for word in words if not word.isdigit()] or ["reaction", "rollback", "fan-out"]
    if "reaction" in parts:
        measure_reaction(changes)
    if "rollback" in parts:
        measure_rollbacks(changes)
    if "fan-out" in parts:
        measure_fan_out()
