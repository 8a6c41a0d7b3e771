"""Summary, status and severity of signals on the pages that list them."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN

ALERT = {
    "status": "firing",
    "commonLabels": {"alertname": "Latency", "severity": "warning"},
    "commonAnnotations": {"summary": "Slow <b>shop</b>"},
}


@pytest.fixture
def alert(endpoint, token, send):
    return send(endpoint, token, ALERT)


def read_line(tag):
    return " ".join(tag.find(class_="preview").get_text().split())


def read_badges(tag):
    return [badge.get_text().strip() for badge in tag.find_all(class_="tag")]


def test_the_log_shows_the_summary_instead_of_json(ada, endpoint, alert):
    page = ada.get(f"/admin/signals/{endpoint['id']}/log")
    row = page.html.find("main").find(class_="preview").parent
    assert read_line(row) == "Alert: Latency Summary: Slow <b>shop</b>"
    assert read_badges(row) == ["ci", "firing", "warning"]


def test_page_of_a_signal_shows_each_field(ada, endpoint, alert):
    page = ada.get(f"/admin/signals/{endpoint['id']}/log/{alert['id']}")
    fields = {
        row.dt.get_text(): " ".join(row.dd.get_text().split())
        for row in page.html.dl.find_all("div")
    }
    assert fields["Status"] == "firing warning"
    assert (fields["Alert"], fields["Summary"]) == ("Latency", "Slow <b>shop</b>")


def test_choice_of_a_signal_for_a_test_is_its_summary(ada, sets, alert):
    set_id = sets.set()
    page = ada.get(f"/admin/projects/default/actions/{set_id}/test")
    choice = page.html.find("option", value=str(alert["id"])).get_text().strip()
    assert choice.endswith(", firing, warning, Alert: Latency · Summary: Slow <b>shop</b>")


def test_log_uses_the_summary_of_the_endpoint(ada, web, endpoint, alert):
    options = {"summary": [{"label": "Which", "path": "commonLabels.alertname"}]}
    body = {"name": endpoint["name"], "options": options}
    web.put_json(f"/api/admin/signal-endpoints/{endpoint['id']}", body, headers=ADMIN)
    page = ada.get(f"/admin/signals/{endpoint['id']}/log")
    assert read_line(page.html.find("ol", class_="log")) == "Which: Latency"
