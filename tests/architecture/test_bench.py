"""The stored figures of bench/."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_changelog_has_the_reason_of_the_stored_cpu_figures():
    reason = json.loads((ROOT / "bench/cpu.json").read_text())["reason"]
    assert reason in " ".join((ROOT / "CHANGELOG.md").read_text().split())
