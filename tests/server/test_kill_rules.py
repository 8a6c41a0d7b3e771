"""SIGKILL of two processes while alert rules fire and resolve: each change of state has one signal.

A trigger records the changes of state that were committed.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from typing import Any

import pytest

from tests.prometheus_script import ScriptedPrometheus, serve_prometheus, vector
from tests.repository.kit import run
from tests.server.kills import Pair, count_kills
from tests.server.process import OPEN_LIMITS, Process, make_database_environ, until
from tests.waiting import take_time

RULES = 60  # of each kind
RECORD = """
CREATE TABLE rule_changes (id serial, rule text, status text);
CREATE FUNCTION record_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO rule_changes (rule, status)
    VALUES (new.name, CASE new.state WHEN 'ok' THEN 'resolved' ELSE new.state END);
    RETURN new;
END $$;
CREATE TRIGGER record_change AFTER UPDATE ON alert_rules FOR EACH ROW
WHEN (old.state <> new.state AND NOT (old.state = 'unknown' AND new.state = 'ok'))
EXECUTE FUNCTION record_change();
"""
# The limit of impact metrics is above and below the value in turn. All rules are due, as if the
# leases of a process that was killed had ended.
FLAP = """
UPDATE alert_rules
SET due_at = 'epoch', leased_until = NULL, condition = CASE condition #>> '{source,kind}'
    WHEN 'prometheus' THEN condition
    ELSE jsonb_set(condition, '{above}', to_jsonb(110 - (condition ->> 'above')::float)) END
"""

pytestmark = pytest.mark.external


def post(process: Process, path: str, body: Any, expected: int = 201) -> Any:
    status, answer = process.request("POST", path, body)
    assert status == expected, answer
    return answer


def report(process: Process, secret: str) -> None:
    metric = {"name": "queue", "type": "gauge", "samples": [{"value": 50}]}
    body = {"appName": "shop", "impactMetrics": [metric]}
    assert process.request("POST", "/api/client/metrics", body, secret=secret)[0] == 202


def create_rules(process: Process, script: ScriptedPrometheus) -> str:
    """A client token. Each query of Prometheus has another value than the time before."""
    values: dict[str, bool] = defaultdict(bool)

    def answer(handler: Any) -> None:
        _, query, _ = script.requests.pop()
        values[query["query"][0]] ^= True
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # a process was killed
            script.answer_with(handler, vector((4e9, "90" if values[query["query"][0]] else "1")))

    script.answer = vector((4e9, "1"))
    endpoint, _ = process.create_sender("rules")
    for name in ("first", "second"):
        post(process, "/api/admin/metric-sources", {"name": name, "url": script.url})
    gauge = {"kind": "impactMetric", "metric": "queue", "measure": "average"}
    gauge["environment"] = "development"
    for number in range(RULES):
        name = ("first", "second")[number % 2]
        query = {"kind": "prometheus", "source": name, "query": f"errors_{number}"}
        for kind, source in (("metric", gauge), ("query", query)):
            rule = {"name": f"{kind}-{number}", "endpointId": endpoint, "source": source}
            post(process, "/api/admin/alert-rules", rule | {"above": 10, "everySeconds": 15})
    script.answer = answer
    token = {"tokenName": "shop", "type": "client", "environment": "development"}
    return str(post(process, "/api/admin/api-tokens", token)["secret"])


def test_each_change_of_state_has_one_signal(temporary_database):
    options = temporary_database.create_database("killed_rules")
    environ = OPEN_LIMITS | make_database_environ(options)
    environ |= {"SERVICE_ALERT_RULES_LIMIT": "1000", "SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1"}
    with contextlib.ExitStack() as stack:
        script = stack.enter_context(serve_prometheus())
        pair = Pair(environ, stack, 7)
        conn = stack.enter_context(contextlib.closing(temporary_database.connect("killed_rules")))
        run(conn, RECORD)
        secret = create_rules(pair.processes[0], script)
        for _ in range(count_kills(3)):
            report(pair.processes[0], secret)
            run(conn, FLAP)
            take_time(pair.chance.random() * 1.5)
            pair.kill_one()
        report(pair.processes[0], secret)
        run(conn, FLAP)
        late = "SELECT count(*) FROM alert_rules WHERE due_at = 'epoch' OR state = 'unknown'"
        until(lambda: run(conn, late)[0][0] == 0, "an evaluation of each rule")
        for process in pair.processes:
            process.close()
        changes = read_by_rule(conn, "SELECT rule, status FROM rule_changes ORDER BY id")
        signals = read_by_rule(
            conn, "SELECT payload #>> '{data,rule}', payload ->> 'status' FROM signals ORDER BY id"
        )
        states = dict(run(conn, "SELECT name, state FROM alert_rules"))
    assert signals == changes
    assert len(changes) > RULES  # a query whose answers were lost may have no change
    for name, statuses in signals.items():
        assert statuses == [("firing", "resolved")[n % 2] for n in range(len(statuses))]
        assert states[name] == {"resolved": "ok"}.get(statuses[-1], statuses[-1])


def read_by_rule(conn: Any, statement: str) -> dict[str, list[str]]:
    statuses: dict[str, list[str]] = defaultdict(list)
    for name, status in run(conn, statement):
        statuses[name].append(status)
    return statuses
