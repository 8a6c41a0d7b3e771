"""Recipes: what an action set needs to act on the alerts of a well-known system.

A recipe's filters let in what says that an alert fires and keep out what says that it is over; its
settings restore then. People add filters of their own and choose the actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sigservice.services.actions.action_filters import Filter
from sigservice.services.actions.action_sets import Resolved, Settings
from sigservice.services.actions.recipe_samples import (
    alertmanager,
    datadog,
    generic,
    github,
    grafana,
    pagerduty,
    sentry,
)


@dataclass(frozen=True)
class Recipe:
    """`sample` is what arrives when an alert fires, `resolved_sample` when it is over, None where
    the system never says so; `setup` is plain text: what to configure on the other side."""

    title: str
    filters: list[Filter]
    settings: Settings
    sample: dict[str, Any]
    resolved_sample: dict[str, Any] | None
    setup: str


def to_json(name: str, recipe: Recipe) -> dict[str, Any]:
    """`filters` and `options` as an action set takes them."""
    return {
        "name": name,
        "title": recipe.title,
        "filters": recipe.filters,
        "options": recipe.settings,
        "sample": recipe.sample,
        "resolvedSample": recipe.resolved_sample,
        "setup": recipe.setup,
    }


def _is_in(path: str, *values: str) -> Filter:
    return Filter(path=path, operator="IN", values=list(values))


def _over(path: str, value: str, *, key: str) -> Settings:
    return Settings(restoreWhenResolved=Resolved(path=path, values=[value], key=key))


RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "alertmanager": Recipe(
            "Prometheus Alertmanager",
            [_is_in("status", "firing")],
            _over("status", "resolved", key="groupKey"),
            alertmanager.FIRING,
            alertmanager.RESOLVED,
            alertmanager.SETUP,
        ),
        "grafana": Recipe(
            "Grafana Alerting",
            [
                _is_in("status", "firing"),
                Filter(
                    path="alerts[*].labels.alertname",
                    operator="NOT_IN",
                    values=["TestAlert"],  # what the contact point's button Test sends
                ),
            ],
            _over("status", "resolved", key="groupKey"),
            grafana.FIRING,
            grafana.RESOLVED,
            grafana.SETUP,
        ),
        "datadog": Recipe(
            "Datadog monitors",
            [_is_in("data.transition", "Triggered", "Re-Triggered")],
            _over("data.transition", "Recovered", key="data.cycle"),
            datadog.FIRING,
            datadog.RESOLVED,
            datadog.SETUP,
        ),
        "sentry": Recipe(
            "Sentry issues",
            [
                _is_in("action", "created", "unresolved"),
                _is_in("data.issue.level", "error", "fatal"),
            ],
            _over("action", "resolved", key="data.issue.id"),
            sentry.FIRING,
            sentry.RESOLVED,
            sentry.SETUP,
        ),
        "pagerduty": Recipe(
            "PagerDuty incidents",
            [_is_in("event.event_type", "incident.triggered", "incident.reopened")],
            _over("event.event_type", "incident.resolved", key="event.data.id"),
            pagerduty.FIRING,
            pagerduty.RESOLVED,
            pagerduty.SETUP,
        ),
        "github": Recipe(
            "GitHub Actions workflows",
            [
                _is_in("type", "workflow_run"),
                _is_in("data.workflow_run.conclusion", "failure", "timed_out"),
                _is_in("data.workflow_run.head_branch", "main"),
            ],
            _over("data.workflow_run.conclusion", "success", key="data.workflow_run.workflow_id"),
            github.FIRING,
            github.RESOLVED,
            github.SETUP,
        ),
        "generic": Recipe(
            "Anything that sends JSON",
            [_is_in("data.status", "firing")],
            _over("data.status", "resolved", key="data.key"),
            generic.FIRING,
            generic.RESOLVED,
            generic.SETUP,
        ),
    }
)
