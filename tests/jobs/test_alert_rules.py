"""Alert rules: values, states and the signals of their changes."""

from __future__ import annotations

import threading

import pytest

from sigservice.jobs import alert_rules as job
from sigservice.services.rules import rule_evaluation
from tests.actions_kit import Alerts
from tests.conftest import ADMIN, Make
from tests.jobs.rules_kit import PATH, RATIO, Rules
from tests.routes.sdk import AUTHENTICATION, FRONTEND, Sdk
from tests.waiting import DEADLINE_SECONDS

GAUGE = {"kind": "impactMetric", "metric": "queue", "measure": "average"}
GAUGE |= {"environment": "development"}
RATE = RATIO | {"measure": "rate", "per": None}
HISTOGRAM = GAUGE | {"metric": "latency"}


@pytest.fixture
def rules(make_service, database, clock):
    return Rules(Sdk(make_service, database), clock)


def gauge(*values):
    return [{"name": "queue", "type": "gauge", "samples": [{"value": v} for v in values]}]


def histogram(count, total, *pairs):
    buckets = [{"le": le, "count": n} for le, n in (*pairs, ("+Inf", count))]
    sample = {"count": count, "sum": total, "buckets": buckets}
    return [{"name": "latency", "type": "histogram", "samples": [sample]}]


def test_a_rule_fires_and_is_resolved(rules):
    rule = rules.create()
    rules.minute(errors=1, requests=100)
    assert rules.state(rule) == "ok"
    rules.minute(errors=29, requests=100)
    assert rules.state(rule) == "firing"
    for _ in range(5):
        rules.minute(errors=0.5, requests=100)
    assert rules.state(rule) == "ok"
    firing, resolved = rules.signals()
    assert (firing["type"], firing["status"], resolved["status"]) == (
        "alert-rule",
        "firing",
        "resolved",
    )
    data = firing["data"]
    assert (data["key"], data["rule"]) == ("alert-rule/checkout-errors", "checkout-errors")
    assert (data["value"], data["limit"], data["samples"]) == (0.15, 0.05, 200)
    assert data["reason"] == (
        "errors per requests was 0.15 (limit 0.05) over 5 minutes, 200 samples."
    )
    assert data["from"] < data["to"]
    assert resolved["data"]["key"] == data["key"]
    assert rules.list_events() == ["alert-rule-firing", "alert-rule-resolved"]
    path = "/api/admin/search/events?type=IS:alert-rule-firing"
    (event,) = rules.web.get(path, headers=ADMIN).json["events"]
    names = ("value", "limit", "samples", "from", "to", "reason")
    assert event["data"] == {name: data[name] for name in names} | {
        "ruleId": rule["id"],
        "ruleName": "checkout-errors",
        "source": "impactMetric",
        "url": f"/admin/alert-rules/{rule['id']}",
    }
    assert (event["project"], event["environment"]) == (None, "development")


def test_a_rule_that_ends_while_it_fires_is_resolved_and_one_without_a_value_is_unknown(
    rules, clock
):
    for end in ("disable", "delete"):
        rule = rules.create(name=end)
        rules.minute(errors=50, requests=100)
        if end == "disable":
            rules.web.post_json(f"{PATH}/{rule['id']}/disable", {}, headers=ADMIN)
        else:
            rules.web.delete(f"{PATH}/{rule['id']}", headers=ADMIN)
    rules.create(name="unknown", above=0.9)
    rules.minute(errors=1, requests=100)
    clock.advance(600)
    rules.look()
    assert rules.list_events() == [
        *["alert-rule-firing", "alert-rule-resolved"] * 2,
        "alert-rule-unknown",
    ]


def test_a_rule_has_its_state_and_value(rules, clock):
    rule = rules.create()
    assert (rule["state"], rule["value"], rule["evaluatedAt"]) == ("unknown", None, None)
    rules.minute(errors=30, requests=120)
    read = rules.read(rule)
    assert (read["state"], read["value"], read["samples"]) == ("firing", 0.25, 120)
    assert read["evaluatedAt"] == read["to"] > read["from"]
    assert (read["limit"], read["lastError"]) == (0.05, None)
    assert rules.web.get(PATH, headers=ADMIN).json == {"alertRules": [read]}


def test_the_first_value_is_ok_without_a_signal(rules):
    rule = rules.create(breaches=2)
    rules.minute(errors=30, requests=100)
    assert (rules.state(rule), rules.statuses()) == ("ok", [])
    rules.minute(errors=30, requests=100)
    assert (rules.state(rule), rules.statuses()) == ("firing", ["firing"])


