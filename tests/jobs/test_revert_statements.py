"""How many statements a revert takes."""

from __future__ import annotations

import pytest

from tests.reverting_kit import Both
from tests.statement_counter import count_statements


@pytest.fixture
def alerts(service, web, make):
    return Both(service, web, make)


def test_a_revert_by_an_alert_that_resolves_takes_few_statements(alerts, monkeypatch):
    alerts.restoring()
    alerts.fire()
    alerts.work()
    alerts.end()
    assert count_statements(monkeypatch, alerts.work) == 14
    assert alerts.is_on()
