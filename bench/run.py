"""The speed of the service: each load beside /health, memory, start, flips, waiting signals,
many flags against few.

usage: python bench/run.py [--rounds 5] [--store | --cpu [--store-cpu REASON]] [word …]
--cpu measures only the CPU of each load, as a ratio to that of a bare waitress application in the
same rounds. A load may have 20% more than in cpu.json, to which --store-cpu writes the ratios;
REASON must be a part of CHANGELOG.md.
With words, only the loads and parts (start, flip, queue, growth) whose names contain one of them.
--store writes the ratios of all loads to baseline.json, which later runs are compared with. The
exit status is 1 if a target is missed or a load has errors.
"""

import argparse
import os
import statistics
import sys

from actions import measure_queue
from flips import FLAGS, measure_flips
from generator import NAME
from growth import COUNTS, measure_growth, report_growth
from loads import build_loads, check_loads
from processes import read_resident_mb
from reference import run_reference
from report import Report, store_baseline, store_cpu
from rounds import CONNECTIONS, Figures, Server, find_median_ratio, measure_rounds
from seed import seed_flags
from service import ROOT, run_service
from startup import measure_starts

sys.path.insert(0, ROOT)
from sigservice.version import __version__

WAITING_SIGNALS = 10_000
MAX_IDLE_MB, MAX_LOADED_MB = 60, 100


def report_loads(report: Report, words: list[str], rounds: int) -> dict[str, Figures]:
    """Measures the loads with one of the words in their names, and the memory after them."""
    with run_service() as service:
        seed_flags(service)
        _, signal_token = service.create_signal_token()
        loads = build_loads(service, signal_token)
        check_loads(service, loads)
        loads = [load for load in loads if load.name == "/health" or is_selected(load.name, words)]
        if len(loads) == 1:
            return {}
        print(f"{CONNECTIONS} connections, {rounds} rounds; load generator: {NAME}")
        (figures,) = measure_rounds([Server(service.port, [service.pid], loads)], rounds)
        report.check_loads(loads, figures)
        if not words:
            resident = read_resident_mb(service.pid)
            report.check("memory after the loads", resident, "MB", MAX_LOADED_MB)
        return figures


def report_cpu(report: Report, words: list[str], rounds: int) -> dict[str, float]:
    """Measures the CPU of the selected loads; returns the ratios."""
    with run_service() as service, run_reference() as reference:
        seed_flags(service)
        _, signal_token = service.create_signal_token()
        loads = build_loads(service, signal_token)
        check_loads(service, loads)
        loads = [load for load in loads if is_selected(load.name, words)]
        server = Server(service.port, [service.pid], loads)
        figures, references = measure_rounds([server, reference], rounds)
        rounds_of_references = zip(*(row.cpu_us for row in references.values()), strict=True)
        base = [statistics.median(cpu) for cpu in rounds_of_references]
        ratios = {name: find_median_ratio(row.cpu_us, base) for name, row in figures.items()}
        errors = [name for name, row in figures.items() if row.errors]
        report.check_cpu(ratios, errors)
        return ratios


def report_start(report: Report) -> None:
    first, second, resident = measure_starts(3)
    report.check("start on new data", statistics.median(first), "s", 3)
    report.check("start on used data", statistics.median(second), "s", 1)
    report.check("memory, idle", statistics.median(resident), "MB", MAX_IDLE_MB)


def report_flips(report: Report) -> None:
    for polls, times_ms in measure_flips().items():
        name = f"first poll after a flip, {FLAGS} flags, {polls}"
        report.check(name, statistics.median(times_ms), "ms", 30)


def report_queue(report: Report) -> None:
    (rate,) = measure_queue(WAITING_SIGNALS, 1, ("a change each",)).values()
    report.check(f"{WAITING_SIGNALS} waiting signals, a change each", rate, "1/s", 1500, least=True)


def report_flag_counts(report: Report) -> None:
    few, many = (measure_growth(count) for count in (COUNTS[0], COUNTS[-1]))
    report_growth(report, few, many)


def is_selected(name: str, words: list[str]) -> bool:
    return not words or any(word in name for word in words)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--store-cpu", default="", metavar="REASON")
    parser.add_argument("words", nargs="*", metavar="word")
    arguments = parser.parse_args()
    report = Report()
    print(f"sigservice {__version__}; load of the machine {os.getloadavg()[0]:.1f}")
    if arguments.cpu:
        ratios = report_cpu(report, arguments.words, arguments.rounds)
        if arguments.store_cpu and not arguments.words:
            store_cpu(arguments.store_cpu, ratios)
        return 1 if report.failures else 0
    figures = report_loads(report, arguments.words, arguments.rounds)
    parts = {
        "start": report_start,
        "flip": report_flips,
        "queue": report_queue,
        "growth": report_flag_counts,
    }
    for name, measure in parts.items():
        if is_selected(name, arguments.words):
            measure(report)
    if arguments.store and not arguments.words:
        store_baseline(__version__, figures)
    print(f"load of the machine {os.getloadavg()[0]:.1f}")
    print("missed: " + ", ".join(report.failures) if report.failures else "all targets met")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
