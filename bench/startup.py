"""From start to first response, and resident memory, of the whole process.

usage: python bench/startup.py [runs]
New and warm data directory in turn; targets: 3 s, 1 s, 80 MB.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

from service import ROOT


def measure_start(folder: str) -> tuple[float, float]:
    """(seconds until /ready answers 200, resident MB then)."""
    started_at = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "run.py"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"SERVICE_DATA_DIR": folder},
    )
    assert process.stdout is not None
    port = next(int(line.rsplit(":", 1)[1]) for line in process.stdout if "address" in line)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready") as response:
        assert response.status == 200
    seconds = time.perf_counter() - started_at
    with open(f"/proc/{process.pid}/status") as status:
        resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    process.terminate()
    assert process.wait() == 0
    return seconds, resident / 1024


def main(runs: int) -> None:
    new, warm, memory = [], [], []
    with tempfile.TemporaryDirectory(prefix="sigservice-bench-") as parent:
        os.chmod(parent, 0o711)
        for run in range(runs):
            folder = f"{parent}/data-{run}"
            new.append(measure_start(folder)[0])
            seconds, resident = measure_start(folder)
            warm.append(seconds)
            memory.append(resident)
    for name, figures, unit, target in (
        ("new data directory", new, "s", 3),
        ("warm data directory", warm, "s", 1),
        ("resident memory", memory, "MB", 80),
    ):
        print(
            f"{name:20} median {statistics.median(figures):6.2f} {unit}  "
            f"worst {max(figures):6.2f} {unit}  target {target} {unit}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
