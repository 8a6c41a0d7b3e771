"""The built-in step patterns: steps and a watch time under a name, which a new release can take."""

from typing import Any

import msgspec

from sigservice.errors import BadDataError
from sigservice.services.releases.plans import DEFAULT_WATCH_MINUTES, Step


class StepPattern(msgspec.Struct):
    name: str
    description: str
    steps: list[Step]
    watchMinutes: int = DEFAULT_WATCH_MINUTES


CAREFUL = StepPattern(
    "careful",
    "A few users first, then most of them within half a day.",
    [Step(1, 10), Step(10, 60), Step(50, 240), Step(100)],
)
QUARTERS = StepPattern(
    "quarters",
    "A quarter of the users each hour.",
    [Step(25, 60), Step(50, 60), Step(75, 60), Step(100)],
)
PATTERNS = (CAREFUL, QUARTERS)


def list_all() -> list[dict[str, Any]]:
    """The JSON of each."""
    items: list[dict[str, Any]] = msgspec.to_builtins(PATTERNS)
    return items


def find(name: str) -> StepPattern:
    """Raises BadDataError for an unknown name."""
    for pattern in PATTERNS:
        if pattern.name == name:
            return pattern
    raise BadDataError(f"There is no step pattern {name[:100]}.", path="template")
