"""Recipes: what well-known senders say, and what to configure there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from sigservice.services.action_filters import Filter
from sigservice.services.action_sets import Resolved, Settings


@dataclass(frozen=True)
class Recipe:
    """`sample` is a payload such as the sender's; `setup` is plain text for the other side."""

    title: str
    filters: list[Filter]
    settings: Settings
    sample: dict[str, Any] = field(default_factory=dict)
    setup: str = ""


RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "alertmanager": Recipe(
            "Prometheus Alertmanager",
            [Filter(path="status", operator="IN", values=["firing"])],
            Settings(restoreWhenResolved=Resolved("status", ["resolved"], "groupKey")),
            {"status": "firing", "groupKey": "{}:{}", "alerts": [{"status": "firing"}]},
            "Add a receiver with a webhook_configs entry whose url is the signal endpoint's.",
        )
    }
)
