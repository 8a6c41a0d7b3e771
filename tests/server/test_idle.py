"""What a process does while nobody calls it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from tests.server.process import OPEN_LIMITS, run_service
from tests.waiting import take_time

WINDOW_SECONDS = 10
MAX_WAKES_PER_SECOND = 5


def count_wakes(pid: int) -> int:
    """How often the threads of a process have waited for something, since they started."""
    count = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        with contextlib.suppress(OSError):  # the thread has ended
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
            count += int(fields["voluntary_ctxt_switches"])
    return count


def test_an_idle_process_wakes_at_most_five_times_a_second(data: Path):
    environ = OPEN_LIMITS | {"SERVICE_DATA_DIR": str(data)}
    with run_service(environ) as process:
        take_time(3)  # the first runs of the jobs
        before = count_wakes(process.pid)
        take_time(WINDOW_SECONDS)
        wakes = count_wakes(process.pid) - before
    assert 0 < wakes <= MAX_WAKES_PER_SECOND * WINDOW_SECONDS
