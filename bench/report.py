"""Prints figures beside their targets and remembers which targets are missed."""

import json
import statistics
from pathlib import Path
from typing import Any

from loads import Load
from rounds import Figures

BASELINE = Path(__file__).with_name("baseline.json")
CPU_FILE = Path(__file__).with_name("cpu.json")
CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"
MAX_DROP = 0.1
MAX_CPU_GROWTH = 0.2
HEADER = (
    f"{'load':16}{'req/s':>7}{'ratio':>7}{'target':>7}{'release':>8}{'change':>7}"
    f"{'p50 ms':>8}{'p99 ms':>8}{'CPU us':>8}{'errors':>7}"
)


def read_baseline() -> dict[str, float]:
    """The ratios to /health of the last release, by load."""
    if not BASELINE.exists():
        return {}
    ratios: dict[str, float] = json.loads(BASELINE.read_text())["ratios"]
    return ratios


class Report:
    """`failures` are the names of missed targets and of loads with errors."""

    def __init__(self) -> None:
        self.failures: list[str] = []

    def check(self, name: str, value: float, unit: str, target: float, *, least: bool = False):
        """Prints a figure; `target` is the most it may be, or the least."""
        missed = value < target if least else value > target
        if missed:
            self.failures.append(name)
        limit = f"at {'least' if least else 'most'} {target:g}"
        print(f"{name:44}{value:9.2f} {unit:5} {limit}{'  MISSED' if missed else ''}", flush=True)

    def check_loads(self, loads: list[Load], figures: dict[str, Figures]) -> None:
        """Prints a row for each load. `ratio` is the rate divided by that of /health."""
        baseline = read_baseline()
        print(HEADER)
        for load in loads:
            row = figures[load.name]
            ratio = row.compare_rates(figures["/health"])
            release = baseline.get(load.name)
            marks = []
            if load.target is not None and ratio < load.target:
                marks.append("MISSED")
            if row.errors:
                marks.append("ERRORS")
            if marks:
                self.failures.append(load.name)
            change = "-"
            if release is not None:
                change = f"{ratio / release - 1:+.0%}"
                marks += ["SLOWER"] if ratio < (1 - MAX_DROP) * release else []
            print(
                f"{load.name:16}{statistics.median(row.rates):7.0f}{ratio:7.2f}"
                f"{format_ratio(load.target):>7}{format_ratio(release):>8}{change:>7}"
                f"{statistics.median(row.p50):8.2f}{statistics.median(row.p99):8.2f}"
                f"{statistics.median(row.cpu_us):8.0f}{row.errors:7} {' '.join(marks)}",
                flush=True,
            )

    def check_cpu(self, ratios: dict[str, float], errors: list[str]) -> None:
        """Prints a row for each load. `ratio` is its CPU divided by that of the reference."""
        baseline = json.loads(CPU_FILE.read_text())["ratios"] if CPU_FILE.exists() else {}
        print(f"{'CPU of a request':20}{'ratio':>7}{'stored':>8}{'change':>8}")
        for name, ratio in ratios.items():
            before = baseline.get(name)
            change = None if before is None else ratio / before - 1
            has_grown = change is not None and change > MAX_CPU_GROWTH
            marks = ["GROWN"] * has_grown + ["ERRORS"] * (name in errors)
            if marks:
                self.failures.append(name)
            text = "-" if change is None else f"{change:+.0%}"
            print(
                f"{name:20}{ratio:7.2f}{format_ratio(before):>8}{text:>8} {' '.join(marks)}",
                flush=True,
            )


def format_ratio(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}"


def store_baseline(version: str, figures: dict[str, Figures]) -> None:
    """Writes the ratios to /health as those of the last release."""
    ratios = {
        name: round(row.compare_rates(figures["/health"]), 3) for name, row in figures.items()
    }
    content: dict[str, Any] = {"version": version, "ratios": ratios}
    BASELINE.write_text(json.dumps(content, indent=2) + "\n")


def store_cpu(reason: str, ratios: dict[str, float]) -> None:
    """Raises SystemExit unless the changelog has the reason."""
    if " ".join(reason.split()) not in " ".join(CHANGELOG.read_text().split()):
        raise SystemExit(f"CHANGELOG.md doesn't have the reason: {reason}")
    rounded = {name: round(ratio, 3) for name, ratio in ratios.items()}
    CPU_FILE.write_text(json.dumps({"reason": reason, "ratios": rounded}, indent=2) + "\n")
