"""`sigservice release` against the service."""

from __future__ import annotations

import argparse

import pytest

from sigservice.commands import release as command
from tests.conftest import ADMIN_TOKEN
from tests.jobs.release_kit import Releases

pytestmark = pytest.mark.external  # it starts a service that listens


@pytest.fixture
def kit(make_service, clock):
    service = make_service({"server": {"port": 0, "gracefulShutdownEnable": False}})
    kit = Releases(service, clock)
    service.start()
    return kit


def call(kit, *arguments, sleep=None):
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    environ = {"SIGNAL_URL": kit.services[0].url, "SIGNAL_TOKEN": ADMIN_TOKEN}
    options = parser.parse_args([*arguments])
    return command.run_command(options, environ, sleep=sleep or (lambda _: None))


def test_a_release_is_started_and_steered(kit, capsys):
    kit.endpoint()
    assert call(kit, "start", "checkout", "--guard-endpoint", "alerts") == 0
    assert "running, 1%, step 1 of 4, due " in capsys.readouterr().out
    assert call(kit, "hold", "checkout", "--reason", "lunch") == 0
    assert call(kit, "status", "checkout", "--wait") == 4
    assert "Held checkout in production at 1%: lunch." in capsys.readouterr().out
    assert call(kit, "resume", "checkout") == 0
    assert call(kit, "advance", "checkout") == 1
    assert "A guard has not watched this step yet." in capsys.readouterr().err
    kit.wait(1)
    assert call(kit, "advance", "checkout") == 0
    assert kit.rollout() == 10
    assert call(kit, "rollback", "checkout") == 0
    assert call(kit, "status", "checkout", "--wait") == 3
    assert call(kit, "rollback", "checkout") == 1
    assert "The release is rolled back." in capsys.readouterr().err


def test_wait_prints_each_event_until_the_end(kit, capsys):
    def pass_time(_):
        kit.clock.advance(3600)
        kit.progress()

    assert call(kit, "start", "checkout", "--template", "quarters", "--wait", sleep=pass_time) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(set(lines)) == 6
    assert lines[-1].endswith("Finished the release of checkout in production at 100%.")


def test_what_is_missing_or_unknown_is_said(kit, capsys):
    assert call(kit, "status", "checkout") == 1
    assert call(kit, "start", "nothing") == 1
    assert call(kit, "start", "checkout", "--guard-endpoint", "nowhere") == 1
    assert call(kit, "status", "checkout", "--url", "http://127.0.0.1:1") == 1
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    assert command.run_command(parser.parse_args(["status", "checkout"]), {}) == 2
