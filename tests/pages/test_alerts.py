"""The page of alerts: what fires, what has resolved, and what each alert switched."""

# ruff: noqa: F811
from __future__ import annotations

import pytest

from tests.conftest import sign_in_by_json
from tests.jobs.rules_kit import Rules
from tests.pages.actions import Actions
from tests.pages.flags import Flags
from tests.pages.page_reader import read_table
from tests.pages.test_action_runs import firing  # noqa: F401
from tests.routes.sdk import Sdk

PATH = "/admin/alerts"


def read_row(page, table, name):
    cells = read_table(page, f"{table}-table")[name]
    return {label: " ".join(cell.get_text(" ").split()) for label, cell in cells.items()}


def test_an_alert_that_fires_says_what_it_switched(ada, firing):
    row = read_row(ada.get(PATH), "firing", "✕ CheckoutErrors")
    assert (row["From"], row["What it did"]) == ("deploys", "turned off checkout")
    assert row["Firing"].startswith("for ")
    assert row["See"].startswith("signal")


def test_a_viewer_reads_neither_the_name_of_an_alert_nor_its_signal(vera, firing):
    row = read_row(vera.get(PATH), "firing", "✕ an alert of deploys")
    assert (row["Severity"], row["See"]) == ("–", "–")


def test_an_alert_that_has_resolved_stays_for_seven_days(
    ada, service, clock, send, endpoint, token, sets, firing
):
    clock.advance(480)
    send(endpoint, token, {"alertname": "CheckoutErrors", "status": "resolved", "id": "cpu"})
    sets.work()
    page = ada.get(PATH)
    assert "Nothing is firing." in page.text
    row = read_row(page, "resolved", "✓ CheckoutErrors")
    assert row["What it did"] == "checkout off and back"
    clock.advance(7 * 86_400)
    assert "No alerts." in sign_in_by_json(service, "ada").get(PATH).text


@pytest.fixture
def rules(make_service, database, clock):
    rules = Rules(Sdk(make_service, database), clock)
    rules.create()
    rules.minute(errors=9, requests=100)
    return rules


def test_a_rule_without_an_automation_offers_to_protect_a_flag(rules):
    page = sign_in_by_json(rules.sdk.service, "ada").get(PATH)
    row = read_row(page, "firing", "✕ checkout-errors")
    assert (row["From"], row["What it did"]) == ("rule: 9% of 5%", "no automation")
    assert row["See"].startswith("Protect a flag")


def test_a_rule_and_what_it_switched_are_one_row(rules):
    sets = Actions(rules.sdk.service, rules.web, Flags(rules.web), rules.endpoint)
    resolved = {"path": "status", "values": ["resolved"], "key": "data.key"}
    sets.set(options={"restoreWhenResolved": resolved})
    rules.minute(errors=0, requests=1000)
    for _ in range(6):
        rules.minute(errors=0, requests=1000)
    for _ in range(6):
        rules.minute(errors=90, requests=1000)
    sets.work()
    table = read_table(sign_in_by_json(rules.sdk.service, "ada").get(PATH), "firing-table")
    assert [*table] == ["✕ checkout-errors"]
    assert table["✕ checkout-errors"]["What it did"].bdi.get_text() == "turned off checkout"
