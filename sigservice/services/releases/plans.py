"""The plan of a release, which a user writes: steps, window, guards."""

from typing import ClassVar, Literal

import msgspec

from sigservice.services.actions import action_filters
from sigservice.services.actions.action_filters import Filter
from sigservice.services.actions.action_set_options import (
    ResolvedCondition,
    check_resolved_condition,
)
from sigservice.services.problems import Problems
from sigservice.services.releases.windows import Window, check_window
from sigservice.services.rules import rule_conditions
from sigservice.services.rules.rule_conditions import Condition, PrometheusQuery, Silence

MAX_STEPS, MAX_GUARDS = 20, 5
MAX_MINUTES = 60 * 24 * 366
MAX_NO_DATA_MINUTES = 1440
DEFAULT_WATCH_MINUTES = 60


class Step(msgspec.Struct, omit_defaults=True):
    """A percentage, and the minimum time for which it is kept, None for the last step."""

    rollout: int
    minutes: int | None = None
    waitForPerson: bool = False


class _Guard(msgspec.Struct, omit_defaults=True, kw_only=True):
    read_only: ClassVar = (
        "id", "state", "since", "value", "limit", "samples", "from", "to", "reason",
    )  # fmt: skip

    effect: Literal["hold", "rollBack"]
    dryRun: bool = False
    autoResume: bool = False


class SignalGuard(_Guard, kw_only=True, tag_field="kind", tag="signal"):
    """Fires from a signal that matches `filters` to the one that resolves its alert. If `filters`
    or `resolved` is absent, the sender's template provides it."""

    endpointId: int
    filters: list[Filter] | None = None
    resolved: ResolvedCondition | None = None

    @property
    def endpoint_id(self) -> int | None:
        """None if no endpoint can have this ID."""
        return self.endpointId if 0 < self.endpointId < 2**31 else None


NO_RULE = Condition(PrometheusQuery("", ""))


class RuleGuard(_Guard, kw_only=True, tag_field="kind", tag="rule"):
    """Fires while a number is beyond its limit, or no signal comes, as an alert rule does. With
    `ruleId` it watches this alert rule, whose condition `rule` is then."""

    rule: Condition = msgspec.field(default_factory=lambda: NO_RULE)
    ruleId: int | None = None

    @property
    def endpoint_id(self) -> int | None:
        """Of the endpoint whose silence it watches."""
        source = self.rule.source
        return source.endpointId if isinstance(source, Silence) else None


Guard = SignalGuard | RuleGuard


class Plan(msgspec.Struct):
    """The stored part of a release that doesn't change."""

    steps: list[Step]
    watchMinutes: int
    noDataMinutes: int = 30
    window: Window | None = None
    createdStrategy: bool = False


def check_plan(plan: Plan, guards: list[Guard], problems: Problems) -> None:
    """Adds to `problems`."""
    check_steps(plan.steps, plan.watchMinutes, problems)
    if not 0 <= plan.noDataMinutes <= MAX_NO_DATA_MINUTES:
        problems.add("noDataMinutes", f"Must be 0 to {MAX_NO_DATA_MINUTES} minutes.")
    if plan.window is not None:
        check_window(plan.window, problems)
    check_guards(guards, problems)


def check_guards(guards: list[Guard], problems: Problems) -> None:
    """Adds to `problems`."""
    if len(guards) > MAX_GUARDS:
        problems.add("guards", f"At most {MAX_GUARDS} guards are allowed.")
    for index, guard in enumerate(guards[:MAX_GUARDS]):
        _check_guard(guard, f"guards[{index}]", problems)


def check_steps(steps: list[Step], watch_minutes: int, problems: Problems) -> None:
    """Adds to `problems`."""
    if not 1 <= len(steps) <= MAX_STEPS:
        problems.add("steps", f"1 to {MAX_STEPS} steps are required.")
    if not 0 <= watch_minutes <= MAX_MINUTES:
        problems.add("watchMinutes", f"Must be 0 to {MAX_MINUTES} minutes.")
    before = -1
    for index, step in enumerate(steps[:MAX_STEPS]):
        path, is_last = f"steps[{index}]", index == len(steps) - 1
        if not 0 <= step.rollout <= 100:
            problems.add(f"{path}.rollout", "The percentage must be 0 to 100.")
        elif step.rollout <= before:
            message = f"Step {index + 1} must be higher than step {index} ({before}%)."
            problems.add(f"{path}.rollout", message)
        before = step.rollout
        if is_last and step.minutes is not None:
            problems.add(f"{path}.minutes", "The last step has no minutes; use watchMinutes.")
        if not is_last and (step.minutes is None or not 1 <= step.minutes <= MAX_MINUTES):
            problems.add(f"{path}.minutes", f"Must be 1 to {MAX_MINUTES} minutes.")


def _check_guard(guard: Guard, path: str, problems: Problems) -> None:
    if guard.autoResume and guard.effect != "hold":
        problems.add(f"{path}.autoResume", "Only a guard that holds can resume.")
    if isinstance(guard, RuleGuard) and guard.rule is not NO_RULE:
        rule_conditions.check(guard.rule, problems, f"{path}.rule.")
    elif isinstance(guard, RuleGuard) and guard.ruleId is None:
        problems.add(f"{path}.rule", "A rule or the ID of an alert rule is required.")
    elif isinstance(guard, RuleGuard):
        problems.add(f"{path}.ruleId", "Alert rule not found.")
    if not isinstance(guard, SignalGuard):
        return
    action_filters.check_filters(
        guard.filters or [], problems, max_filters=25, max_values=25, path=f"{path}.filters"
    )
    if guard.resolved is not None:
        check_resolved_condition(guard.resolved, problems, f"{path}.resolved")
