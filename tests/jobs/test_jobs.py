"""Background jobs: what they delete, what they keep, and how they fail."""

from __future__ import annotations

import threading

from sigservice.errors import UnavailableError
from sigservice.jobs import retention, upkeep
from sigservice.jobs.runner import Job, Runner
from tests.conftest import ADMIN
from tests.waiting import DEADLINE_SECONDS


def fill(rows, endpoint_id, count, age="0 days"):
    rows(
        "INSERT INTO signals (endpoint_id, token_id, payload, payload_bytes, created_at) "
        "SELECT %s, 1, '{}', 2, now() - %s::interval FROM generate_series(1, %s)",
        endpoint_id,
        age,
        count,
    )


def count(rows, endpoint_id):
    return rows("SELECT count(*) FROM signals WHERE endpoint_id = %s", endpoint_id)[0][0]


def test_old_signals_are_deleted_and_recent_ones_stay(service, make, rows):
    id = make.endpoint()["id"]
    fill(rows, id, 7, "181 days")
    fill(rows, id, 3, "179 days")
    assert retention.run_once(service.context) == 7
    assert count(rows, id) == 3
    assert retention.run_once(service.context) == 0


def test_surplus_signals_of_an_endpoint_are_deleted_oldest_first(make_service, rows):
    import webtest

    from tests.conftest import Make

    service = make_service(environ={"SERVICE_SIGNALS_RETENTION_COUNT": "10"})
    make = Make(webtest.TestApp(service.app))
    busy, quiet = make.endpoint("busy")["id"], make.endpoint("quiet")["id"]
    fill(rows, busy, 25)
    fill(rows, quiet, 5)
    newest = rows("SELECT max(id) FROM signals WHERE endpoint_id = %s", busy)
    assert retention.run_once(service.context) == 15
    assert (count(rows, busy), count(rows, quiet)) == (10, 5)
    assert rows("SELECT max(id) FROM signals WHERE endpoint_id = %s", busy) == newest


def test_limits_of_zero_delete_nothing(make_service, rows):
    import webtest

    from tests.conftest import Make

    environ = {"SERVICE_SIGNALS_RETENTION_COUNT": "0", "SERVICE_SIGNALS_RETENTION_DAYS": "0"}
    service = make_service(environ=environ)
    id = Make(webtest.TestApp(service.app)).endpoint()["id"]
    fill(rows, id, 20, "9000 days")
    assert retention.run_once(service.context) == 0
    assert count(rows, id) == 20


def test_signals_of_a_deleted_endpoint_are_deleted_in_chunks(service, web, make, rows, monkeypatch):
    monkeypatch.setattr(retention, "CHUNK", 10)
    id = make.endpoint()["id"]
    fill(rows, id, 35)
    web.delete(f"/api/admin/signal-endpoints/{id}", headers=ADMIN)
    assert retention.run_once(service.context) == 35
    assert count(rows, id) == 0


