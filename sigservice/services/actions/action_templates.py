"""Templates: prepared action sets for the alerts of well-known systems. The API calls them recipes.

The filters of a template match firing alerts and exclude resolved ones and tests; its options
revert the changes when an alert is resolved. Users add filters and choose the actions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from posixpath import normpath
from types import MappingProxyType
from typing import Any, Protocol

from sigservice.services.actions.action_filters import Filter
from sigservice.services.actions.action_set_options import ActionSetOptions, ResolvedCondition
from sigservice.services.actions.template_samples import (
    alertmanager,
    aws_sns,
    cloudevents,
    datadog,
    generic,
    github,
    github_webhooks,
    gitlab,
    grafana,
    healthchecks,
    kubernetes,
    opsgenie,
    pagerduty,
    sentry,
    silence,
    uptime_kuma,
)
from sigservice.services.signals import endpoint_templates
from sigservice.services.signals.endpoint_options import EndpointOptions
from sigservice.services.signals.endpoint_templates import EndpointTemplate


@dataclass(frozen=True)
class ActionSetTemplate:
    """`sample` is the payload of a firing alert, `resolved_sample` that of a resolved one, None if
    the system doesn't send it; `setup` is plain text: how to configure the sender. `endpoint` is
    what fits an endpoint of this sender."""

    endpoint: EndpointTemplate
    filters: list[Filter]
    options: ActionSetOptions
    sample: dict[str, Any]
    resolved_sample: dict[str, Any] | None
    setup: str

    @property
    def title(self) -> str:
        return self.endpoint.title


class _Samples(Protocol):
    """A module of template_samples."""

    @property
    def FIRING(self) -> dict[str, Any]: ...

    @property
    def RESOLVED(self) -> dict[str, Any] | None: ...

    @property
    def SETUP(self) -> str: ...


def to_json(name: str, template: ActionSetTemplate) -> dict[str, Any]:
    """`filters` and `options` in the format of an action set, `endpointOptions` and `signature`
    in that of an endpoint and of its signature token."""
    endpoint = template.endpoint
    body: dict[str, Any] = {
        "name": name,
        "title": template.title,
        "filters": template.filters,
        "options": template.options,
        "sample": template.sample,
        "resolvedSample": template.resolved_sample,
        "setup": template.setup,
        "endpointOptions": endpoint.options,
        "credentials": endpoint.credentials,
        "page": normpath(f"docs/senders/{endpoint.page}"),
    }
    return body | ({"signature": endpoint.signature} if endpoint.signature else {})


def _make(
    name: str, samples: _Samples, filters: list[Filter], options: ActionSetOptions
) -> ActionSetTemplate:
    return ActionSetTemplate(
        endpoint_templates.TEMPLATES[name],
        filters,
        options,
        samples.FIRING,
        samples.RESOLVED,
        samples.SETUP,
    )


def _is_in(path: str, *values: str) -> Filter:
    return Filter(path=path, operator="IN", values=list(values))


def _is_not_in(path: str, *values: str) -> Filter:
    return Filter(path=path, operator="NOT_IN", values=list(values))


def _revert_when(path: str, value: str, *, key: str) -> ActionSetOptions:
    return ActionSetOptions(
        restoreWhenResolved=ResolvedCondition(path=path, values=[value], key=key)
    )


_SILENCE = EndpointTemplate(
    "Silence of the endpoint",
    "../silence.md",
    "No sender is needed: the service stores these signals.",
    EndpointOptions(),
)

TEMPLATES: Mapping[str, ActionSetTemplate] = MappingProxyType(
    {
        "alertmanager": _make(
            "alertmanager",
            alertmanager,
            [_is_in("status", "firing")],
            _revert_when("status", "resolved", key="groupKey"),
        ),
        "grafana": _make(
            "grafana",
            grafana,
            [
                _is_in("status", "firing"),
                # Sent by the button Test of a contact point.
                _is_not_in("alerts[*].labels.alertname", "TestAlert"),
            ],
            _revert_when("status", "resolved", key="groupKey"),
        ),
        "datadog": _make(
            "datadog",
            datadog,
            [_is_in("data.transition", "Triggered", "Re-Triggered")],
            _revert_when("data.transition", "Recovered", key="data.cycle"),
        ),
        "sentry": _make(
            "sentry",
            sentry,
            [
                _is_in("action", "created", "unresolved"),
                _is_in("data.issue.level", "error", "fatal"),
            ],
            _revert_when("action", "resolved", key="data.issue.id"),
        ),
        "pagerduty": _make(
            "pagerduty",
            pagerduty,
            [_is_in("event.event_type", "incident.triggered", "incident.reopened")],
            _revert_when("event.event_type", "incident.resolved", key="event.data.id"),
        ),
        "github": _make(
            "github",
            github,
            [
                _is_in("type", "workflow_run"),
                _is_in("data.workflow_run.conclusion", "failure", "timed_out"),
                _is_in("data.workflow_run.head_branch", "main"),
            ],
            _revert_when(
                "data.workflow_run.conclusion", "success", key="data.workflow_run.workflow_id"
            ),
        ),
        "github-webhooks": _make(
            "github-webhooks",
            github_webhooks,
            [
                _is_in("workflow_run.conclusion", "failure", "timed_out"),
                _is_in("workflow_run.head_branch", "main"),
            ],
            _revert_when("workflow_run.conclusion", "success", key="workflow_run.workflow_id"),
        ),
        "gitlab": _make(
            "gitlab",
            gitlab,
            [
                _is_in("object_kind", "pipeline"),
                _is_in("object_attributes.ref", "main"),
                _is_in("object_attributes.status", "failed"),
            ],
            _revert_when("object_attributes.status", "success", key="object_attributes.ref"),
        ),
        "uptime-kuma": _make(
            "uptime-kuma",
            uptime_kuma,
            [_is_in("heartbeat.status", "0")],
            _revert_when("heartbeat.status", "1", key="monitor.id"),
        ),
        "healthchecks": _make(
            "healthchecks",
            healthchecks,
            [
                _is_in("data.status", "down"),
                _is_not_in("data.name", "TEST"),  # sent by the button Test! of the integration
            ],
            _revert_when("data.status", "up", key="data.check"),
        ),
        "opsgenie": _make(
            "opsgenie",
            opsgenie,
            [_is_in("action", "Create")],
            _revert_when("action", "Close", key="alert.alertId"),
        ),
        "aws-sns": _make(
            "aws-sns",
            aws_sns,
            [_is_in("Message.NewStateValue", "ALARM")],
            _revert_when("Message.NewStateValue", "OK", key="Message.AlarmArn"),
        ),
        "cloudevents": _make(
            "cloudevents",
            cloudevents,
            [_is_in("type", "org.example.check.failed")],
            _revert_when("type", "org.example.check.passed", key="subject"),
        ),
        "kubernetes": _make(
            "kubernetes",
            kubernetes,
            [
                _is_in("type", "Warning"),
                _is_in("reason", "BackOff", "Failed", "Unhealthy", "Evicted", "FailedScheduling"),
            ],
            ActionSetOptions(restoreAfterMinutes=60),
        ),
        "generic": _make(
            "generic",
            generic,
            [_is_in("data.status", "firing")],
            _revert_when("data.status", "resolved", key="data.key"),
        ),
        "silence": ActionSetTemplate(
            _SILENCE,
            [_is_in("type", "silence"), _is_in("status", "firing")],
            _revert_when("status", "resolved", key="data.key"),
            silence.FIRING,
            silence.RESOLVED,
            silence.SETUP,
        ),
    }
)
