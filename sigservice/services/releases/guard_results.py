"""The results of guards: ok, firing or unknown, with the reason, from their stored data."""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from sigservice.crypto.secrets import sha256
from sigservice.services.actions.action_alerts import (
    LATE_TIME,
    find_key,
    is_possible_end,
    is_resolved,
)
from sigservice.services.actions.action_filters import Matcher
from sigservice.services.releases.decision import GuardResult
from sigservice.services.releases.plans import Guard, RuleGuard, SignalGuard
from sigservice.services.rules.rule_conditions import PrometheusQuery

REPORT_INTERVAL = timedelta(seconds=60)  # of impact metrics
MAX_DELAY = timedelta(seconds=60)  # of the evaluation of a rule
MAX_KEYS = 1000  # alerts that fire a guard at the same time
MAX_ENDED = 100
MAX_KEY_LENGTH = 200  # of an alert; its hash stands for a longer one


class GuardRecord(msgspec.Struct, kw_only=True):
    """A row of release_guards, with the result of its alert rule. `keys` are the alerts that fire,
    with the sentence of each, `signal_ids` their signals. `ended` says when the last MAX_ENDED
    ended, by the sender's time and ours. `endpoint`, its `template` and its state
    are None where the guard has none. If `is_behind`, its signals have waited for their evaluation
    for some seconds."""

    id: int
    position: int
    kind: str
    definition: Guard
    state: str
    since: datetime
    endpoint_id: int | None = None
    reason: str | None = None
    value: float | None = None
    limit: float | None = None
    samples: float | None = None
    covers_from: datetime | None = None
    covers_to: datetime | None = None
    keys: dict[str, str] = {}
    signal_ids: dict[str, int] = {}
    ended: dict[str, tuple[datetime, datetime]] = {}
    is_caught_up: bool = True
    endpoint: str | None = None
    template: str | None = None
    endpoint_enabled: bool = False
    is_behind: bool = False
    rule_state: str | None = None
    rule_reason: str | None = None

    @property
    def signal_id(self) -> int | None:
        """The ID of the signal in the reason of a firing guard."""
        return self.signal_ids.get(next(iter(self.keys), ""))

    @property
    def is_dry_run(self) -> bool:
        return self.definition.dryRun

    def to_result(self, now: datetime) -> GuardResult:
        """The result, as `decide` takes it."""
        definition = self.definition
        is_rule = isinstance(definition, RuleGuard)
        has_value = isinstance(definition, RuleGuard) and definition.endpoint_id is None
        return GuardResult(
            id=self.id,
            effect=definition.effect,
            state=self.state,  # type: ignore[arg-type]  # the column has these values only
            since=self.since,
            reason=self.reason or "",
            is_dry_run=definition.dryRun,
            auto_resume=definition.autoResume,
            has_value=has_value,
            covers_from=self.covers_from if has_value else None,
            delay=find_delay(definition),
            is_current=not (self.is_behind or (is_rule and self._is_overdue(now))),
        )

    def _is_overdue(self, now: datetime) -> bool:
        if self.covers_to is None or not isinstance(self.definition, RuleGuard):
            return False
        interval = timedelta(seconds=self.definition.rule.everySeconds)
        return now - self.covers_to > interval + MAX_DELAY


def find_delay(definition: Guard) -> timedelta:
    """The time from an error until a value that covers it has decided the state: for the reports of
    programs, which Prometheus doesn't wait for, and the evaluations that a breach needs."""
    if not isinstance(definition, RuleGuard) or definition.endpoint_id is not None:
        return timedelta(0)
    rule = definition.rule
    evaluations = timedelta(seconds=rule.breaches * rule.everySeconds)
    return (
        evaluations if isinstance(rule.source, PrometheusQuery) else REPORT_INTERVAL + evaluations
    )


def find_covered_time(definition: Guard) -> timedelta:
    """The time that a value covers."""
    return definition.rule.covered_time if isinstance(definition, RuleGuard) else timedelta(0)


def compute_result(record: GuardRecord) -> tuple[str, str | None]:
    """(state, reason) now."""
    if record.rule_state is not None:
        return record.rule_state, record.rule_reason
    if record.kind == "signal":
        if record.keys:
            return "firing", next(iter(record.keys.values()))
        if record.endpoint is None:
            return "unknown", "The signal endpoint of a guard was deleted."
        if not record.endpoint_enabled:
            return "unknown", f"The signal endpoint {record.endpoint} is disabled."
        return "ok", None
    what = "alert rule" if getattr(record.definition, "ruleId", None) else "signal endpoint"
    return "unknown", f"The {what} of a guard was deleted."


def refresh(record: GuardRecord, now: datetime) -> bool:
    """Stores the present result in the record. Returns whether the state changed."""
    state, reason = compute_result(record)
    is_changed = state != record.state
    if is_changed:
        record.since = now
    record.state, record.reason = state, reason
    return is_changed


class AlertChange(msgspec.Struct, frozen=True):
    """The effect of a signal on a guard: the alert `key` fires or, without a sentence, is resolved.
    `at` is when it began or ended, as the sender says."""

    guard_id: int
    key: str
    sentence: str | None
    signal_id: int
    at: datetime | None = None


def match_signal(
    guard_id: int, definition: SignalGuard, matcher: Matcher, signal: dict[str, Any]
) -> AlertChange | None:
    """`signal` is {id, endpoint, payload}. If nothing resolves the alerts of a guard, each signal
    has its own key, which a person clears."""
    payload, resolved = signal["payload"], definition.resolved
    alert_key = find_key(payload, resolved) if resolved is not None else None
    if alert_key is not None and len(alert_key) > MAX_KEY_LENGTH:
        alert_key = sha256(alert_key).hex()
    if resolved is not None and is_resolved(resolved, matcher, payload):
        return None if alert_key is None else AlertChange(guard_id, alert_key, None, signal["id"])
    if not matcher.matches(payload):
        return None
    # Without the key, a value of the payload: everyone reads the events of releases.
    sentence = f"An alert fires at {signal['endpoint']} (signal {signal['id']})."
    key = alert_key if alert_key is not None else f"signal {signal['id']}"
    return AlertChange(guard_id, key, sentence, signal["id"])


def apply_alert(record: GuardRecord, change: AlertChange, now: datetime) -> None:
    """A signal that fires an alert within LATE_TIME of its end is late, and ignored, if it began
    before it ended."""
    ended_at, stored_at = record.ended.get(change.key, (None, now))
    if change.sentence is None:
        record.keys.pop(change.key, None)
        if change.at is not None and is_possible_end(change.at, now):
            others = [(key, ends) for key, ends in record.ended.items() if key != change.key]
            newest = (change.key, (max(change.at, ended_at or change.at), now))
            record.ended = dict([*others, newest][-MAX_ENDED:])
        return
    is_early = change.at is not None and ended_at is not None and change.at <= ended_at
    if is_early and now - stored_at < LATE_TIME:
        return
    if len(record.keys) < MAX_KEYS:
        record.keys[change.key] = change.sentence
        record.signal_ids[change.key] = change.signal_id


def clear_unresolvable(record: GuardRecord) -> None:
    """Removes alerts that no signal resolves, when a person resumes."""
    definition = record.definition
    if isinstance(definition, SignalGuard) and definition.resolved is None:
        record.keys.clear()
    elif record.keys:
        ids = record.signal_ids
        record.keys = {k: text for k, text in record.keys.items() if k != f"signal {ids.get(k)}"}
