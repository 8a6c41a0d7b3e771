"""What the tests of alerts that end need: a set that restores when they do."""

from __future__ import annotations

from tests.actions_kit import SETS, Alerts
from tests.conftest import ADMIN
from tests.repository.kit import run as sql

FIRING = {"path": "status", "operator": "IN", "values": ["firing"]}
RESOLVED = {"path": "status", "values": ["resolved"], "key": "groupKey"}


class Both(Alerts):
    """`fire` and `end` alerts by their keys; nothing happens before `work`."""

    def restoring(self, filters=(FIRING,), acts=None, **options):
        self.id = self.set(
            filters=filters, acts=acts, options={"restoreWhenResolved": RESOLVED} | options
        )["id"]
        return self.id

    def fire(self, key="a", **more):
        return self.send({"status": "firing", "groupKey": key} | more)

    def end(self, key="a", **more):
        return self.send({"status": "resolved", "groupKey": key} | more)

    def history(self):
        """(cause, state, what was done) oldest first."""
        return [
            (run["cause"], run["state"], run["reason"] or run["actionSet"]["actions"][0]["details"])
            for run in reversed(self.runs(self.id))
        ]

    def find_result(self, signal):
        with self.service.context.database.transaction() as conn:
            query = "SELECT results -> 0 ->> 'state' FROM signal_results WHERE signal_id = %s"
            return sql(conn, query, signal)[0][0]

    def undo(self, run):
        self.web.post(f"{SETS}/{self.id}/events/{run['id']}/undo", headers=ADMIN, status=202)
