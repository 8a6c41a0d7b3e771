"""A load generator: raw keep-alive connections on 127.0.0.1, one thread, its own process."""

from __future__ import annotations

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


def measure(port: int, request: bytes, connections: int, seconds: float) -> dict[str, float]:
    """Runs `drive` in another process: {rate (requests/s), p50, p99 (ms), errors}."""
    job = {
        "port": port,
        "request": request.decode("latin-1"),
        "connections": connections,
        "seconds": seconds,
    }
    done = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@contextmanager
def paced(ports: list[int], requests: list[bytes], rate: float) -> Iterator[Popen[str]]:
    """Another process sends `rate` requests a second, in turn, while the block runs; what it
    prints at the end is {sent, late (most seconds behind), errors}."""
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


def pace(ports: list[int], requests: list[str], rate: float) -> dict[str, float]:
    """Until stdin ends; sixteen connections share the work."""
    ended, lock, numbers = threading.Event(), threading.Lock(), itertools.count()
    began = time.perf_counter()
    found = {"sent": 0.0, "late": 0.0, "errors": 0.0}

    def send(port: int) -> None:
        with socket.create_connection(("127.0.0.1", port)) as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while not ended.is_set():
                with lock:
                    number = next(numbers)
                wait = began + number / rate - time.perf_counter()
                if wait > 0:
                    time.sleep(wait)
                sock.sendall(requests[number % len(requests)].encode("latin-1"))
                answer = sock.recv(65536)
                with lock:
                    found["sent"] += 1
                    found["late"] = max(found["late"], -wait)
                    found["errors"] += answer[9:12] != b"200"

    threads = [threading.Thread(target=send, args=(ports[n % len(ports)],)) for n in range(16)]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    ended.set()
    for thread in threads:
        thread.join()
    return found


def post(path: str, body: bytes, token: str) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def get(path: str, headers: dict[str, str]) -> bytes:
    lines = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n".encode()


def drive(port: int, request: bytes, connections: int, seconds: float) -> dict[str, float]:
    """Each connection sends its next request when the last one is answered."""
    selector = selectors.DefaultSelector()
    for _ in range(connections):
        sock = socket.create_connection(("127.0.0.1", port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        state: dict[str, Any] = {"data": b"", "sent": time.perf_counter()}
        selector.register(sock, selectors.EVENT_READ, state)
        sock.sendall(request)
    latencies, errors = [], 0
    began = time.perf_counter()
    while (now := time.perf_counter()) < began + seconds:
        for key, _ in selector.select(1):
            state = key.data
            state["data"] += key.fileobj.recv(65536)  # type: ignore[union-attr]
            head, found, body = state["data"].partition(b"\r\n\r\n")
            if not found:
                continue
            if head[9:12] != b"304":
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                if len(body) < length:
                    continue
            now = time.perf_counter()
            latencies.append(now - state["sent"])
            errors += head[9:12] not in (b"200", b"304")
            state["data"], state["sent"] = b"", now
            key.fileobj.sendall(request)  # type: ignore[union-attr]
    latencies.sort()
    return {
        "rate": len(latencies) / (now - began),
        "p50": 1000 * latencies[len(latencies) // 2],
        "p99": 1000 * latencies[len(latencies) * 99 // 100],
        "errors": errors,
    }


if __name__ == "__main__":
    asked = json.loads(sys.stdin.readline())
    if "rate" in asked:
        json.dump(pace(**asked), sys.stdout)
    else:
        asked["request"] = asked["request"].encode("latin-1")
        json.dump(drive(**asked), sys.stdout)