def test_breaches_must_be_in_a_row_to_fire_and_to_resolve(rules):
    rule = rules.create(breaches=2, windowMinutes=1)
    for errors in (0, 30, 0, 30):
        rules.minute(errors=errors, requests=100)
    assert rules.state(rule) == "ok"
    for errors in (30, 0, 30, 0):
        rules.minute(errors=errors, requests=100)
    assert rules.state(rule) == "firing"
    rules.minute(errors=0, requests=100)
    assert rules.statuses() == ["firing", "resolved"]


def test_a_rule_is_evaluated_when_it_is_due(rules, clock):
    rule = rules.create(everySeconds=60)
    rules.minute(errors=1, requests=100)
    rules.report(errors=90, requests=100)
    clock.advance(30)
    rules.look()
    assert rules.state(rule) == "ok"
    clock.advance(30)
    rules.look()
    assert rules.state(rule) == "firing"


@pytest.mark.parametrize("hours", [0.5, 24])
def test_a_clock_that_was_set_back_delays_no_evaluation(rules, clock, hours):
    rule = rules.create()
    clock.step(hours * 3600)
    rules.look()
    clock.step(-hours * 3600)
    rules.report(errors=90, requests=100)
    rules.look()
    assert rules.state(rule) == "firing"


def test_no_reports_are_unknown_and_no_zero(rules):
    rule = rules.create(above=None, below=0.5)
    rules.minute()
    read = rules.read(rule)
    assert (read["state"], read["value"]) == ("unknown", None)
    assert read["reason"] == "No reports of requests in development in the last 5 minutes."
    assert rules.signals() == []


def test_too_few_samples_are_unknown(rules):
    rule = rules.create()
    rules.minute(errors=40, requests=49)
    read = rules.read(rule)
    assert (read["state"], read["reason"]) == ("unknown", "49 samples, fewer than 50.")


def test_an_absent_numerator_is_zero(rules):
    rule = rules.create()
    rules.minute(requests=100)
    assert (rules.state(rule), rules.read(rule)["value"]) == ("ok", 0)


def test_reports_older_than_five_minutes_are_unknown(rules, clock):
    rule = rules.create(windowMinutes=60)
    rules.minute(errors=1, requests=100)
    for _ in range(6):
        rules.minute()
    assert rules.state(rule) == "unknown"
    assert "too old" in rules.read(rule)["reason"]
    assert rules.statuses() == ["unknown"]


def test_a_firing_rule_without_reports_fires_for_its_window_then_is_unknown(rules):
    rule = rules.create(windowMinutes=2)
    rules.minute(errors=90, requests=100)
    for _ in range(3):
        rules.minute()
        assert rules.state(rule) == "firing"
    rules.minute()
    assert (rules.state(rule), rules.statuses()) == ("unknown", ["firing", "unknown"])
    rules.minute(requests=100)
    assert (rules.state(rule), rules.statuses()) == ("ok", ["firing", "unknown", "resolved"])


def test_unknown_is_resolved_only_if_the_rule_had_fired(rules):
    rule = rules.create(windowMinutes=1)
    rules.minute(requests=100)
    rules.minute()
    rules.minute(requests=100)
    assert (rules.state(rule), rules.statuses()) == ("ok", ["unknown"])


def test_a_late_report_counts_for_its_own_time(rules, clock):
    rule = rules.create()
    rules.minute(errors=1, requests=100)
    clock.advance(30)
    rules.report(ago=1200, errors=1000, requests=1000)
    rules.look()
    assert (rules.state(rule), rules.read(rule)["samples"]) == ("ok", 100)


def test_a_first_report_that_is_long_is_spread_over_the_last_ten_minutes(rules, clock):
    rule = rules.create(source=RATE, above=50.5, minSamples=1)
    rules.report(seconds=3000, errors=500)
    rules.look()
    read = rules.read(rule)
    assert (read["samples"], read["value"]) == (pytest.approx(250, 1e-3), 50)


def test_a_rate_is_by_the_time_that_reports_cover(rules):
    rule = rules.create(source=RATIO | {"measure": "rate", "per": None}, above=1000)
    rules.report(errors=120)
    rules.look()
    assert rules.read(rule)["value"] == 120


