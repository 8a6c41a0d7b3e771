"""Two processes with one database that store reports of the same flags and instances."""

import threading
from pathlib import Path

from tests.repository.kit import run
from tests.server.kills import connect, embedded
from tests.server.process import Process, run_service
from tests.server.test_kill_reports import OPEN, TOKEN, create_flags
from tests.waiting import DEADLINE_SECONDS

FLAGS = ("one", "two", "three")
REPORTS, SENDERS = 25, 3  # of each process


def send_reports(process: Process, direction: int, statuses: list[int]) -> None:
    """Bulk reports of all flags, variants, applications and instances, in this direction."""
    for n in range(REPORTS):
        apps = [
            {"appName": f"a{m}", "environment": "development", "instanceId": f"{n}"}
            for m in range(5)
        ][::direction]
        metrics = [
            app | {"featureName": flag, "yes": 1, "variants": {"disabled": 1}}
            for flag in FLAGS[::direction]
            for app in apps
        ]
        applications = [app | {"strategies": [f"s{n}-{direction}"]} for app in apps]
        body = {"applications": applications, "metrics": metrics}
        statuses.append(process.request("POST", "/api/client/metrics/bulk", body, secret=TOKEN)[0])


def test_processes_that_report_the_same_at_the_same_time_do_not_deadlock(data: Path):
    statuses: list[int] = []
    with run_service(embedded(data) | OPEN) as first, run_service(embedded(data) | OPEN) as second:
        create_flags(first)
        threads = [
            threading.Thread(target=send_reports, args=(process, direction, statuses))
            for process, direction in ((first, 1), (second, -1)) * SENDERS
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE_SECONDS)
        count = 2 * SENDERS * REPORTS
        assert statuses == [202] * count
        conn = connect(data)
        sums = run(
            conn,
            "SELECT feature, app_name, sum(yes)::int, sum(count)::int FROM client_metrics "
            "JOIN client_metrics_variants USING (feature, app_name, environment, hour) "
            "GROUP BY 1, 2",
        )
        ((deadlocks,),) = run(conn, "SELECT sum(deadlocks)::int FROM pg_stat_database")
        conn.close()
    assert {row[2:] for row in sums} == {(count, count)}
    assert len(sums) == 15
    assert deadlocks == 0
