"""Tabs of the page of one object. They are links, so they work without JavaScript, and
partials/tabs.tpl renders them."""

from collections.abc import Mapping
from typing import NamedTuple


class Tab(NamedTuple):
    """A `number` of 0 isn't printed."""

    label: str
    path: str
    number: int
    is_current: bool


def make_tabs(
    path: str, labels: Mapping[str, str], current: str, numbers: Mapping[str, int]
) -> list[Tab]:
    """A tab of `labels` is at `path/<name>`; `current` is the name of the one that is open."""
    return [
        Tab(label, f"{path}/{name}", numbers.get(name, 0), name == current)
        for name, label in labels.items()
    ]
