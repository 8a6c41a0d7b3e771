"""docs/actions.md names whatever there is to choose, and its traps are as it says."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from sigservice.config.options import OPTIONS
from sigservice.services.actions.action_filters import OPERATORS, Filter, Matcher
from sigservice.services.actions.action_kinds.table import KINDS
from sigservice.services.actions.action_set_options import ActionSetOptions

PAGE = (Path(__file__).parents[2] / "docs" / "actions.md").read_text()
VARIABLES = [o.env for o in OPTIONS if o.section == "Actions" and "WEBHOOK" not in o.env]


@pytest.mark.parametrize(
    "word", [*VARIABLES, *OPERATORS, *KINDS, *ActionSetOptions.__struct_fields__]
)
def test_it_is_named(word):
    assert re.search(rf"\b{word}\b", PAGE)


@pytest.mark.parametrize(
    ("filter", "payload", "matches"),
    [
        ({"path": "data.version", "operator": "EXISTS"}, {"data.version": 1}, True),
        ({"path": "a", "operator": "NUM_GT", "value": 0.02}, {"a": "0.031"}, True),
        ({"path": "a", "operator": "SEMVER_LT", "value": "2.7.0"}, {"a": "2.7.0-rc.1"}, True),
        ({"path": "a", "operator": "SEMVER_LT", "value": "2.7.0"}, {"a": "v2.6.0"}, False),
        ({"path": "a", "operator": "DATE_AFTER", "value": "2026-11-01"}, {"a": 1795264996}, True),
        (
            {"path": "a", "operator": "DATE_AFTER", "value": "2026-11-01"},
            {"a": 1795264996000},
            True,
        ),
        ({"path": "a", "operator": "REGEX", "value": r"^\[P[12]\]"}, {"a": "[P1] down"}, True),
        ({"path": "a", "operator": "EXISTS"}, {"a": None}, True),
        ({"path": "a", "operator": "EXISTS"}, {"a": {}}, True),
        ({"path": "a", "operator": "NOT_IN", "values": ["debug"]}, {}, False),
        ({"path": "a", "operator": "IN", "values": ["x"], "inverted": True}, {}, False),
        ({"path": "a", "operator": "IN", "values": [500]}, {"a": "500"}, True),
        ({"path": "a", "operator": "IN", "values": ["true"]}, {"a": True}, True),
        ({"path": "a", "operator": "IN", "values": ["0"]}, {"a": 0}, True),
        ({"path": "a", "operator": "IN", "values": ["{}"]}, {"a": {}}, False),
        ({"path": "a[*]", "operator": "NOT_IN", "values": ["x"]}, {"a": ["x", "y"]}, True),
        (
            {"path": "a[*]", "operator": "IN", "values": ["x"], "inverted": True},
            {"a": ["x", "y"]},
            False,
        ),
    ],
)
def test_the_traps_are_as_it_says(filter, payload, matches):
    assert Matcher([msgspec.convert(filter, Filter)]).matches(payload) is matches
