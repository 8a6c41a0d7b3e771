"""Templates only print: what they show is made in Python."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "templates"
FORBIDDEN = {
    "a comprehension": r"[\[({].* for .* in .*[\])}]",
    "formatting": r"[\"'] % |\.format\(|\bf[\"']",
    "menu or choices": r"choices=\[|^% *\w+ = [\[({]",
    "a label or a hint of a field": r"include\(.*\b(label|hint)=\"",
}
TEMPLATES = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.tpl"))


@pytest.mark.parametrize("name", TEMPLATES)
def test_template_only_prints(name: str):
    lines = (ROOT / name).read_text().splitlines()
    broken = [
        f"{number}: {what}"
        for number, line in enumerate(lines, 1)
        for what, pattern in FORBIDDEN.items()
        if re.search(pattern, line)
    ]
    assert broken == []
