"""The audit log as lines of JSON."""

from __future__ import annotations

import json
import os
import stat
from contextlib import closing

import pytest
import webtest

from sigservice.errors import UnavailableError
from sigservice.jobs import audit_log as job
from sigservice.jobs import retention
from sigservice.jobs.runner import _ErrorLog
from sigservice.repository.system import audit_log
from tests.application.test_app import Log
from tests.conftest import ADMIN, Cast
from tests.repository.kit import run
from tests.waiting import until


class AuditLog:
    """`run` writes what isn't written yet."""

    def __init__(self, service, path):
        self.context, self.path = service.context, path
        self.web = webtest.TestApp(service.app)
        self.run()

    def run(self):
        return job.run_once(self.context)

    def change(self, name):
        body = {"name": name}
        self.web.post_json("/api/admin/projects/default/features", body, headers=ADMIN)

    def names(self):
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        return [json.loads(line)["featureName"] for line in lines]


@pytest.fixture
def log(make_service, tmp_path):
    path = tmp_path / "audit.log"
    environ = {"SERVICE_AUDIT_LOG": str(path), "SERVICE_EVENTS_RETENTION_DAYS": "1"}
    return AuditLog(make_service(environ=environ), path)


def test_each_event_is_a_line_that_only_the_account_can_read(log):
    log.change("f1")
    log.change("f2")
    assert log.run() == 2
    assert log.run() == 0
    assert log.names() == ["f1", "f2"]
    event = json.loads(log.path.read_text().splitlines()[0])
    events = log.web.get("/api/admin/events", headers=ADMIN).json["events"]
    assert event in events
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600


def test_the_first_start_begins_with_the_next_event_of_any_type(make_service, tmp_path):
    path = tmp_path / "audit.log"
    service = make_service(environ={"SERVICE_AUDIT_LOG": str(path)})
    web = webtest.TestApp(service.app)
    web.post_json("/api/admin/projects/default/features", {"name": "old"}, headers=ADMIN)
    log = AuditLog(service, path)
    Cast(service).signed_in("ada")
    log.change("f1")
    log.run()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    types = [line["type"] for line in lines]
    assert "old" not in log.names()
    assert (types[0], types[-1]) == ("user-created", "feature-created")
    assert "user-signed-in" in types
    assert [line["id"] for line in lines] == sorted(line["id"] for line in lines)
    members = {
        "id", "type", "createdAt", "createdBy", "createdByUserId", "ip", "project", "environment",
        "featureName", "data", "preData", "tags",
    }  # fmt: skip
    assert all(line.keys() >= members for line in lines)


def test_the_log_has_what_happens_right_after_the_first_start(make_service, tmp_path):
    path = tmp_path / "audit.log"
    service = make_service(
        {"server": {"gracefulShutdownEnable": False}}, {"SERVICE_AUDIT_LOG": str(path)}
    )
    service.start()
    body = {"name": "f1"}
    web = webtest.TestApp(service.app)
    web.post_json("/api/admin/projects/default/features", body, headers=ADMIN)
    until(lambda: path.exists() and '"f1"' in path.read_text(), "the event")


def test_the_first_start_says_how_to_export_the_older_events(make_service, tmp_path):
    lines, environ = Log(), {"SERVICE_AUDIT_LOG": str(tmp_path / "audit.log")}
    service = make_service({"getLogger": lines}, environ)
    log = AuditLog(service, tmp_path / "audit.log")
    AuditLog(service, log.path)
    (line,) = [line for line in lines.lines if "older ones" in str(line)]
    path = next(word for word in str(line).split() if word.startswith("/api/"))
    export = log.web.get(path.strip("',)"), headers=ADMIN).text
    assert "user-created" in export
    assert json.loads(export.splitlines()[0])["id"]


