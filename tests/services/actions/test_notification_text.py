"""What people read of a run."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from sigservice.services.actions.notification_text import build_payload, render_text

AT = datetime(2026, 1, 2, 3, 4, 5, 678000, UTC)


def act(details="Disabled a in production.", state="success", flags=("a",)):
    changes = [{"what": "state", "feature": f, "environment": "production"} for f in flags]
    return {"action": "X", "state": state, "details": details, "changes": changes}


def run(*actions, name="kill", **more):
    copy = {"name": name, "actions": list(actions or [act()])}
    row = {"id": 7, "action_set_id": 3, "project": "default", "cause": "signal"}
    row |= {"signal_id": 12, "restores_run_id": None, "restore_due_at": None, "state": "success"}
    row |= {"reason": None, "dry_run": False, "created_at": AT, "finished_at": AT}
    return row | {"action_set": json.dumps(copy)} | more


def test_what_it_did_with_links():
    text = render_text(run(restore_due_at=AT), "https://f.example/base")
    assert text.title == "Action set kill ran"
    assert text.body.splitlines() == [
        "Project default, signal 12.",
        "* Disabled a in production.",
        "Auto-revert at 2026-01-02T03:04:05.678Z.",
        "a: https://f.example/base/admin/features/a",
        "Run: https://f.example/base/admin/projects/default/actions/3/runs/7",
    ]
    assert text.severity == "success"


def test_a_run_of_a_schedule_says_so():
    row = run(signal_id=None, reason="12 min late: it was due at 2026-01-02T02:52:05.000Z.")
    text = render_text(row, "")
    assert text.title == "Action set kill ran"
    assert text.body.splitlines()[:2] == ["Project default, by its schedule.", row["reason"]]
    assert build_payload(row, "")["data"]["cause"] == "schedule"


def test_the_key_of_another_alert_is_left_out():
    row = run(state="suppressed", reason="Another alert of this set still fires: {}:{job='pay'}")
    assert build_payload(row, "")["data"]["reason"] == "Another alert of this set still fires."
    assert "pay" not in render_text(row, "").body


def test_without_a_public_address_there_are_no_links():
    assert "http" not in render_text(run(), "").body
    data = build_payload(run(), "")["data"]
    assert data["url"] is None
    assert data["flags"] == [{"name": "a", "environment": "production", "url": None}]


def test_flags_are_not_without_end():
    body = render_text(run(act(flags=[f"f{n}" for n in range(13)])), "https://f.example").body
    assert "f9: https" in body
    assert "f10:" not in body
    assert "and 3 more flags" in body


@pytest.mark.parametrize(
    ("more", "title", "severity"),
    [
        ({"state": "failed"}, "Action set kill failed", "failure"),
        ({"state": "suppressed"}, "Action set kill did not run", "warning"),
        ({"dry_run": True}, "Action set kill ran (dry run: nothing was changed)", "info"),
        ({"cause": "undo"}, "Action set kill reverted its changes", "success"),
        ({"cause": "timer", "state": "failed"}, "Action set kill failed to revert", "failure"),
        (
            {"cause": "resolved", "state": "suppressed"},
            "Action set kill keeps its changes",
            "warning",
        ),
    ],
)
def test_titles(more, title, severity):
    text = render_text(run(**more), "")
    assert (text.title, text.severity) == (title, severity)
    assert build_payload(run(**more), "")["type"] == f"action.run.{more.get('state', 'success')}"


@pytest.mark.parametrize(
    ("cause", "signal_id", "says"),
    [
        ("resolved", 13, "Project default, after an alert resolved, signal 13."),
        ("timer", None, "Project default, after the configured time."),
        ("undo", None, "Project default, because a user undid the run."),
    ],
)
def test_why(cause, signal_id, says):
    body = render_text(run(cause=cause, signal_id=signal_id), "").body
    assert body.splitlines()[0] == says


def test_failures_reasons_and_what_was_not_begun():
    failed, waiting = act("No flag b.", "failed", ()), act(None, "not started", ())
    assert render_text(run(failed, waiting), "").body.splitlines()[1:] == ["* failed: No flag b."]
    suppressed = run(
        act(None, "not started", ()), state="suppressed", reason="It runs once and has run."
    )
    assert render_text(suppressed, "").body.splitlines()[1:] == ["It runs once and has run."]


def test_a_name_makes_no_lines_of_its_own():
    text = render_text(run(act("a\nb"), name="x\ny"), "")
    assert text.title == r"Action set x\ny ran"
    assert r"* a\nb" in text.body.splitlines()


def test_names_are_quoted_in_links():
    urls = render_text(run(act(flags=["a/../b"]), project="p"), "https://f.example").body
    assert "/admin/features/a%2F..%2Fb" in urls
