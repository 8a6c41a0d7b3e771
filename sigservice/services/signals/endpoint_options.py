"""The options of a signal endpoint: limit, idempotency, query token, summary."""

from typing import Literal

import msgspec

from sigservice.services.problems import Problems
from sigservice.services.signals.payload_paths import parse_path

MAX_RATE = 100_000
MAX_KEY_PATHS = 5
MAX_GUARD_PATHS = 20
MAX_WINDOW_HOURS = 30 * 24
MAX_SUMMARY_FIELDS = 10
MAX_LABEL_LENGTH = 50


class RateLimit(msgspec.Struct, frozen=True, omit_defaults=True):
    """Signals per second and at once, for each token. Without a rate, the configured one applies;
    without a burst, the rate or the configured burst. `status` is the status of the response above
    the limit: some senders retry a 503 but no 429."""

    perSecond: float | None = None
    burst: int | None = None
    status: Literal[429, 503] = 429

    def find_burst(self) -> float | None:
        """None for the configured one."""
        if self.burst is None and self.perSecond is not None:
            return max(1.0, self.perSecond)
        return self.burst


class Idempotency(msgspec.Struct, frozen=True, omit_defaults=True):
    """The values at `paths` of the payload are the key of a signal; without paths, a header has
    it."""

    paths: list[str] = []
    windowHours: int = 24
    differentBody: Literal["reject", "accept"] = "reject"


class SummaryField(msgspec.Struct):
    """One value of the payload, shown in lists."""

    label: str
    path: str


class EndpointOptions(msgspec.Struct, omit_defaults=True):
    """The `options` of an endpoint. Status and severity of a signal are recognised in common
    members of the payload unless a path is set. Values at `guardPaths` may be compared by guards of
    everyone who may create releases."""

    rateLimit: RateLimit = RateLimit()
    idempotency: Idempotency = Idempotency()
    allowQueryToken: bool = False
    summary: list[SummaryField] = []
    statusPath: str = ""
    severityPath: str = ""
    guardPaths: list[str] = []


def parse_options(text: str) -> EndpointOptions:
    """The options of the JSON that the database has. Unknown members are ignored, because a newer
    version may have written them."""
    return msgspec.json.decode(text, type=EndpointOptions)


def check_options(options: EndpointOptions, problems: Problems) -> None:
    """Adds to `problems`."""
    rate = options.rateLimit
    if rate.perSecond is not None and not 0.001 <= rate.perSecond <= MAX_RATE:
        problems.add("options.rateLimit.perSecond", f"The rate must be 0.001 to {MAX_RATE}.")
    if rate.burst is not None and not 1 <= rate.burst <= MAX_RATE:
        problems.add("options.rateLimit.burst", f"The burst must be 1 to {MAX_RATE}.")
    _check_idempotency(options.idempotency, problems)
    _check_summary(options, problems)
    if len(options.guardPaths) > MAX_GUARD_PATHS:
        problems.add("options.guardPaths", f"At most {MAX_GUARD_PATHS} paths are allowed.")
    for index, path in enumerate(options.guardPaths[:MAX_GUARD_PATHS]):
        _check_path(path, f"options.guardPaths[{index}]", problems)


def _check_idempotency(idempotency: Idempotency, problems: Problems) -> None:
    if len(idempotency.paths) > MAX_KEY_PATHS:
        problems.add("options.idempotency.paths", f"At most {MAX_KEY_PATHS} paths are allowed.")
    for index, path in enumerate(idempotency.paths[:MAX_KEY_PATHS]):
        _check_path(path, f"options.idempotency.paths[{index}]", problems)
    if not 1 <= idempotency.windowHours <= MAX_WINDOW_HOURS:
        problems.add(
            "options.idempotency.windowHours", f"The window must be 1 to {MAX_WINDOW_HOURS} hours."
        )


def _check_summary(options: EndpointOptions, problems: Problems) -> None:
    if len(options.summary) > MAX_SUMMARY_FIELDS:
        problems.add("options.summary", f"At most {MAX_SUMMARY_FIELDS} fields are allowed.")
    for index, field in enumerate(options.summary[:MAX_SUMMARY_FIELDS]):
        path = f"options.summary[{index}]"
        problems.check_text(field.label, f"{path}.label", min_length=1, max_length=MAX_LABEL_LENGTH)
        _check_path(field.path, f"{path}.path", problems)
    for name, text in (("statusPath", options.statusPath), ("severityPath", options.severityPath)):
        if text:
            _check_path(text, f"options.{name}", problems)


def _check_path(text: str, path: str, problems: Problems) -> None:
    if parse_path(text) is None:
        problems.add(path, "This is not a valid path.")
