"""Parameters of tests that try many inputs, or sequences of many random steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sample(values: Iterable[Any], count: int) -> list[Any]:
    """The README's test command tries the first `count` values, `-m external` the others."""
    return [
        value if number < count else pytest.param(value, marks=pytest.mark.external)
        for number, value in enumerate(values)
    ]
