"""The rule of an endpoint that expects signals: `options.silence`."""

import msgspec

from sigservice.services.cron_times import check_cron
from sigservice.services.problems import Problems

MAX_SECONDS = 366 * 86_400


class SilenceRule(msgspec.Struct, omit_defaults=True):
    """A signal is expected every `everySeconds`, or at the times of `cron` in `timezone`. If none
    arrives, the endpoint is late then, and down `graceSeconds` later."""

    everySeconds: int | None = None
    cron: str | None = None
    timezone: str = "UTC"
    graceSeconds: int = 0

    @property
    def schedule(self) -> tuple[int | None, str | None, str]:
        """The part whose change restarts the wait."""
        return self.everySeconds, self.cron, self.timezone


def check_rule(rule: SilenceRule, problems: Problems) -> None:
    """Adds to `problems`."""
    if (rule.everySeconds is None) == (rule.cron is None):
        problems.add("options.silence", "Enter either everySeconds or cron.")
    elif rule.everySeconds is not None:
        if not 1 <= rule.everySeconds <= MAX_SECONDS:
            problems.add("options.silence.everySeconds", f"Must be 1 to {MAX_SECONDS} seconds.")
    else:
        check_cron(rule.cron or "", rule.timezone, "options.silence", problems)
    if not 0 <= rule.graceSeconds <= MAX_SECONDS:
        problems.add("options.silence.graceSeconds", f"Must be 0 to {MAX_SECONDS} seconds.")
