"""Flags by name in groups, so that a change replaces its own group and shares all others.

A group begins at names that a hash selects. So groups depend on the names alone. Creating or
deleting a flag changes its own group, or splits or joins two groups.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from sigservice.services.flags.client_features import Flag

MEAN_SIZE = 64


class Group:
    """Consecutive flags by name, at least one. It never changes, and equals only itself."""

    __slots__ = ("first", "flags")

    def __init__(self, flags: dict[str, Flag]) -> None:
        self.flags = flags
        self.first = next(iter(flags))


class FlagGroups:
    """Iterates over the flags by name. It never changes."""

    def __init__(self, groups: list[Group]) -> None:
        self.groups = groups
        self._starts = [group.first for group in groups]

    @classmethod
    def from_flags(cls, flags: Iterable[Flag]) -> FlagGroups:
        """`flags` are sorted by name."""
        return cls(_split(flags))

    def __iter__(self) -> Iterator[Flag]:
        for group in self.groups:
            yield from group.flags.values()

    def find(self, name: str) -> Flag | None:
        return self.groups[self._find_index(name)].flags.get(name) if self.groups else None

    def replace(self, changes: Mapping[str, Flag | None]) -> FlagGroups:
        """The flags after the changes; None deletes a flag."""
        by_group: dict[int, dict[str, Flag | None]] = defaultdict(dict)
        for name, flag in changes.items():
            by_group[self._find_index(name)][name] = flag
        result: list[Group] = []
        for index, group in enumerate(self.groups or [None]):
            parts = [group] if group else []
            if index in by_group:
                flags = (group.flags if group else {}) | by_group[index]
                parts = _split(flag for _, flag in sorted(flags.items()) if flag is not None)
            for part in parts:
                if result and not begins_group(part.first):  # the flag before it was deleted
                    part = Group(result.pop().flags | part.flags)
                result.append(part)
        return FlagGroups(result)

    def _find_index(self, name: str) -> int:
        return max(0, bisect_right(self._starts, name) - 1)


def begins_group(name: str) -> bool:
    return zlib.crc32(name.encode()) % MEAN_SIZE == 0


def _split(flags: Iterable[Flag]) -> list[Group]:
    parts: list[dict[str, Flag]] = []
    for flag in flags:
        if not parts or begins_group(flag.name):
            parts.append({})
        parts[-1][flag.name] = flag
    return [Group(part) for part in parts]
