"""The toggles of all flags, also of disabled ones."""

from typing import Self

from sigservice.evaluation.fields import never
from sigservice.evaluation.flags import Entry, Flag, Flags, build_toggle, is_in


class AllFlags:
    """The toggles of all flags, also of disabled ones. Shares with `former` what hasn't changed."""

    def __init__(self, flags: Flags, former: Self | None = None) -> None:
        self._flags = flags
        self._compiled: dict[str, tuple[Flag, Entry]] = former._compiled if former else {}

    def find(self, name: str, projects: tuple[str, ...]) -> Flag | None:
        """The flag, if it is in these projects (`*`: all)."""
        flag = self._flags.find(name)
        return flag if flag is not None and is_in(flag, projects) else None

    def list_entries(self, projects: tuple[str, ...]) -> list[Entry]:
        """What answers for the flags of these projects, in the document's order."""
        flags = self._flags.by_name
        if len(self._compiled) > 2 * len(flags):
            self._compiled = {}
        return [
            self._find_entry(name, flag) for name, flag in flags.items() if is_in(flag, projects)
        ]

    def _find_entry(self, name: str, flag: Flag) -> Entry:
        cached = self._compiled.get(name)
        if cached is None or cached[0] is not flag:
            cached = self._compiled[name] = flag, self.compile(name, flag)
        return cached[1]

    @staticmethod
    def compile(name: str, flag: Flag) -> Entry:
        """The entry of a flag that also has a toggle for contexts it is disabled for."""
        entry = flag.entry
        if isinstance(entry, bytes):
            return entry
        description = {"name": name, "impressionData": flag.has_impression_data}
        disabled = build_toggle(description, None, is_enabled=False)
        if flag.is_enabled is never:
            return disabled
        return lambda fields: entry(fields) or disabled
