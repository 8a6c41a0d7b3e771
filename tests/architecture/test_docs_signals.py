"""docs/signals.md names each option of its section, and its JSON is JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sigservice.config.options import OPTIONS

PAGE = (Path(__file__).parents[2] / "docs" / "signals.md").read_text()
VARIABLES = [option.env for option in OPTIONS if option.section == "Signals" and option.env]
BLOCKS = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_there_is_something_to_check():
    assert VARIABLES
    assert BLOCKS
    assert len(BLOCKS) == PAGE.count("```json")


@pytest.mark.parametrize("variable", VARIABLES)
def test_variable_is_named(variable):
    assert re.search(rf"\b{variable}\b", PAGE)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"line {line_of(block)}")
def test_json_parses(block):
    json.loads(block)


def line_of(block: str) -> int:
    return PAGE[: PAGE.index(block)].count("\n") + 1
