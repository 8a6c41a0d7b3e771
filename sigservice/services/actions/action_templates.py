"""Templates: prepared action sets for the alerts of well-known systems. The API calls them recipes.

The filters of a template match firing alerts and exclude resolved ones; its options revert the
changes when an alert is resolved. Users add filters and choose the actions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sigservice.services.actions.action_filters import Filter
from sigservice.services.actions.action_set_options import ActionSetOptions, ResolvedCondition
from sigservice.services.actions.template_samples import (
    alertmanager,
    datadog,
    generic,
    github,
    grafana,
    pagerduty,
    sentry,
)


@dataclass(frozen=True)
class ActionSetTemplate:
    """`sample` is the payload of a firing alert, `resolved_sample` that of a resolved one, None if
    the system doesn't send it; `setup` is plain text: how to configure the sender."""

    title: str
    filters: list[Filter]
    options: ActionSetOptions
    sample: dict[str, Any]
    resolved_sample: dict[str, Any] | None
    setup: str


def to_json(name: str, template: ActionSetTemplate) -> dict[str, Any]:
    """`filters` and `options` in the format of an action set."""
    return {
        "name": name,
        "title": template.title,
        "filters": template.filters,
        "options": template.options,
        "sample": template.sample,
        "resolvedSample": template.resolved_sample,
        "setup": template.setup,
    }


def _is_in(path: str, *values: str) -> Filter:
    return Filter(path=path, operator="IN", values=list(values))


def _revert_when(path: str, value: str, *, key: str) -> ActionSetOptions:
    return ActionSetOptions(
        restoreWhenResolved=ResolvedCondition(path=path, values=[value], key=key)
    )


TEMPLATES: Mapping[str, ActionSetTemplate] = MappingProxyType(
    {
        "alertmanager": ActionSetTemplate(
            "Prometheus Alertmanager",
            [_is_in("status", "firing")],
            _revert_when("status", "resolved", key="groupKey"),
            alertmanager.FIRING,
            alertmanager.RESOLVED,
            alertmanager.SETUP,
        ),
        "grafana": ActionSetTemplate(
            "Grafana Alerting",
            [
                _is_in("status", "firing"),
                Filter(
                    path="alerts[*].labels.alertname",
                    operator="NOT_IN",
                    values=["TestAlert"],  # sent by the button Test of a contact point
                ),
            ],
            _revert_when("status", "resolved", key="groupKey"),
            grafana.FIRING,
            grafana.RESOLVED,
            grafana.SETUP,
        ),
        "datadog": ActionSetTemplate(
            "Datadog monitors",
            [_is_in("data.transition", "Triggered", "Re-Triggered")],
            _revert_when("data.transition", "Recovered", key="data.cycle"),
            datadog.FIRING,
            datadog.RESOLVED,
            datadog.SETUP,
        ),
        "sentry": ActionSetTemplate(
            "Sentry issues",
            [
                _is_in("action", "created", "unresolved"),
                _is_in("data.issue.level", "error", "fatal"),
            ],
            _revert_when("action", "resolved", key="data.issue.id"),
            sentry.FIRING,
            sentry.RESOLVED,
            sentry.SETUP,
        ),
        "pagerduty": ActionSetTemplate(
            "PagerDuty incidents",
            [_is_in("event.event_type", "incident.triggered", "incident.reopened")],
            _revert_when("event.event_type", "incident.resolved", key="event.data.id"),
            pagerduty.FIRING,
            pagerduty.RESOLVED,
            pagerduty.SETUP,
        ),
        "github": ActionSetTemplate(
            "GitHub Actions workflows",
            [
                _is_in("type", "workflow_run"),
                _is_in("data.workflow_run.conclusion", "failure", "timed_out"),
                _is_in("data.workflow_run.head_branch", "main"),
            ],
            _revert_when(
                "data.workflow_run.conclusion", "success", key="data.workflow_run.workflow_id"
            ),
            github.FIRING,
            github.RESOLVED,
            github.SETUP,
        ),
        "generic": ActionSetTemplate(
            "Anything that sends JSON",
            [_is_in("data.status", "firing")],
            _revert_when("data.status", "resolved", key="data.key"),
            generic.FIRING,
            generic.RESOLVED,
            generic.SETUP,
        ),
    }
)
