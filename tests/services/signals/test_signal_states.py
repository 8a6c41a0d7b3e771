"""Status and severity: recognised in the bodies of common senders, or read at configured paths."""

from __future__ import annotations

from sigservice.services.signals.endpoint_options import EndpointOptions
from sigservice.services.signals.signal_states import recognize_severity, recognize_status
from sigservice.services.signals.signal_summaries import Summarizer
from tests.table_tests import each

OTHERS = [
    ({"status": "acknowledged"}, "pending", ""),
    ({"state": "alerting", "labels": {"severity": "page"}}, "firing", "critical"),
    ({"alerts": [{"status": "resolved"}, {"status": "firing"}]}, "firing", ""),
    ({"alerts": [{"labels": {"severity": s}} for s in ("info", "warning")]}, "", "warning"),
    ({"data": {"transition": "No Data", "level": "Warning"}}, "firing", "warning"),
    ({"workflow_run": {"conclusion": None, "status": "in_progress"}}, "pending", ""),
    ({"action": "completed", "workflow_run": {"conclusion": "cancelled"}}, "", ""),
    ({"action": "opened", "issue": {"title": "Bug"}}, "", ""),
    ({"action": "critical", "data": {"metric_alert": {}}}, "firing", "critical"),
    ({"action": "Close", "alert": {"priority": "P3"}}, "resolved", "warning"),
    ({"object_kind": "pipeline", "object_attributes": {"status": "failed"}}, "firing", ""),
    ({"heartbeat": {"status": 0}}, "firing", ""),
    ({"heartbeat": {"status": 1}}, "resolved", ""),
    ({"involvedObject": {}, "type": "Warning"}, "", "warning"),
    ({"type": "Warning"}, "", ""),
    ({"NewStateValue": "ALARM"}, "firing", ""),
    ({"status": 500, "severity": 3}, "", ""),
    ({"status": {"code": "down"}, "severity": ["critical"]}, "", ""),
    ({"status": "x" * 1000}, "", ""),
    ({"status": "all quiet", "state": "OK"}, "resolved", ""),
    ("firing", "", ""),
    (None, "", ""),
]


@each("row", OTHERS)
def test_status_and_severity_are_recognized(row):
    payload, status, severity = row
    assert (recognize_status(payload), recognize_severity(payload)) == (status, severity)


def test_paths_of_the_endpoint_replace_the_recognition():
    options = EndpointOptions(statusPath="checks[*].result", severityPath="prio")
    payload = {
        "status": "firing",
        "severity": "critical",
        "checks": [{"result": "passed"}, {"result": "waiting"}],
        "prio": "Major",
    }
    summary = Summarizer(options).summarize(payload)
    assert (summary.status, summary.severity) == ("pending", "error")
    summary = Summarizer(options).summarize({"status": "firing", "severity": "critical"})
    assert (summary.status, summary.severity) == ("", "")
