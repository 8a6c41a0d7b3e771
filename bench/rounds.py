"""Measures loads in interleaved rounds and compares each with /health of its own round."""

import random
import statistics
import time
from dataclasses import dataclass, field

from generator import measure_requests
from loads import Load
from processes import read_cpu_seconds

CONNECTIONS = 16
SECONDS = 1
# The generator ends with a request on each connection; the next load starts after their responses.
PAUSE_SECONDS = 0.25


@dataclass
class Server:
    port: int
    pids: list[int]  # of its processes, whose descendants count too
    loads: list[Load]


@dataclass
class Figures:
    """One load: a number for each round."""

    rates: list[float] = field(default_factory=list)
    p50: list[float] = field(default_factory=list)
    p99: list[float] = field(default_factory=list)
    cpu_us: list[float] = field(default_factory=list)
    errors: int = 0

    def compare_rates(self, other: "Figures") -> float:
        """The median over the rounds of this rate divided by the other."""
        return find_median_ratio(self.rates, other.rates)


def find_median_ratio(numerators: list[float], denominators: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(numerators, denominators, strict=True))


def measure_load(server: Server, load: Load, figures: Figures, connections: int) -> None:
    before = read_cpu_seconds(*server.pids)
    number = random.randrange(900_000_000)  # no cache knows the numbers of another round
    result = measure_requests(server.port, load.requests, connections, SECONDS, number)
    time.sleep(PAUSE_SECONDS)
    handled = result["requests"] + connections
    figures.cpu_us.append(1e6 * (read_cpu_seconds(*server.pids) - before) / handled)
    figures.rates.append(result["rate"])
    figures.p50.append(result["p50"])
    figures.p99.append(result["p99"])
    figures.errors += int(result["errors"])


def measure_rounds(
    servers: list[Server], rounds: int, connections: int = CONNECTIONS
) -> list[dict[str, Figures]]:
    """The figures of each server by name of load. The servers take turns at each load, and each
    round changes their order. A round before the first one isn't counted."""
    figures = [{load.name: Figures() for load in server.loads} for server in servers]
    for number in range(-1, rounds):
        order = list(range(len(servers)))[:: 1 if number % 2 else -1]
        for position in range(max(len(server.loads) for server in servers)):
            for index in order:
                if position < len(servers[index].loads):
                    load = servers[index].loads[position]
                    target = figures[index][load.name] if number >= 0 else Figures()
                    measure_load(servers[index], load, target, connections)
    return figures
