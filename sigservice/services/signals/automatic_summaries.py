"""Summaries of signals whose endpoint has none: the members that matter of common senders, else the
type, the title and the first values of the payload."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from sigservice.services.signals.known_members import (
    Path,
    find_members,
    find_scalars,
    list_roots,
    split_paths,
)
from sigservice.services.signals.payload_paths import walk_payload

MAX_FIELDS = 4
MAX_VISITED = 200
LabeledValues = tuple[str, list[Any]]


class _Sender(NamedTuple):
    """A sender, recognized by `member` in an object or, at the top level, by `data.member`. Each
    field has the value of its first path that is present."""

    member: str
    fields: tuple[tuple[str, tuple[Path, ...]], ...]


def _describe(member: str, **fields: str) -> _Sender:
    """Makes a sender; `fields` have paths separated by spaces."""
    return _Sender(
        member,
        tuple((name.capitalize(), split_paths(*paths.split())) for name, paths in fields.items()),
    )


_SENDERS = (
    _describe(  # Alertmanager, Grafana
        "commonLabels",
        alert="commonLabels.alertname alerts.*.labels.alertname title",
        summary="commonAnnotations.summary commonAnnotations.description "
        "alerts.*.annotations.summary alerts.*.annotations.description message",
    ),
    _describe(  # PagerDuty
        "event",
        event="event.event_type",
        title="event.data.title event.data.summary event.title",
        service="event.data.service.summary",
    ),
    _describe(  # Sentry
        "issue",
        action="action",
        issue="issue.title",
        repository="repository.full_name repository",
        project="issue.project.slug project.path_with_namespace",
    ),
    _describe(
        "metric_alert", alert="description_title metric_alert.title", text="description_text"
    ),
    _describe(  # GitHub Actions
        "workflow_run",
        workflow="workflow_run.name",
        conclusion="workflow_run.conclusion workflow_run.status",
        branch="workflow_run.head_branch",
        repository="repository.full_name repository",
    ),
    _describe(  # GitHub
        "repository",
        repository="repository.full_name repository.name repository",
        action="action",
        title="pull_request.title release.name release.tag_name check_run.name deployment.task "
        "head_commit.message",
        ref="ref",
    ),
    _describe(  # GitLab
        "object_kind",
        event="object_kind",
        project="project.path_with_namespace project.name",
        title="object_attributes.title object_attributes.name build_name",
        status="object_attributes.status object_attributes.detailed_status build_status",
    ),
    _describe("alert", alert="alert.message alert.title", action="action", source="alert.source"),
    _describe("heartbeat", monitor="monitor.name", message="heartbeat.msg msg"),  # Uptime Kuma
    _describe(  # Kubernetes
        "involvedObject",
        reason="reason",
        kind="involvedObject.kind",
        object="involvedObject.name",
        message="message",
    ),
    _describe("specversion", type="type", source="source", subject="subject"),  # CloudEvents
    _describe("rule", alert="rule", reason="reason"),  # an alert rule of this service
    _describe("TopicArn", subject="Subject", message="Message", topic="TopicArn"),  # AWS SNS
)
_TITLES = split_paths(
    "title", "summary", "subject", "message", "msg", "text", "name", "description", "reason"
)
_TYPE: Path = ("type",)
MIN_FIELDS = 2  # fewer members of a known sender say too little


def summarize_payload(payload: Any, *, names_only: bool = False) -> list[LabeledValues]:
    """At most MAX_FIELDS values with labels; the payload itself if it has no values. With
    `names_only`, an unknown sender's payload has only its titles, which can be none."""
    if fields := _summarize_known(payload):
        return fields
    fields = list(islice(_summarize_unknown(payload), MAX_FIELDS))
    if names_only:
        return [field for field in fields if (field[0],) in _TITLES]
    return fields or [("", ["null" if payload is None else payload])]


def _summarize_known(payload: Any) -> list[LabeledValues]:
    for root in list_roots(payload):
        for sender in _SENDERS:
            if sender.member in root:
                fields = [
                    (label, values)
                    for label, paths in sender.fields
                    if (values := next(find_members(root, paths), []))
                ]
                if len(fields) >= MIN_FIELDS:
                    return fields[:MAX_FIELDS]
    return []


def _summarize_unknown(payload: Any) -> Iterator[LabeledValues]:
    """The type, a title, then the first values of the payload, or of its `data` if it has a
    type."""
    roots, names = list_roots(payload), set()
    if roots and (types := find_scalars(roots[0], _TYPE)):
        names.add("type")
        yield "type", types
    for root in reversed(roots):
        title = next(
            (path for path in _TITLES if path[0] in root and find_scalars(root, path)), None
        )
        if title:
            names.add(title[0])
            yield title[0], find_scalars(root, title)
            break
    inner = roots[-1] if names else payload
    for path, value in islice(walk_payload(inner), MAX_VISITED):
        is_value = not isinstance(value, dict | list) and value not in (None, "")
        if path and is_value and path not in names:
            yield path, [value]
