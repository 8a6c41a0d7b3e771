"""The states of an endpoint that expects signals: new → up → late → down, and up again.

A signal restarts the wait for the next one. So does every event that may lose a signal or makes
times useless: a start of the service, a stall, an unavailable database, and, with `cron`, a step of
the clock. Only one lost signal in a row is assumed, so that frequent restarts don't hide silence.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from sigservice.clock import format_optional
from sigservice.services.cron_times import find_next_time
from sigservice.services.signals.silence_clock import Moment
from sigservice.services.signals.silence_rules import SilenceRule

ALERTS = ("late", "down")


class Check(msgspec.Struct, frozen=True):
    """A row of silence_checks. The wait for a signal began at `started_seconds`, and was restarted
    without one at `waits_from_seconds`. Rules with `cron` expect a signal at `next_at`, and were
    late at `late_seconds`."""

    state: str
    since: datetime
    started_seconds: float
    waits_from_seconds: float
    alert_key: str | None = None
    last_signal_id: int | None = None
    last_signal_at: datetime | None = None
    last_signal_seconds: float | None = None
    next_at: datetime | None = None
    late_seconds: float | None = None


def advance(
    check: Check | None,
    rule: SilenceRule,
    moment: Moment,
    *,
    newest_id: int | None,
    newest_at: datetime | None,
    must_restart: bool,
) -> Check:
    """The check at this moment. `newest_id` and `newest_at` belong to the newest signal of a
    sender, if any."""
    if check is None:
        check = Check("new", moment.now, moment.seconds, moment.seconds)
        must_restart = True
    if newest_id is not None and newest_id > (check.last_signal_id or 0):
        current = msgspec.structs.replace(
            check,
            last_signal_id=newest_id,
            last_signal_at=newest_at,
            last_signal_seconds=moment.seconds,
            started_seconds=moment.seconds,
        )
        is_new_time_needed = must_restart or moment.has_gap or moment.has_step
        return _restart(current, rule, moment, keeps_time=not is_new_time_needed)
    if must_restart:
        return _restart(
            msgspec.structs.replace(check, started_seconds=moment.seconds), rule, moment
        )
    if check.state not in ("up", "late"):
        return check
    if _is_excused(check, rule, moment):
        return _restart(check, rule, moment)
    return _compare(check, rule, moment)


def estimate_times(
    check: Mapping[str, Any], rule: SilenceRule, seconds: float, now: datetime
) -> tuple[datetime | None, datetime | None]:
    """The times at which the endpoint is late and down, or was. `check` is a row, and `seconds` and
    `now` are from the last look."""
    if check["state"] == "new":
        return None, None
    grace = timedelta(seconds=rule.graceSeconds)
    if rule.everySeconds is not None:
        waited = seconds - check["waits_from_seconds"]
        expected_at = now + timedelta(seconds=rule.everySeconds - waited)
        return expected_at, expected_at + grace
    if check["next_at"] is None:
        return None, None
    if check["late_seconds"] is None:
        return check["next_at"], check["next_at"] + grace
    late_for = seconds - check["late_seconds"]
    return check["next_at"], now + grace - timedelta(seconds=late_for)


def to_json(
    check: Mapping[str, Any] | None, rule: SilenceRule | None, *, enabled: bool
) -> dict[str, Any] | None:
    """`silence` of an endpoint, None without a rule. `check` is a row with the columns of the
    clock, None before the first look."""
    if rule is None:
        return None
    last_signal_at = check["last_signal_at"] if check else None
    state: dict[str, Any] = {"state": "new", "lastSignalAt": format_optional(last_signal_at)}
    times = dict.fromkeys(("expectedAt", "downAt", "since"))
    if not enabled:
        return state | times | {"state": "paused"}
    if check is None:
        return state | times
    expected_at, down_at = estimate_times(check, rule, check["seconds"], check["ticked_at"])
    return state | {
        "state": check["state"],
        "expectedAt": format_optional(expected_at),
        "downAt": format_optional(down_at),
        "since": format_optional(check["since"]),
    }


def _restart(check: Check, rule: SilenceRule, moment: Moment, *, keeps_time: bool = False) -> Check:
    """Waits from now on. With `keeps_time` the next time of `cron` is only computed if it has
    passed."""
    next_at = check.next_at if keeps_time else None
    if rule.cron is not None and (next_at is None or next_at <= moment.now):
        next_at = find_next_time(rule.cron, rule.timezone, moment.now)
    check = msgspec.structs.replace(
        check, waits_from_seconds=moment.seconds, next_at=next_at, late_seconds=None
    )
    return _set_state(check, "new" if check.last_signal_id is None else "up", moment)


def _is_excused(check: Check, rule: SilenceRule, moment: Moment) -> bool:
    """Whether the signal that is due may have been lost, or its time passed in a step."""
    if rule.everySeconds is None:
        return moment.has_gap or moment.has_step
    waited = moment.seconds - check.started_seconds
    return moment.has_gap and waited <= rule.everySeconds + rule.graceSeconds


def _compare(check: Check, rule: SilenceRule, moment: Moment) -> Check:
    if rule.everySeconds is not None:
        late_for = moment.seconds - check.waits_from_seconds - rule.everySeconds
        if late_for < 0:
            return check
    else:
        if check.late_seconds is None:
            if check.next_at is None or moment.now < check.next_at:
                return check
            check = msgspec.structs.replace(check, late_seconds=moment.seconds)
        late_for = moment.seconds - (check.late_seconds or 0)
    return _set_state(check, "down" if late_for >= rule.graceSeconds else "late", moment)


def _set_state(check: Check, state: str, moment: Moment) -> Check:
    if state == check.state:
        return check
    return msgspec.structs.replace(check, state=state, since=moment.now)
