"""Parameters of tests that try many inputs, or sequences of many random steps."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import pytest

leaves_others_out = False  # tests/external.py sets it: collecting what doesn't run takes long too


def sample(values: Iterable[Any], count: int) -> list[Any]:
    """The README's test command tries the first `count` values, `-m external` the others."""
    if leaves_others_out:
        return list(islice(values, count))
    return [
        value if number < count else pytest.param(value, marks=pytest.mark.external)
        for number, value in enumerate(values)
    ]
