"""The evaluation context, flattened for lookups."""

import random
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime


class Fields(dict[str, str | None]):
    """The text of each context field, by name; an absent field reads as None.

    `time` replaces the clock. With `creates_session` an absent sessionId reads as a random one.
    The random value is one for all reads, so that flags, strategies and variants of an evaluation
    agree. `identity` is the user, otherwise the session, otherwise None. `has_read_random` and
    `has_read_clock` record what an evaluation depended on beside the fields, and `has_read_bucket`
    whether a percentage or a weight was part of it; `rollout_bucket` is the last one of 100.
    """

    def __init__(
        self,
        texts: Mapping[str, str],
        *,
        time: datetime | None = None,
        creates_session: bool = False,
    ) -> None:
        super().__init__(texts)
        self._time, self._creates_session = time, creates_session
        self._has_own_time = time is not None
        self.identity = texts.get("userId", texts.get("sessionId"))
        self._random = ""
        self.rollout_bucket: int | None = None
        self.has_read_random = self.has_read_clock = self.has_read_bucket = False

    def __missing__(self, name: str) -> str | None:
        return self.read_random() if name == "sessionId" and self._creates_session else None

    @property
    def is_repeatable(self) -> bool:
        """Whether the evaluations so far have the same result the next time."""
        return not (self.has_read_random or self.has_read_clock)

    def read_random(self) -> str:
        self.has_read_random = True
        if not self._random:
            self._random = str(random.getrandbits(32))
        return self._random

    def read_time(self) -> datetime:
        """The current time, with a time zone."""
        self.has_read_clock = not self._has_own_time
        if self._time is None:
            self._time = datetime.now(UTC)
        return self._time


Predicate = Callable[[Fields], bool]


def always(fields: Fields) -> bool:
    return True


def never(fields: Fields) -> bool:
    return False


def combine(predicates: Iterable[Predicate]) -> Predicate:
    """Whether all match, in this order. Those that don't depend on the fields are folded."""
    parts = [predicate for predicate in predicates if predicate is not always]
    if not parts:
        return always
    if never in parts:
        return never
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2:
        first, second = parts
        return lambda fields: first(fields) and second(fields)

    def match_all(fields: Fields) -> bool:
        for predicate in parts:  # noqa: SIM110  half the time of all()
            if not predicate(fields):
                return False
        return True

    return match_all
