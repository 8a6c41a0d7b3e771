"""A risk of a configuration, which `check-config` shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SEVERITIES = ("note", "warning", "danger")

Config = dict[str, Any]
Sources = Mapping[str, str]


@dataclass(frozen=True)
class Risk:
    """`option` is an option's path, or the name of a variable that sets no option."""

    severity: str
    option: str
    message: str
