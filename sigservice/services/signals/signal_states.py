"""The status and the severity of a signal, recognised in the words of common senders."""

from collections.abc import Mapping, Sequence
from typing import Any

from sigservice.services.signals.known_members import (
    Path,
    find_members,
    find_scalars,
    list_roots,
    split_paths,
)

# The first one that a payload has wins: a signal about ten alerts is as bad as the worst.
STATUSES = ("firing", "pending", "resolved")
SEVERITIES = ("critical", "error", "warning", "info")
MAX_WORD_LENGTH = 40
MAX_VALUES = 1000

_STATUS_WORDS = {
    "firing": "firing alerting alert alarm triggered re-triggered retriggered trigger problem open "
    "opened reopened active unresolved failing failed failure error down unhealthy degraded "
    "timed_out no_data critical warning warn late incident.triggered incident.reopened",
    "pending": "pending acknowledged queued waiting requested running started in_progress "
    "investigating incident.acknowledged insufficient_data",
    "resolved": "resolved ok recovered recovery closed success succeeded successful passed fixed "
    "up healthy normal inactive resolve incident.resolved",
}
_SEVERITY_WORDS = {
    "critical": "critical crit fatal emergency emerg panic disaster blocker page highest "
    "p0 p1 sev0 sev1 sev-0 sev-1",
    "error": "error err high major failure p2 sev2 sev-2",
    "warning": "warning warn medium moderate average minor p3 sev3 sev-3",
    "info": "info information informational notice debug trace low lowest trivial ok success "
    "normal p4 p5 sev4 sev5 sev-4 sev-5",
}


def _map_words(table: Mapping[str, str]) -> dict[str, str]:
    return {word: name for name, words in table.items() for word in words.split()}


_STATUS_BY_WORD = _map_words(_STATUS_WORDS)
_SEVERITY_BY_WORD = _map_words(_SEVERITY_WORDS)
# The verbs of Sentry (alerts) and Opsgenie. Other systems, such as GitHub, have other verbs here.
_STATUS_BY_ACTION = {
    "triggered": "firing",
    "critical": "firing",
    "warning": "firing",
    "create": "firing",
    "acknowledge": "pending",
    "resolved": "resolved",
    "close": "resolved",
}
_SEVERITY_BY_ACTION = {"critical": "critical", "warning": "warning"}
_ACTION: Path = ("action",)
# The end of a run says more than that it is completed, an event more than the state of its object.
_STATUS_PATHS = split_paths(
    "event.event_type",
    "event.data.status",
    "transition",
    "workflow_run.conclusion",
    "workflow_job.conclusion",
    "check_run.conclusion",
    "check_suite.conclusion",
    "conclusion",
    "workflow_run.status",
    "workflow_job.status",
    "check_run.status",
    "deployment_status.state",
    "object_attributes.status",
    "issue.status",
    "NewStateValue",
    "status",
    "state",
    "alert_status",
    "alert.status",
    "incident.status",
    "incident.state",
    "alerts.*.status",
)
_SEVERITY_PATHS = split_paths(
    "commonLabels.severity",
    "labels.severity",
    "severity",
    "level",
    "issue.level",
    "event.level",
    "event.data.priority.summary",
    "event.data.urgency",
    "alert.priority",
    "alert.severity",
    "incident.severity",
    "priority",
    "urgency",
    "alert_type",
    "log.level",
    "alerts.*.labels.severity",
)
_KUMA_STATUS: Path = ("heartbeat", "status")
_STATUS_OF_KUMA = {0: "firing", 1: "resolved", 2: "pending"}


def recognize_status(payload: Any) -> str:
    """firing, pending or resolved; "" if nothing says so."""
    roots = list_roots(payload)
    for root in roots:
        for values in find_members(root, _STATUS_PATHS):
            if status := classify_status(values):
                return status
    for root in roots:
        for value in find_scalars(root, _KUMA_STATUS):
            if isinstance(value, int) and value in _STATUS_OF_KUMA:
                return _STATUS_OF_KUMA[value]
        if status := _find_first(STATUSES, find_scalars(root, _ACTION), _STATUS_BY_ACTION):
            return status
    return ""


def recognize_severity(payload: Any) -> str:
    """critical, error, warning or info; "" if nothing says so."""
    roots = list_roots(payload)
    for root in roots:
        for values in find_members(root, _SEVERITY_PATHS):
            if severity := classify_severity(values):
                return severity
    for root in roots:
        if "involvedObject" in root and (severity := classify_severity([root.get("type")])):
            return severity  # an event of Kubernetes: Normal or Warning
        if severity := _find_first(SEVERITIES, find_scalars(root, _ACTION), _SEVERITY_BY_ACTION):
            return severity
    return ""


def classify_status(values: Sequence[Any]) -> str:
    """The status that the words say: firing before pending before resolved, "" for others."""
    return _find_first(STATUSES, values, _STATUS_BY_WORD)


def classify_severity(values: Sequence[Any]) -> str:
    """The worst severity that the words say, "" for others."""
    return _find_first(SEVERITIES, values, _SEVERITY_BY_WORD)


def _find_first(order: Sequence[str], values: Sequence[Any], by_word: Mapping[str, str]) -> str:
    texts = {value for value in values[:MAX_VALUES] if isinstance(value, str)}
    names = {by_word.get(_to_word(text), "") for text in texts}
    return next((name for name in order if name in names), "")


def _to_word(text: str) -> str:
    return text.strip().lower().replace(" ", "_") if len(text) <= MAX_WORD_LENGTH else ""