def test_the_average_of_a_gauge_is_of_all_its_samples(rules):
    rule = rules.create(source=GAUGE, above=2, minSamples=3)
    rules.send(gauge(1, 2))
    rules.send(gauge(6))
    rules.look()
    assert (rules.read(rule)["value"], rules.read(rule)["samples"]) == (3, 3)


def test_a_histogram_has_an_average_and_percentiles(rules, clock):
    rules.send(histogram(100, 40, (0.1, 50), (0.5, 90), (1, 100)))
    values = {}
    for measure in ("average", "p50", "p95", "p99"):
        rule = rules.create(name=measure, source=HISTOGRAM | {"measure": measure}, above=9)
        rules.look()
        values[measure] = rules.read(rule)["value"]
    assert values == {"average": 0.4, "p50": 0.1, "p95": 0.75, "p99": 0.95}


def test_a_percentile_above_all_buckets_is_never_ok_with_a_limit_there(rules):
    rules.send(histogram(100, 4000, (0.1, 0), (1, 10)))
    source = HISTOGRAM | {"measure": "p95"}
    results = {}
    for limit in (0.5, 1, 9):
        rule = rules.create(name=f"above-{limit}", source=source, above=limit)
        rules.look()
        read = rules.read(rule)
        results[limit] = read["state"], read["value"]
    assert results == {0.5: ("firing", 1), 1: ("unknown", None), 9: ("unknown", None)}
    assert "above the highest bucket (1)" in rules.read(rule)["reason"]


def test_labels_and_application_select_series(rules):
    samples = [{"value": 10, "labels": {"region": region}} for region in ("eu", "us")]
    rules.send([{"name": "errors", "type": "counter", "samples": samples}])
    source = RATIO | {"measure": "rate", "per": None}
    values = []
    for number, more in enumerate(
        ({}, {"labels": {"region": "eu"}}, {"appName": "shop"}, {"appName": "desk"})
    ):
        rule = rules.create(name=f"rule-{number}", source=source | more, above=99, minSamples=1)
        rules.look()
        values.append(rules.read(rule)["value"])
    assert values == [20, 10, 20, None]


def test_a_frontend_token_changes_no_value_of_a_backend(rules):
    rule = rules.create()
    rules.report(errors=1, requests=100)
    metrics = [{"name": "errors", "type": "counter", "samples": [{"value": 99}]}]
    body = {"appName": "shop", "impactMetrics": metrics}
    rules.web.post_json("/api/frontend/client/metrics", body, headers=FRONTEND, status=200)
    rules.look()
    assert rules.read(rule)["value"] == 0.01


def test_a_frontend_token_fires_no_ratio_of_servers_that_had_no_error_yet(rules):
    rule = rules.create()
    rules.report(requests=100)
    metrics = [{"name": "errors", "type": "counter", "samples": [{"value": 99}]}]
    body = {"appName": "shop", "impactMetrics": metrics}
    rules.web.post_json("/api/frontend/client/metrics", body, headers=FRONTEND, status=200)
    rules.look()
    read = rules.read(rule)
    assert (read["state"], read["value"]) == ("unknown", None)
    assert read["reason"].endswith("frontend SDKs report one, servers the other.")


def test_rules_of_a_disabled_endpoint_are_not_evaluated(rules):
    rule = rules.create()
    rules.web.post(f"/api/admin/signal-endpoints/{rules.endpoint['id']}/off", headers=ADMIN)
    rules.minute(errors=90, requests=100)
    assert (rules.state(rule), rules.signals()) == ("unknown", [])


@pytest.mark.parametrize("change", ["disable", "delete", "rename", "source"])
def test_a_rule_that_ends_resolves_its_alert(rules, change):
    rule = rules.create()
    rules.minute(errors=90, requests=100)
    path = f"{PATH}/{rule['id']}"
    if change == "disable":
        rules.web.post(f"{path}/disable", headers=ADMIN)
        assert rules.state(rule) == "unknown"
    elif change == "delete":
        rules.web.delete(path, headers=ADMIN)
    else:
        changes = {"name": "new"} if change == "rename" else {"source": RATIO | {"appName": "x"}}
        rules.web.put_json(path, rules.body(**changes), headers=ADMIN)
    firing, resolved = rules.signals()
    assert (firing["status"], resolved["status"]) == ("firing", "resolved")
    assert firing["data"]["key"] == resolved["data"]["key"]


def test_a_new_limit_keeps_the_state(rules):
    rule = rules.create()
    rules.minute(errors=90, requests=100)
    rules.web.put_json(f"{PATH}/{rule['id']}", rules.body(above=0.5), headers=ADMIN)
    assert (rules.state(rule), rules.statuses()) == ("firing", ["firing"])


