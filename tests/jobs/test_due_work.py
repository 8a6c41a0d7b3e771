"""What wakes the jobs: the statement that an idle process executes once a second."""

from __future__ import annotations

import threading

import pytest

from sigservice.jobs import actions
from sigservice.jobs import runner as runners
from sigservice.jobs.runner import Job, Runner
from sigservice.repository.system import due_work
from tests.integrations_kit import ENVIRON, Integrations
from tests.jobs.release_kit import STEPS, Releases
from tests.jobs.rules_kit import Rules
from tests.routes.sdk import Sdk
from tests.waiting import DEADLINE_SECONDS


def find_work(service):
    """The kinds of work that there are."""
    with service.context.database.autocommit() as conn:
        work = due_work.find(conn, service.context.clock.now())
    return {kind for kind, is_due in work.items() if is_due}


def test_an_empty_service_has_no_work(service):
    assert find_work(service) == set()


def test_a_queued_signal_is_work_of_actions(service, alerts):
    alerts.set()
    alerts.send()
    assert find_work(service) == {"actions"}
    actions.run_once(service.context)
    assert find_work(service) == set()


def test_a_mail_is_work_until_it_was_sent(post):
    post.user(name="bo")
    post.ask()
    assert "mails" in find_work(post.service)
    post.send()
    assert "mails" not in find_work(post.service)


def test_an_event_for_an_integration_is_work_until_it_was_sent(make_service, receiver, clock):
    kit = Integrations(make_service(environ=ENVIRON), receiver, clock)
    kit.create()
    kit.flag()
    assert "deliveries" in find_work(kit.service)
    kit.run()
    assert "deliveries" not in find_work(kit.service)


def test_a_release_is_work_until_it_ends(service, clock):
    releases = Releases(service, clock)
    release = releases.create(steps=STEPS)
    assert "releases" in find_work(service)
    releases.command(release, "stop")
    assert "releases" not in find_work(service)


def test_an_alert_rule_is_work(make_service, database, clock):
    sdk = Sdk(make_service, database)
    Rules(sdk, clock).create()
    assert "rules" in find_work(sdk.service)


@pytest.fixture
def run_jobs(service, monkeypatch):
    monkeypatch.setattr(runners, "LOOK_SECONDS", 0.01)
    runner = None

    def run(*jobs):
        nonlocal runner
        runner = Runner(service.context, jobs)
        runner.start()

    yield run
    runner.request_stop()
    runner.join(DEADLINE_SECONDS)


def test_a_job_without_work_doesnt_run_and_one_with_work_does(service, run_jobs, alerts):
    alerts.set()
    alerts.send()
    ran, runs = threading.Event(), []

    def note(context):
        if len(runs) >= 3:
            ran.set()
        runs.append(1)

    def fail(context):
        runs.append("without work")

    run_jobs(
        Job("idle", fail, 0, DEADLINE_SECONDS * 100, work="rules"),
        Job("busy", note, 0, DEADLINE_SECONDS * 100, work="actions"),
    )
    assert ran.wait(DEADLINE_SECONDS)
    assert "without work" not in runs


def test_a_job_runs_once_more_after_its_last_work(service, run_jobs, alerts):
    alerts.set()
    alerts.send()
    looks, was_empty = [], threading.Event()

    def note(context):
        looks.append(find_work(service))
        if not looks[-1]:
            was_empty.set()
        actions.run_once(context)

    run_jobs(Job("busy", note, 0, DEADLINE_SECONDS * 100, work="actions"))
    assert was_empty.wait(DEADLINE_SECONDS)
