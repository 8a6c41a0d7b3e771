"""Generates load with wrk if it is installed, otherwise with load.py."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from load import measure_load

WRK = shutil.which("wrk")
NAME = f"wrk ({WRK})" if WRK else "load.py, which needs a core itself (install wrk)"


def measure_requests(
    port: int,
    requests: list[bytes],
    connections: int,
    seconds: int,
    number: int,
    delay_ms: int = 0,
) -> dict[str, float]:
    """Sends the requests in turn: {requests, rate (requests/s), p50, p99 (ms), errors}.

    ######### in a request becomes a number with nine digits that rises from `number`.
    With wrk, `delay_ms` pass between a response and the next request of a connection.
    """
    if WRK is None:
        return measure_load(port, requests, connections, seconds, number)
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"\0".join(requests))
        file.flush()
        script = str(Path(__file__).with_name("wrk.lua"))
        address = f"http://127.0.0.1:{port}"
        command = [WRK, "-t1", f"-c{connections}", f"-d{seconds}s", "-s", script, address]
        arguments = [file.name, str(number), *([str(delay_ms)] if delay_ms else [])]
        output = subprocess.run(
            [*command, "--", *arguments], capture_output=True, text=True, check=True
        ).stdout
    result: dict[str, float] = json.loads(output.rsplit("\n", 2)[1])
    return result
