"""A load generator: raw keep-alive connections on 127.0.0.1, one thread, its own process."""

import itertools
import json
import selectors
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import PIPE, Popen
from typing import Any


def measure_load(
    port: int, requests: list[bytes], connections: int, seconds: float, number: int = 0
) -> dict[str, float]:
    """Runs `run_load` in another process: {requests, rate (requests/s), p50, p99 (ms), errors}."""
    job = {
        "port": port,
        "requests": [request.decode("latin-1") for request in requests],
        "connections": connections,
        "seconds": seconds,
        "number": number,
    }
    result = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(result.stdout)


@contextmanager
def run_paced_load(ports: list[int], requests: list[bytes], rate: float) -> Iterator[Popen[str]]:
    """Another process sends `rate` requests per second, in turn, while the block runs. It prints
    {sent, late (maximum delay in seconds), errors} at its end."""
    process = Popen([sys.executable, __file__], stdin=PIPE, stdout=PIPE, text=True)
    assert process.stdin is not None
    texts = [request.decode("latin-1") for request in requests]
    job = {"ports": ports, "requests": texts, "rate": rate}
    process.stdin.write(json.dumps(job) + "\n")
    process.stdin.flush()
    try:
        yield process
    finally:
        process.stdin.close()
        process.wait(30)


def send_paced(ports: list[int], requests: list[str], rate: float) -> dict[str, float]:
    """Sends requests on sixteen connections until stdin ends."""
    stop, lock, numbers = threading.Event(), threading.Lock(), itertools.count()
    started_at = time.perf_counter()
    counts = {"sent": 0.0, "late": 0.0, "errors": 0.0}

    def send(port: int) -> None:
        with socket.create_connection(("127.0.0.1", port)) as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while not stop.is_set():
                with lock:
                    number = next(numbers)
                wait = started_at + number / rate - time.perf_counter()
                if wait > 0:
                    time.sleep(wait)
                sock.sendall(requests[number % len(requests)].encode("latin-1"))
                response = sock.recv(65536)
                with lock:
                    counts["sent"] += 1
                    counts["late"] = max(counts["late"], -wait)
                    counts["errors"] += response[9:12] != b"200"

    threads = [threading.Thread(target=send, args=(ports[n % len(ports)],)) for n in range(16)]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    stop.set()
    for thread in threads:
        thread.join()
    return counts


def build_get(path: str, headers: dict[str, str]) -> bytes:
    lines = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n".encode()


def build_post(path: str, body: bytes, authorization: str) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def run_load(
    port: int, requests: list[str], connections: int, seconds: float, number: int
) -> dict[str, float]:
    """Each connection sends its next request after the response to the last one. Requests are sent
    in turn; ######### in them becomes a number that rises from `number`."""
    numbers = itertools.count(number)
    templates = [request.encode("latin-1") for request in requests]

    def build_next() -> bytes:
        next_number = next(numbers)
        template = templates[next_number % len(templates)]
        return template.replace(b"#########", b"%09d" % next_number)

    selector = selectors.DefaultSelector()
    for _ in range(connections):
        sock = socket.create_connection(("127.0.0.1", port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection: dict[str, Any] = {"data": b"", "sent": time.perf_counter()}
        selector.register(sock, selectors.EVENT_READ, connection)
        sock.sendall(build_next())
    latencies, errors = [], 0
    started_at = time.perf_counter()
    while (now := time.perf_counter()) < started_at + seconds:
        for key, _ in selector.select(1):
            connection = key.data
            connection["data"] += key.fileobj.recv(65536)  # type: ignore[union-attr]
            head, separator, body = connection["data"].partition(b"\r\n\r\n")
            if not separator:
                continue
            if head[9:12] != b"304":
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                if len(body) < length:
                    continue
            now = time.perf_counter()
            latencies.append(now - connection["sent"])
            errors += head[9:12] not in (b"200", b"202", b"304")
            connection["data"], connection["sent"] = b"", now
            key.fileobj.sendall(build_next())  # type: ignore[union-attr]
    latencies.sort()
    return {
        "requests": len(latencies),
        "rate": len(latencies) / (now - started_at),
        "p50": 1000 * latencies[len(latencies) // 2],
        "p99": 1000 * latencies[len(latencies) * 99 // 100],
        "errors": errors,
    }


if __name__ == "__main__":
    job = json.loads(sys.stdin.readline())
    if "rate" in job:
        json.dump(send_paced(**job), sys.stdout)
    else:
        json.dump(run_load(**job), sys.stdout)
