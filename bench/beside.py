"""unleash-server 8.2.0 from npm beside this service: same machine, flags, loads, in turn.

usage: python bench/beside.py [--directory PATH] [--rounds 5] [word …]
--directory: where unleash-server is installed, or will be (without it, a temporary directory). With
words, only the loads whose names contain one of them.

The same: the 100 flags, imported through the import API of both; tokens; requests; connections; an
own PostgreSQL of the same version and settings (fsync on) for each; no rate limits; a log of errors
only; NODE_ENV=production, other settings as by default. Both are one process with its PostgreSQL,
and both run all the time, so that each load finds the other server idle.

Not the same: unleash-server adds metrics and registrations up in memory, answers, and stores them
some seconds later; this service answers after the commit. It sends its own headers (CORS, CSP).

The flags in client documents and the toggles of 20 frontend contexts are equal, without flags with
random stickiness; otherwise nothing is measured.
"""

import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from typing import Any

from generator import NAME
from loads import Load, build_loads, check_loads, send_raw
from report import format_ratio
from rounds import Figures, Server, find_median_ratio, measure_rounds
from seed import seed_flags
from service import Service, run_service
from unleash import VERSION, find_problem, install, run_unleash

FRONTEND = "frontend, new"
WAIT_SECONDS = 60


def list_flags(service: Service) -> dict[str, Any]:
    """The flags of the client document by name, without IDs and without empty members."""
    _, body = service.fetch_features()
    document = json.loads(body)
    segments = {segment["id"]: segment["name"] for segment in document["segments"]}
    for flag in document["features"]:
        for strategy in flag["strategies"]:
            strategy["segments"] = [segments[id] for id in strategy.get("segments") or []]
            strategy.pop("id", None)
    return {flag["name"]: remove_empty(flag) for flag in document["features"]}


def remove_empty(value: Any) -> Any:
    if isinstance(value, dict):
        cleaned = {key: remove_empty(item) for key, item in value.items()}
        return {key: item for key, item in cleaned.items() if item not in (None, "", [], {}, False)}
    return [remove_empty(item) for item in value] if isinstance(value, list) else value


def list_toggles(service: Service, loads: list[Load], excluded: set[str]) -> list[dict[str, Any]]:
    """The toggles for each context of the frontend load, by name."""
    toggles = []
    for request in next(load for load in loads if load.name == FRONTEND).requests:
        _, _, body = send_raw(service.port, request)
        toggles.append(
            {
                toggle["name"]: toggle
                for toggle in json.loads(body)["toggles"]
                if toggle["name"] not in excluded
            }
        )
    return toggles


def check_equality(services: list[Service], loads: list[list[Load]]) -> None:
    """Raises AssertionError if the answers aren't equal after WAIT_SECONDS: unleash-server reads
    changes with a delay."""
    ours, theirs = (list_flags(service) for service in services)
    assert ours.keys() == theirs.keys()
    for name, flag in ours.items():
        assert flag == theirs[name], f"{flag}\n{theirs[name]}"
    excluded = {name for name, flag in ours.items() if '"random"' in json.dumps(flag)}
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        ours, theirs = map(list_toggles, services, loads, [excluded] * 2)
        if ours == theirs:
            return
        assert time.monotonic() < deadline, describe_difference(ours, theirs)
        time.sleep(1)


def describe_difference(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> str:
    return "\n".join(
        f"context {n}, {name}: {mine.get(name)} here, {other.get(name)} there"
        for n, (mine, other) in enumerate(zip(ours, theirs, strict=True))
        for name in sorted(mine.keys() | other.keys())
        if mine.get(name) != other.get(name)
    )


def report(loads: list[Load], ours: dict[str, Figures], theirs: dict[str, Figures]) -> list[str]:
    """Prints a row for each load; returns the names of missed targets and of loads with errors."""
    failures = []
    print(
        f"{'load':16}{'req/s':>7}{'theirs':>8}{'ratio':>7}{'target':>7}{'CPU us':>8}{'theirs':>8}"
    )
    for load in loads:
        row, other = ours[load.name], theirs[load.name]
        ratio = find_median_ratio(row.rates, other.rates)
        marks = []
        if load.target_beside is not None and ratio < load.target_beside:
            marks.append("MISSED")
        if row.errors or other.errors:
            marks.append(f"ERRORS {row.errors} here, {other.errors} there")
        if marks:
            failures.append(load.name)
        print(
            f"{load.name:16}{statistics.median(row.rates):7.0f}"
            f"{statistics.median(other.rates):8.0f}{ratio:7.2f}"
            f"{format_ratio(load.target_beside):>7}{statistics.median(row.cpu_us):8.0f}"
            f"{statistics.median(other.cpu_us):8.0f} {' '.join(marks)}"
        )
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--directory")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("words", nargs="*", metavar="word")
    arguments = parser.parse_args()
    if problem := find_problem():
        print(f"skipped: {problem}")
        return 0
    with contextlib.ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="sigservice-bench-")
        program = install(arguments.directory or stack.enter_context(temporary))
        ours = stack.enter_context(run_service())
        theirs, database = stack.enter_context(run_unleash(program))
        loads = []
        for service in (ours, theirs):
            seed_flags(service)
            loads.append(build_loads(service))
            check_loads(service, loads[-1])
        check_equality([ours, theirs], loads)
        words = arguments.words or [""]
        loads = [[x for x in items if any(word in x.name for word in words)] for items in loads]
        print(f"unleash-server {VERSION}; load generator: {NAME}")
        print(f"load of the machine {os.getloadavg()[0]:.1f}")
        servers = [
            Server(ours.port, [ours.pid], loads[0]),
            Server(theirs.port, [theirs.pid, database], loads[1]),
        ]
        failures = report(loads[0], *measure_rounds(servers, arguments.rounds))
        print(f"load of the machine {os.getloadavg()[0]:.1f}")
    print("missed: " + ", ".join(failures) if failures else "all targets met")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
