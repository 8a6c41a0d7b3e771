"""From start to the first response of /ready, on a new and on a used data directory."""

import os
import tempfile
import time
import urllib.request

from processes import read_resident_mb
from seed import seed_flags
from service import run_service


def measure_starts(runs: int) -> tuple[list[float], list[float], list[float]]:
    """Seconds on new data, seconds on used data (100 flags), resident MB after the second start."""
    first, second, resident = [], [], []
    with tempfile.TemporaryDirectory(prefix="sigservice-bench-") as parent:
        os.chmod(parent, 0o711)  # for root, whose PostgreSQL runs as another account
        for run in range(runs):
            for seconds in (first, second):
                started_at = time.perf_counter()
                with run_service(SERVICE_DATA_DIR=f"{parent}/data-{run}") as service:
                    ready = f"http://127.0.0.1:{service.port}/ready"
                    with urllib.request.urlopen(ready) as response:
                        assert response.status == 200
                    seconds.append(time.perf_counter() - started_at)
                    if seconds is first:
                        seed_flags(service)
                    else:
                        resident.append(read_resident_mb(service.pid))
    return first, second, resident
