"""A fixed load to compare with on any machine: waitress with an application that answers 200 bytes.

This module is also the program of that server: it prints its port.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from load import build_get
from loads import Load
from rounds import Server

# Each round measures the load as often, among the other loads, and counts the median.
NAMES = ("reference 1", "reference 2", "reference 3", "reference 4")
BODY = b"x" * 200


@contextmanager
def run_reference() -> Iterator[Server]:
    process = subprocess.Popen(
        [sys.executable, __file__], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        loads = [Load(name, [build_get("/", {})], 200, None, None) for name in NAMES]
        yield Server(port, [process.pid], loads)
    finally:
        process.kill()
        process.wait()


def answer(environ, start_response):
    start_response("200 OK", [("Content-Length", str(len(BODY)))])
    return [BODY]


if __name__ == "__main__":
    import waitress

    server = waitress.create_server(answer, host="127.0.0.1", port=0)
    print(server.effective_port, flush=True)
    server.run()
