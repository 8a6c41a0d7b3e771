"""docs/security.md answers every requirement of OWASP ASVS 5.0, level 2, once."""

from __future__ import annotations

import re
from pathlib import Path

# How many requirements of level 1 and 2 each section has; those of level 3 come after them.
SECTIONS = {
    "1.1": 2, "1.2": 9, "1.3": 11, "1.4": 3, "1.5": 2, "2.1": 3, "2.2": 3, "2.3": 4, "2.4": 1,
    "3.2": 2, "3.3": 4, "3.4": 6, "3.5": 5, "3.7": 2, "4.1": 3, "4.2": 1, "4.3": 2, "4.4": 4,
    "5.1": 1, "5.2": 3, "5.3": 2, "5.4": 3, "6.1": 3, "6.2": 12, "6.3": 4, "6.4": 4, "6.5": 5,
    "6.6": 3, "6.8": 4, "7.1": 3, "7.2": 4, "7.3": 2, "7.4": 5, "7.5": 2, "7.6": 2, "8.1": 2,
    "8.2": 3, "8.3": 1, "8.4": 1, "9.1": 3, "9.2": 4, "10.1": 2, "10.2": 2, "10.3": 4, "10.4": 11,
    "10.5": 5, "10.6": 2, "10.7": 3, "11.1": 2, "11.2": 3, "11.3": 3, "11.4": 4, "11.5": 1,
    "11.6": 1, "12.1": 3, "12.2": 2, "12.3": 4, "13.1": 1, "13.2": 5, "13.3": 2, "13.4": 5,
    "14.1": 2, "14.2": 4, "14.3": 3, "15.1": 3, "15.2": 3, "15.3": 7, "16.1": 1, "16.2": 5,
    "16.3": 4, "16.4": 3, "16.5": 3, "17.1": 1, "17.2": 4, "17.3": 2,
}  # fmt: skip
STATES = {"met", "partly", "no", "you", "n/a"}
PAGE = (Path(__file__).parents[2] / "docs" / "security.md").read_text("utf-8")
ROWS = re.findall(r"^\| (\d+\.\d+\.\d+[^|]*) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)


def expand(text: str) -> list[str]:
    """`1.2.6 to 1.2.8, 1.3.1` as its requirements."""
    requirements = []
    for part in text.split(", "):
        first, _, last = part.partition(" to ")
        section, _, low = first.rpartition(".")
        high = (last or first).rpartition(".")[2]
        requirements += [f"{section}.{number}" for number in range(int(low), int(high) + 1)]
    return requirements


def test_each_requirement_of_level_2_has_one_answer():
    answered = sorted(one for requirements, _, _ in ROWS for one in expand(requirements))
    expected = sorted(
        f"{section}.{n + 1}" for section, many in SECTIONS.items() for n in range(many)
    )
    assert answered == expected


def test_each_answer_has_a_state_and_a_reason():
    for requirements, state, reason in ROWS:
        assert state in STATES, requirements
        assert reason.strip(), requirements


def test_each_named_place_exists():
    root = Path(__file__).parents[2]
    places = re.findall(r"\b((?:tests|sigservice)/[\w/]+(?:\.py)?)", PAGE)
    assert places
    assert all((root / place).exists() for place in places)
