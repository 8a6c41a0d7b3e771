"""Tests an action set with a payload: the result of each filter, and what would change.

The actions are performed and rolled back, so the result is exact.
"""

from contextlib import suppress
from typing import Any

import msgspec

from sigservice.db import Connection, Row, savepoint
from sigservice.db.errors import DatabaseUnavailable
from sigservice.errors import AppError
from sigservice.services.actions.action_actor import find_service_account
from sigservice.services.actions.action_alerts import is_resolved
from sigservice.services.actions.action_filters import Filter, Matcher
from sigservice.services.actions.action_kinds.kind import perform_and_write
from sigservice.services.actions.action_kinds.table import KINDS
from sigservice.services.actions.action_set_options import ActionSetOptions


class _Rollback(Exception):
    """Rolls back the actions of a test."""


def perform_dry_run(conn: Connection, row: Row, payload: Any) -> dict[str, Any]:
    """{matched, endsAlert, enabled, armed, filters: [result], actions: [{action, wouldSucceed,
    details, changes}]}."""
    matcher = Matcher(msgspec.json.decode(row["filters"], type=list[Filter]))
    results = matcher.explain(payload)
    options = msgspec.json.decode(row["settings"], type=ActionSetOptions)
    ends_alert = is_resolved(options.restoreWhenResolved, matcher, payload)
    return {
        "matched": all(result.matched for result in results) and not ends_alert,
        "endsAlert": ends_alert,
        "enabled": row["enabled"],
        "armed": not row["has_run_once"],
        "filters": msgspec.to_builtins(results),
        "actions": _perform_all(conn, row, continues=options.continueOnFailure),
    }


def _perform_all(conn: Connection, row: Row, *, continues: bool) -> list[dict[str, Any]]:
    """Each action sees the changes of the actions before it; all are rolled back. Stops at a
    failure as a run does."""
    results: list[dict[str, Any]] = []
    with suppress(_Rollback), savepoint(conn):
        for action in msgspec.json.decode(row["actions"]):
            results.append(_perform(conn, row, action))
            if not (results[-1]["wouldSucceed"] or continues):
                break
        raise _Rollback
    return results


def _perform(conn: Connection, row: Row, action: dict[str, Any]) -> dict[str, Any]:
    base = {"action": action["action"], "executionParams": action["executionParams"]}
    try:
        actor = find_service_account(conn, row["actor_id"])
        with savepoint(conn):
            kind = KINDS[action["action"]]
            result = perform_and_write(kind, conn, row["project"], action["executionParams"], actor)
    except DatabaseUnavailable:
        raise
    except AppError as error:
        return base | {"wouldSucceed": False, "details": error.message, "changes": []}
    changes = msgspec.to_builtins(result.changes)
    return base | {"wouldSucceed": True, "details": result.details, "changes": changes}
