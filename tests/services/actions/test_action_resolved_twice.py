"""Alerts that are resolved besides a manual change, an undo or a timer: the first one reverts."""

from __future__ import annotations

import pytest

from tests.actions_kit import SETS
from tests.conftest import ADMIN
from tests.reverting_kit import Both


@pytest.fixture
def alerts(service, web, make):
    return Both(service, web, make)


def test_what_somebody_changed_by_hand_stays(alerts):
    alerts.flag("search")
    off = {"environment": "production"}
    alerts.restoring(
        acts=[
            {"action": "TOGGLE_FEATURE_OFF", "executionParams": off | {"featureName": name}}
            for name in ("checkout", "search")
        ]
    )
    alerts.fire()
    alerts.work()
    alerts.switch("search", "on")
    alerts.end()
    alerts.work()
    assert (alerts.is_on("checkout"), alerts.is_on("search")) == (True, True)
    text = "Reverted 1 of 2 changes. search in production was changed since."
    assert alerts.history()[-1] == ("resolved", "success", text)


def test_after_an_undo_there_is_nothing_to_restore(alerts):
    alerts.restoring()
    alerts.fire()
    alerts.work()
    alerts.undo(alerts.runs(alerts.id)[0])
    alerts.work()
    alerts.switch("checkout", "off")
    signal = alerts.end()
    alerts.work()
    assert not alerts.is_on()
    assert alerts.find_result(signal) == "nothing to revert"


def test_undone_and_over_at_once(alerts):
    """Whoever comes second finds it done, and says so."""
    alerts.restoring()
    alerts.fire()
    alerts.work()
    (run,) = alerts.runs(alerts.id)
    alerts.undo(run)
    alerts.undo(run)
    alerts.end()
    alerts.work()
    assert alerts.is_on()
    assert [text for _, _, text in alerts.history()][1:] == [
        "Reverted 1 of 1 change.",
        "It was already reverted.",
        "There was nothing to revert.",
    ]


def test_the_timer_comes_first(alerts):
    alerts.restoring(restoreAfterMinutes=30)
    alerts.fire()
    alerts.work()
    assert alerts.runs(alerts.id)[0]["restoreDueAt"]
    alerts.clock.advance(3600)
    alerts.work()
    assert alerts.is_on()
    signal = alerts.end()
    alerts.work()
    assert alerts.find_result(signal) == "nothing to revert"
    assert [cause for cause, _, _ in alerts.history()] == ["signal", "timer"]


def test_the_end_of_the_alert_comes_first(alerts):
    alerts.restoring(restoreAfterMinutes=30)
    alerts.fire()
    alerts.end()
    alerts.work()
    assert alerts.is_on()
    assert alerts.runs(alerts.id)[-1]["restoreDueAt"] is None
    alerts.clock.advance(3600)
    assert alerts.work() == 0


def test_cancelled_and_then_over(alerts):
    alerts.restoring(restoreAfterMinutes=30)
    alerts.fire()
    alerts.work()
    (run,) = alerts.runs(alerts.id)
    cancel = f"{SETS}/{alerts.id}/events/{run['id']}/cancel-restore"
    alerts.web.post(cancel, headers=ADMIN)
    alerts.web.post(cancel, headers=ADMIN, status=409)
    alerts.clock.advance(3600)
    assert alerts.work() == 0
    assert not alerts.is_on()
    alerts.end()
    alerts.work()
    assert alerts.is_on()