def test_two_processes_delete_each_row_once(service, make, rows, monkeypatch):
    monkeypatch.setattr(retention, "CHUNK", 50)
    id = make.endpoint()["id"]
    fill(rows, id, 1000, "200 days")
    done = []
    threads = [
        threading.Thread(target=lambda: done.append(retention.run_once(service.context)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count(rows, id) == 0
    assert sum(done) == 1000


def test_old_client_metrics_and_instances_are_deleted_in_chunks(make_service, rows, monkeypatch):
    monkeypatch.setattr(retention, "CHUNK", 4)
    service = make_service(environ={"SERVICE_CLIENT_METRICS_RETENTION_HOURS": "5"})
    for table, more in (("client_metrics", "1, 1"), ("client_metrics_variants", "'blue', 1")):
        rows(
            f"INSERT INTO {table} SELECT 'flag', 'shop', 'development', "
            f"now() - make_interval(hours => n, mins => -1), {more} FROM generate_series(0, 15) n"
        )
    rows(
        "INSERT INTO client_instances (app_name, instance_id, environment, last_seen) "
        "SELECT 'shop', n::text, 'development', now() - make_interval(hours => n * 12, mins => -1) "
        "FROM generate_series(0, 9) n"
    )
    rows(
        "INSERT INTO client_application_environments (environment, sdk_type, app_name, seen_at) "
        "SELECT 'development', 'backend', n::text, "
        "now() - make_interval(hours => n * 12, mins => -1) FROM generate_series(0, 9) n"
    )
    rows("INSERT INTO feature_last_seen VALUES ('gone', 'development', now())")
    assert retention.run_once(service.context) == 10 + 10 + 5 + 5 + 1
    assert rows("SELECT count(*), min(hour) > now() - interval '5 hours' FROM client_metrics") == [
        (6, True)
    ]
    assert rows("SELECT count(*) FROM client_metrics_variants") == [(6,)]
    assert rows("SELECT max(instance_id) FROM client_instances") == [("4",)]
    assert retention.run_once(service.context) == 0


def test_expired_sessions_are_deleted(service, cast, clock, rows):
    cast.signed_in("ed")
    assert upkeep.delete_sessions(service.context) == 0
    clock.advance(48 * 3600 + 1)
    assert upkeep.delete_sessions(service.context) == 1
    assert rows("SELECT count(*) FROM sessions") == [(0,)]


def test_failing_job_is_logged_and_runs_again(make_service):
    lines, ran, twice = [], [], threading.Event()

    class Log:
        def debug(self, *args): ...
        def info(self, *args): ...
        def warn(self, *args):
            lines.append(args)

        def error(self, *args):
            lines.append(args)

    def run_once(context):
        ran.append(1)
        if len(ran) == 1:
            raise UnavailableError("gone")
        if len(ran) == 2:
            raise ValueError("bug")
        twice.set()
        return 0

    service = make_service({"getLogger": lambda name: Log()})
    runner = Runner(service.context, (Job("test", run_once, 0.001, 0.001),))
    runner.start()
    assert twice.wait(DEADLINE_SECONDS)
    runner.request_stop()
    runner.join(DEADLINE_SECONDS)
    assert [line[0] for line in lines[:2]] == ["%s: %s", "%s failed: %s"]
    assert "ValueError: bug" in lines[1][2]
    assert "in run_once" in lines[1][2]


def test_job_that_fails_for_a_minute_logs_one_line(make_service):
    lines, ran, well = [], [], threading.Event()

    class Log:
        def debug(self, *args): ...
        def info(self, *args):
            lines.append(args)

        warn = error = info

    def run_once(context):
        ran.append(1)
        if len(ran) <= 50:
            raise UnavailableError("gone")
        if len(ran) == 60:
            well.set()
        return 0

    service = make_service({"getLogger": lambda name: Log()})
    del lines[:]
    runner = Runner(service.context, (Job("test", run_once, 0.001, 0.001),))
    runner.start()
    assert well.wait(DEADLINE_SECONDS)
    runner.request_stop()
    runner.join(DEADLINE_SECONDS)
    assert [line[0] % line[1:] for line in lines] == ["test: gone", "test: works again"]


def test_a_stop_ends_a_job_that_clears_the_event_of_the_stop(service):
    runs = []

    def run_once(context):
        runs.append(1)
        runner.request_stop()
        context.mails_waiting.clear()
        return 0

    job = Job("clearing", run_once, 0.01, 0.01, lambda context: context.mails_waiting)
    runner = Runner(service.context, (job,))
    runner.start()
    runner.join(DEADLINE_SECONDS)
    assert runs == [1]


def test_short_jobs_share_a_thread_and_an_error_ends_none_of_them(service):
    threads, done = {}, threading.Event()

    def fail(context):
        threads.setdefault("failing", set()).add(threading.current_thread().name)
        raise ValueError("bug")

    def run_once(context):
        threads.setdefault("good", set()).add(threading.current_thread().name)
        if "failing" in threads:
            done.set()
        return 0

    jobs = (
        Job("failing", fail, 0.01, 0.01, is_short=True),
        Job("good", run_once, 0.01, 0.01, is_short=True),
    )
    runner = Runner(service.context, jobs)
    runner.start()
    assert done.wait(DEADLINE_SECONDS)
    runner.request_stop()
    runner.join(DEADLINE_SECONDS)
    assert threads == {"failing": {"job-short"}, "good": {"job-short"}}
