"""From start to answering, and resident memory, of the whole process.

usage: python bench/startup.py [runs]
New and warm data folder in turn; targets: 3 s, 1 s, 80 MB.
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


def start(folder: str) -> tuple[float, float]:
    """(seconds until /ready answers 200, resident MB then)."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "run.py"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"SERVICE_DATA_DIR": folder},
    )
    assert process.stdout is not None
    port = next(int(line.rsplit(":", 1)[1]) for line in process.stdout if "address" in line)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready") as answer:
        assert answer.status == 200
    seconds = time.perf_counter() - began
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
            new.append(start(folder)[0])
            seconds, resident = start(folder)
            warm.append(seconds)
            memory.append(resident)
    for name, figures, unit, target in (
        ("new data folder", new, "s", 3),
        ("warm data folder", warm, "s", 1),
        ("resident memory", memory, "MB", 80),
    ):
        print(
            f"{name:18} median {statistics.median(figures):6.2f} {unit}  "
            f"worst {max(figures):6.2f} {unit}  target {target} {unit}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
