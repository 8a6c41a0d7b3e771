"""CPU time and memory of processes, from /proc."""

import os
from pathlib import Path


def read_stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name: state, parent, …"""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()


def list_tree(root: int) -> list[int]:
    """The process and its descendants."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                children.setdefault(int(read_stat(int(name))[1]), []).append(int(name))
            except OSError:
                continue  # it ended
    tree = [root]
    for pid in tree:
        tree += children.get(pid, [])
    return tree


def read_cpu_seconds(*roots: int) -> float:
    """The CPU time of processes with their descendants, ended ones included."""
    ticks = 0
    for root in roots:
        for pid in list_tree(root):
            try:
                ticks += sum(map(int, read_stat(pid)[11:15]))
            except OSError:
                continue
    return ticks / os.sysconf("SC_CLK_TCK")


def read_resident_mb(pid: int) -> float:
    """The resident memory of one process."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024
