"""Reports of SDKs that never reset the start of their bucket: the time that they count for."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sigservice.clock import format_iso
from tests.jobs.rules_kit import RATIO, Rules
from tests.routes.sdk import AUTHENTICATION, CLIENT, Sdk

RATE = RATIO | {"measure": "rate", "per": None}


@pytest.fixture
def rules(make_service, database, clock):
    return Rules(Sdk(make_service, database), clock)


class Program:
    """Reports with the start of the program as the start of each bucket."""

    def __init__(self, rules, instance="a", minutes=0):
        self.rules, self.instance = rules, instance
        self.start = rules.clock.now() - timedelta(minutes=minutes)

    def report(self, late=0, **counters):
        metrics = [
            {"name": name, "type": "counter", "samples": [{"value": value}]}
            for name, value in counters.items()
        ]
        stop = self.rules.clock.now() - timedelta(minutes=late)
        bucket = {"start": format_iso(self.start), "stop": format_iso(stop), "toggles": {}}
        body = {"appName": "shop", "instanceId": self.instance, "bucket": bucket}
        body["impactMetrics"] = metrics
        self.rules.web.post_json("/api/client/metrics", body, headers=CLIENT, status=202)


def measure(rules, **more):
    rule = rules.create(name="measured", source=RATE, above=1e6, minSamples=1, **more)
    rules.look()
    return pytest.approx(rules.read(rule)["value"], 1e-3)


@pytest.mark.parametrize("window", [1, 5, 15])
def test_a_start_that_is_never_reset_changes_no_rate(rules, window):
    program = Program(rules)
    for _ in range(20):
        rules.clock.advance(60)
        program.report(errors=30)
    assert measure(rules, windowMinutes=window) == 30


def test_each_instance_counts_for_itself(rules):
    programs = [Program(rules, name) for name in "abc"]
    for _ in range(20):
        for program in programs:
            rules.clock.advance(20)
            program.report(errors=30)
    assert measure(rules) == 84  # two of them haven't reported the last seconds


def test_a_metric_that_was_zero_in_the_last_report_counts_since_then(rules):
    program = Program(rules)
    for _ in range(20):
        rules.clock.advance(60)
        program.report(errors=0, requests=10)
    rules.clock.advance(60)
    program.report(errors=30)
    assert measure(rules, windowMinutes=1) == 30


def test_the_first_report_of_a_metric_counts_for_ten_minutes_at_most(rules):
    program = Program(rules, minutes=60)
    program.report(requests=1)
    rules.clock.advance(60)
    program.report(errors=100)
    assert measure(rules, windowMinutes=1) == 10


def test_a_restarted_program_counts_from_its_start(rules):
    for number in (1, 2):
        program = Program(rules)
        rules.clock.advance(30 * number)
        program.report(errors=30)
        rules.clock.advance(60)
    assert measure(rules) == 40  # in 30 and 60 seconds


def test_a_late_report_moves_no_later_one(rules):
    program = Program(rules)
    for _ in range(10):
        rules.clock.advance(60)
        program.report(errors=30)
    program.report(errors=600, late=8)
    rules.clock.advance(60)
    program.report(errors=30)
    assert measure(rules, windowMinutes=5) == 30


def test_another_process_knows_the_last_report(rules, make_service):
    program = Program(rules)
    rules.clock.advance(1800)
    program.report(errors=30)
    other = Sdk.__new__(Sdk)
    other.service = make_service({"authentication": AUTHENTICATION})
    rules.web.app = other.service.app
    rules.clock.advance(60)
    program.report(errors=30)
    assert measure(rules, windowMinutes=1) == 30


def test_reports_that_fail_leave_the_time_to_the_next_one(rules):
    program = Program(rules)
    rules.clock.advance(60)
    program.report(errors=30)
    rules.clock.advance(60)
    rules.sdk.rows("ALTER TABLE impact_series ADD CHECK (value < 50)")
    with pytest.raises(Exception, match="Bad response"):
        program.report(errors=30)
    rules.sdk.rows("ALTER TABLE impact_series DROP CONSTRAINT impact_series_value_check")
    rules.clock.advance(60)
    program.report(errors=60)
    assert measure(rules, windowMinutes=1) == 30