def test_an_action_set_acts_on_an_alert_and_reverts_it_when_it_resolves(rules):
    alerts = Alerts(rules.sdk.service, rules.web, Make(rules.web))
    condition = {"path": "status", "operator": "IN", "values": ["firing"]}
    resolved = {"path": "status", "values": ["resolved"], "key": "data.key"}
    match = {"source": "signal-endpoint", "sourceId": rules.endpoint["id"], "filters": [condition]}
    alerts.set(match=match, options={"restoreWhenResolved": resolved})
    rules.create(windowMinutes=1)
    rules.minute(errors=90, requests=100)
    alerts.work()
    assert not alerts.is_on("checkout")
    rules.minute(errors=0, requests=100)
    alerts.work()
    assert alerts.is_on("checkout")


def test_an_error_stores_neither_state_nor_signal(rules, monkeypatch):
    rule = rules.create()
    rules.clock.advance(60)
    rules.report(errors=90, requests=100)

    def fail(*_):
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(rule_evaluation, "store_change", fail)
        with pytest.raises(RuntimeError):
            rules.look()
    assert (rules.state(rule), rules.signals()) == ("unknown", [])
    rules.look()
    assert (rules.state(rule), rules.statuses()) == ("firing", ["firing"])


def test_processes_at_the_same_time_store_each_change_once(rules, make_service):
    rules.services.append(make_service({"authentication": AUTHENTICATION}))
    names = [f"rule-{number}" for number in range(8)]
    for name in names:
        rules.create(name=name)
    for errors in (90, 0, 90):
        for _ in range(6):
            rules.clock.advance(60)
            rules.report(errors=errors, requests=100)
            threads = [
                threading.Thread(target=job.run_once, args=(service.context,))
                for service in rules.services * 2
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(DEADLINE_SECONDS)
    rows = rules.sdk.rows("SELECT payload FROM signals ORDER BY id")
    for name in names:
        statuses = [row["status"] for (row,) in rows if row["data"]["rule"] == name]
        assert statuses == ["firing", "resolved", "firing"]


def test_a_bucket_that_ended_before_the_window_does_not_move_the_ratio(rules):
    rule = rules.create(windowMinutes=1)
    rules.report(ago=60.5, errors=100, requests=100)
    rules.report(ago=0.5, errors=1, requests=100)
    rules.look()
    assert rules.state(rule) == "ok"
    assert rules.read(rule)["value"] == pytest.approx(0.01, rel=0.02)


def test_a_bucket_that_ended_before_the_window_does_not_move_the_rate(rules):
    source = {"kind": "impactMetric", "metric": "logins", "measure": "rate"}
    source["environment"] = "development"
    rule = rules.create(source=source, above=100, minSamples=0)
    rules.report(ago=300.5, logins=5000)
    for ago in (240.5, 180.5, 120.5, 60.5, 0.5):
        rules.report(ago=ago, logins=60)
    rules.look()
    assert rules.read(rule)["value"] == pytest.approx(60, rel=0.02)


def test_time_that_several_instances_cover_counts_once_for_the_rate(rules):
    source = {"kind": "impactMetric", "metric": "logins", "measure": "rate"}
    source["environment"] = "development"
    rule = rules.create(source=source, above=1000, minSamples=0)
    for ago in (25, 13, 1):  # instances whose reports overlap
        rules.report(ago=ago, logins=60)
    rules.look()
    assert rules.read(rule)["value"] == pytest.approx(180 / 84 * 60, rel=0.02)


def test_metrics_count_evaluations_and_rules_by_state(rules):
    rules.create(name="fires")
    rules.create(name="is-ok", above=0.99)
    rules.create(name="is-unknown", minSamples=1000)
    rules.create(name="is-off", enabled=False)
    rules.minute(errors=90, requests=100)
    text = rules.web.get("/internal-backstage/prometheus").text
    for state in ("ok", "firing", "unknown", "disabled"):
        assert f'alert_rules{{state="{state}"}} 1.0' in text
    kind = 'kind="impactMetric"'
    assert f'alert_rule_evaluations_total{{{kind},result="value"}} 2.0' in text
    assert f'alert_rule_evaluations_total{{{kind},result="unknown"}} 1.0' in text
    assert f"alert_rule_evaluation_seconds_count{{{kind}}} 1.0" in text
