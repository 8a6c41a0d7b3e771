"""The state of an alert rule: a function of its previous state and the reading of its source.

`unknown` is neither `ok` nor `firing`. A rule that was never evaluated is `unknown`, then `ok` from
the first value on. A firing rule without a value stays firing for the time of its window.
"""

from datetime import datetime, timedelta
from typing import Literal, NamedTuple

import msgspec

from sigservice.services.rules.rule_conditions import Condition
from sigservice.services.rules.rule_readings import Reading

State = Literal["ok", "firing", "unknown"]
Status = Literal["firing", "resolved", "unknown"]


class RuleState(msgspec.Struct, frozen=True):
    """The columns of a state. `streak` is the number of evaluations in a row that point to the
    other state; `has_fired` is true from `firing` until the alert is resolved."""

    state: State
    since: datetime
    streak: int = 0
    has_fired: bool = False
    unknown_since: datetime | None = None


class Transition(NamedTuple):
    """`status` is the status of the signal of this change, None without one."""

    state: RuleState
    status: Status | None


def advance(
    before: RuleState, condition: Condition, reading: Reading, now: datetime, times: int = 1
) -> Transition:
    """The state after an evaluation, which counts as `times` in a row."""
    if reading.value is None:
        return _lose(before, condition, now)
    is_beyond = condition.is_beyond(reading.value)
    is_alert = before.state == "firing" or (before.state == "unknown" and before.has_fired)
    current = msgspec.structs.replace(before, unknown_since=None)
    if before.state == "unknown" and not is_alert:
        current = msgspec.structs.replace(current, state="ok", since=now, streak=0)
    if before.state == "unknown" and is_alert:  # counts up beyond the limit, down within it
        streak = max(before.streak, 0) + times if is_beyond else min(before.streak, 0) - times
    elif is_beyond == (before.state == "firing"):
        streak = 0
    else:
        streak = current.streak + times
    current = msgspec.structs.replace(current, streak=streak)
    if abs(streak) < condition.breaches:
        return Transition(current, None)
    if is_beyond:
        return Transition(RuleState("firing", now, has_fired=True), "firing")
    return Transition(RuleState("ok", now), "resolved")


def _lose(before: RuleState, condition: Condition, now: datetime) -> Transition:
    """The state after an evaluation without a value."""
    current = msgspec.structs.replace(before, streak=0, unknown_since=before.unknown_since or now)
    if before.state == "unknown":
        return Transition(current, None)
    patience = timedelta(minutes=condition.windowMinutes)
    if before.state == "firing" and now - (before.unknown_since or now) < patience:
        return Transition(current, None)
    return Transition(msgspec.structs.replace(current, state="unknown", since=now), "unknown")
