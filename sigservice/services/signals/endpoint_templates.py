"""Templates of signal endpoints: the options that fit well-known senders.

Limits: senders report many alerts in one second, and most of them give up on a 429. They may send
10 signals per second and 100 at once; above, those that retry a 5xx get a 503.

Idempotency: only an identity that the sender repeats in its retries and in nothing else. Headers
(Idempotency-Key, webhook-id, X-GitHub-Delivery) need no option. Alertmanager and Grafana have
none: the group key and the status are the same when an alert repeats after repeat_interval, which
is a new notification. Opsgenie, Sentry and Uptime Kuma have none either.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sigservice.errors import BadDataError
from sigservice.services.signals.endpoint_options import (
    EndpointOptions,
    Idempotency,
    RateLimit,
    SummaryField,
)
from sigservice.services.signals.signature_schemes import SignatureSettings


@dataclass(frozen=True)
class EndpointTemplate:
    """`credentials` says how the sender authenticates, in one sentence; `signature` are the
    settings of a signature token, None if the sender doesn't sign; `page` is its recipe in
    docs/senders."""

    title: str
    page: str
    credentials: str
    options: EndpointOptions
    signature: SignatureSettings | None = None


BEARER = "The sender has the token in the header Authorization: Bearer."
_SIGNED = "The sender signs with a secret: create a signature token."


_LIMIT_503 = RateLimit(perSecond=10, burst=100, status=503)  # for senders that retry a 5xx
_LIMIT_429 = RateLimit(perSecond=10, burst=100, status=429)


def _summary(**paths: str) -> list[SummaryField]:
    """The label of each path is the name of the argument."""
    return [SummaryField(label=name.capitalize(), path=path) for name, path in paths.items()]


_ALERT_GROUPS = EndpointOptions(
    rateLimit=_LIMIT_503,
    summary=_summary(
        alert="alerts[*].labels.alertname",
        summary="alerts[*].annotations.summary",
        service="commonLabels.service",
    ),
)

TEMPLATES: Mapping[str, EndpointTemplate] = MappingProxyType(
    {
        "alertmanager": EndpointTemplate(
            "Prometheus Alertmanager", "alertmanager.md", BEARER, _ALERT_GROUPS
        ),
        "grafana": EndpointTemplate(
            "Grafana Alerting",
            "grafana.md",
            f"{BEARER} Or it signs with a secret: create a signature token.",
            _ALERT_GROUPS,
            SignatureSettings("grafana", timestampHeader="X-Grafana-Alerting-Timestamp"),
        ),
        "datadog": EndpointTemplate(
            "Datadog monitors",
            "datadog.md",
            BEARER,
            EndpointOptions(
                rateLimit=_LIMIT_503,
                idempotency=Idempotency(paths=["data.id"]),
                summary=_summary(title="data.title", scope="data.scope"),
            ),
        ),
        "sentry": EndpointTemplate(
            "Sentry issues",
            "sentry.md",
            _SIGNED,
            EndpointOptions(
                rateLimit=_LIMIT_429,
                summary=_summary(
                    action="action",
                    issue="data.issue.title",
                    alert="data.description_title",
                    project="data.issue.project.slug",
                ),
            ),
            SignatureSettings("sentry"),
        ),
        "pagerduty": EndpointTemplate(
            "PagerDuty incidents",
            "pagerduty.md",
            _SIGNED,
            EndpointOptions(
                rateLimit=_LIMIT_503,
                idempotency=Idempotency(paths=["event.id"]),
                summary=_summary(
                    event="event.event_type",
                    title="event.data.title",
                    service="event.data.service.summary",
                ),
            ),
            SignatureSettings("pagerduty"),
        ),
        "github": EndpointTemplate(
            "GitHub Actions workflows",
            "github-actions.md",
            BEARER,
            EndpointOptions(
                rateLimit=_LIMIT_503,
                summary=_summary(
                    workflow="data.workflow_run.name",
                    conclusion="data.workflow_run.conclusion",
                    repository="data.repository",
                    branch="data.workflow_run.head_branch",
                ),
            ),
        ),
        "github-webhooks": EndpointTemplate(
            "GitHub webhooks",
            "github-webhooks.md",
            _SIGNED,
            EndpointOptions(
                rateLimit=_LIMIT_429,
                summary=_summary(
                    repository="repository.full_name",
                    action="action",
                    workflow="workflow_run.name",
                    conclusion="workflow_run.conclusion",
                    branch="workflow_run.head_branch",
                ),
            ),
            SignatureSettings("github"),
        ),
        "gitlab": EndpointTemplate(
            "GitLab pipelines",
            "gitlab.md",
            "The sender has the token in the header X-Gitlab-Token.",
            EndpointOptions(
                rateLimit=_LIMIT_429,
                summary=_summary(
                    event="object_kind",
                    project="project.path_with_namespace",
                    status="object_attributes.status",
                    ref="object_attributes.ref",
                ),
            ),
        ),
        "uptime-kuma": EndpointTemplate(
            "Uptime Kuma",
            "uptime-kuma.md",
            BEARER,
            EndpointOptions(
                rateLimit=_LIMIT_429,
                summary=_summary(monitor="monitor.name", message="heartbeat.msg"),
            ),
        ),
        "healthchecks": EndpointTemplate(
            "Healthchecks.io",
            "healthchecks.md",
            BEARER,
            EndpointOptions(
                rateLimit=_LIMIT_503,
                idempotency=Idempotency(paths=["data.check", "data.status", "data.time"]),
                summary=_summary(check="data.name", tags="data.tags"),
            ),
        ),
        "opsgenie": EndpointTemplate(
            "Opsgenie, Jira Service Management",
            "opsgenie.md",
            BEARER,
            EndpointOptions(
                rateLimit=_LIMIT_503,
                summary=_summary(alert="alert.message", action="action", alias="alert.alias"),
            ),
        ),
        "aws-sns": EndpointTemplate(
            "AWS SNS (CloudWatch alarms)",
            "aws-sns.md",
            "The sender signs with a certificate of AWS: create a signature token.",
            EndpointOptions(
                rateLimit=_LIMIT_503,
                idempotency=Idempotency(paths=["MessageId"]),
                summary=_summary(
                    alarm="Message.AlarmName", reason="Message.NewStateReason", subject="Subject"
                ),
                statusPath="Message.NewStateValue",
            ),
            SignatureSettings("aws-sns"),
        ),
        "cloudevents": EndpointTemplate(
            "CloudEvents",
            "cloudevents.md",
            BEARER,
            EndpointOptions(
                rateLimit=_LIMIT_503,
                idempotency=Idempotency(paths=["source", "id"]),
                summary=_summary(type="type", subject="subject", source="source"),
            ),
        ),
        "kubernetes": EndpointTemplate(
            "Kubernetes events",
            "kubernetes.md",
            BEARER,
            EndpointOptions(
                rateLimit=_LIMIT_503,
                idempotency=Idempotency(paths=["metadata.uid", "metadata.resourceVersion"]),
                summary=_summary(
                    reason="reason",
                    kind="involvedObject.kind",
                    object="involvedObject.name",
                    namespace="involvedObject.namespace",
                    message="message",
                ),
            ),
        ),
        "generic": EndpointTemplate(
            "Scripts and CI",
            "generic.md",
            BEARER,
            EndpointOptions(
                rateLimit=_LIMIT_429, summary=_summary(title="data.title", key="data.key")
            ),
        ),
    }
)


def find_options(name: str) -> EndpointOptions:
    """The options of a template. Raises BadDataError for an unknown name."""
    template = TEMPLATES.get(name)
    if template is None:
        raise BadDataError(f"The template must be one of {', '.join(TEMPLATES)}.", path="template")
    return template.options