def test_a_file_that_cannot_be_written_is_logged_once_and_counted(make_service, tmp_path, clock):
    lines, path = Log(), tmp_path / "missing" / "audit.log"
    options, environ = {"getLogger": lines}, {"SERVICE_AUDIT_LOG": str(path)}
    log = AuditLog(make_service(options, environ), path)
    log.change("f1")
    errors = _ErrorLog("audit log")
    for _ in range(3):
        with pytest.raises(UnavailableError, match="can't be written") as caught:
            log.run()
        errors.add(log.context.get_logger("jobs"), caught.value)
    assert str(lines.lines).count("can't be written") == 1
    clock.advance(10)
    metrics = log.web.get("/internal-backstage/prometheus").text
    assert "audit_log_waiting 1" in metrics


def test_nothing_waits_for_an_audit_log_that_is_no_longer_written(log, clock):
    log.change("f1")
    with log.context.database.transaction() as conn:
        run(conn, "UPDATE audit_log_position SET leased_until = now() - interval '1 hour'")
    clock.advance(10)
    assert "audit_log_waiting 0" in log.web.get("/internal-backstage/prometheus").text


def test_an_event_of_a_running_transaction_delays_those_after_it(log, database, monkeypatch):
    monkeypatch.setattr(job, "_MAX_PAUSES", 2)
    with closing(database.connect()) as other:
        other.autocommit = False
        with other.cursor() as cursor:
            cursor.execute(
                "INSERT INTO events (type, created_by, feature_name) VALUES ('x', 'y', 'slow')"
            )
            log.change("f1")
            assert log.run() == 0
        other.commit()
    assert log.run() == 2
    assert log.names() == ["slow", "f1"]


def test_a_kill_before_the_position_is_stored_repeats_the_batch(log, monkeypatch):
    log.change("f1")

    def die(*_args, **_more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(audit_log, "advance", die)
        with pytest.raises(KeyboardInterrupt):
            log.run()
    log.change("f2")
    log.run()
    assert log.names() == ["f1", "f1", "f2"]


@pytest.mark.parametrize("end", ["-1 s", "1 hour"])  # the clock of the database was set back
def test_another_process_takes_over_when_the_lease_has_ended(log, clock, rows, end):
    def acquire():
        with log.context.database.autocommit() as conn:
            return audit_log.acquire(conn, "another")

    def end_lease():
        lease = f"leased_until = now() + interval '{end}'"
        rows(f"UPDATE audit_log_position SET {lease} RETURNING 1")

    log.change("f1")
    assert acquire() is None
    end_lease()
    assert acquire() is not None
    clock.step(60)  # of this process only
    assert log.run() == 0
    end_lease()
    assert log.run() == 1


def test_a_renamed_file_is_created_again(log):
    log.change("f1")
    log.run()
    log.path.rename(log.path.with_suffix(".1"))
    log.change("f2")
    log.run()
    assert log.names() == ["f2"]


def test_a_line_that_was_cut_off_is_ended(log):
    log.path.write_text('{"id": 1')
    log.change("f1")
    log.run()
    assert json.loads(log.path.read_text().splitlines()[1])["featureName"] == "f1"


def test_a_full_disk_delays_the_lines_and_no_change(log):
    log.path.symlink_to("/dev/full")
    log.change("f1")
    with pytest.raises(UnavailableError, match="No space left"):
        log.run()
    os.unlink(log.path)
    log.change("f2")
    log.run()
    assert log.names() == ["f1", "f2"]


def test_a_failed_write_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "audit.log"
    path.write_bytes(b"{}\n")

    def fail(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(UnavailableError):
        job.write_lines(str(path), [b"{}"])
    assert path.read_bytes() == b"{}\n"


def test_retention_keeps_events_that_are_not_written(log, rows):
    log.change("f1")
    rows("UPDATE events SET created_at = now() - interval '3 days' RETURNING id")
    rows("UPDATE audit_log_position SET leased_until = now() RETURNING event_id")
    retention.run_once(log.context)
    assert rows("SELECT feature_name FROM events") == [("f1",)]


def test_standard_output(make_service, capfdbinary):
    log = AuditLog(make_service(environ={"SERVICE_AUDIT_LOG": "-"}), None)
    log.change("f1")
    assert log.run() == 1
    assert json.loads(capfdbinary.readouterr().out)["featureName"] == "f1"
