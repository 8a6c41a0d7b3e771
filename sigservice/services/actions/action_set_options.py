"""The options of an action set: cooldown, run once, dry run, auto-revert."""

import msgspec

from sigservice.services.problems import Problems
from sigservice.services.signals.payload_paths import parse_path

MAX_COOLDOWN_SECONDS = 7 * 86_400


class ResolvedCondition(msgspec.Struct, omit_defaults=True):
    """A signal resolves an alert if `path` has one of `values`. `key` is the path of the
    correlation key, which connects it to the signal that fired, or several paths separated by
    commas, whose values make the key together."""

    path: str
    values: list[str]
    key: str

    @property
    def key_paths(self) -> list[str]:
        return [path.strip() for path in self.key.split(",")]


class ActionSetOptions(msgspec.Struct, omit_defaults=True):
    """The `options` of a set, all off by default. `latch` means run once."""

    cooldownSeconds: int = 0
    maxRunsPerHour: int | None = None
    latch: bool = False
    dryRun: bool = False
    continueOnFailure: bool = False
    restoreAfterMinutes: int | None = None
    restoreWhenResolved: ResolvedCondition | None = None
    skipIfLateMinutes: int | None = None


def check_options(options: ActionSetOptions, problems: Problems, *, is_scheduled: bool) -> None:
    """Adds to `problems`."""
    if not 0 <= options.cooldownSeconds <= MAX_COOLDOWN_SECONDS:
        problems.add("options.cooldownSeconds", "The cooldown must be 0 to 604800 seconds.")
    if options.maxRunsPerHour is not None and not 1 <= options.maxRunsPerHour <= 10_000:
        problems.add("options.maxRunsPerHour", "The runs per hour must be 1 to 10000.")
    minutes = options.restoreAfterMinutes
    if minutes is not None and not 1 <= minutes <= 43_200:
        problems.add("options.restoreAfterMinutes", "The minutes must be 1 to 43200.")
    late = options.skipIfLateMinutes
    if late is not None and not is_scheduled:
        problems.add("options.skipIfLateMinutes", "Only a schedule can be late.")
    elif late is not None and not 1 <= late <= 43_200:
        problems.add("options.skipIfLateMinutes", "The minutes must be 1 to 43200.")
    resolved = options.restoreWhenResolved
    if resolved is not None and is_scheduled:
        problems.add("options.restoreWhenResolved", "A schedule has no alert that resolves.")
    elif resolved is not None:
        check_resolved_condition(resolved, problems, "options.restoreWhenResolved")


def check_resolved_condition(resolved: ResolvedCondition, problems: Problems, path: str) -> None:
    """Adds to `problems`, with paths below `path`."""
    for name, texts in (("path", [resolved.path]), ("key", resolved.key_paths)):
        if None in map(parse_path, texts):
            problems.add(f"{path}.{name}", f"The {name} is not a valid path.")
    if not 1 <= len(resolved.values) <= 25:
        problems.add(f"{path}.values", "1 to 25 values are required.")
