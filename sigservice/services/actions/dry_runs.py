"""Trying an action set against a payload: what each filter says, and what would change.

The actions are really done and taken back, so the answer is what would happen now.
"""

from __future__ import annotations

from typing import Any

import msgspec

from sigservice.db.errors import DatabaseUnavailable
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, savepoint
from sigservice.errors import AppError
from sigservice.services.actions.action_actor import actor_of
from sigservice.services.actions.action_evaluation import says_over
from sigservice.services.actions.action_filters import Filter, Matcher, Verdict
from sigservice.services.actions.action_kinds.table import KINDS
from sigservice.services.actions.action_sets import Settings


class _TakenBack(Exception):
    """Ends the trial of an action."""


def try_out(conn: Connection, row: Row, payload: Any) -> dict[str, Any]:
    """{matched, endsAlert, filters: [verdict], actions: [{action, wouldSucceed, details,
    changes}]}."""
    matcher = Matcher(msgspec.json.decode(row["filters"], type=list[Filter]))
    verdicts = matcher.explain(payload)
    resolved = msgspec.json.decode(row["settings"], type=Settings).restoreWhenResolved
    over = resolved is not None and says_over(resolved, payload)
    return {
        "matched": all(verdict.matched for verdict in verdicts) and not over,
        "endsAlert": over,
        "enabled": row["enabled"],
        "armed": row["armed"],
        "filters": [_to_json(verdict) for verdict in verdicts],
        "actions": _actions(conn, row),
    }


def _actions(conn: Connection, row: Row) -> list[dict[str, Any]]:
    """Each builds upon the ones before it; all are taken back. What a failure stops has no part."""
    goes_on = msgspec.json.decode(row["settings"], type=Settings).continueOnFailure
    tried: list[dict[str, Any]] = []
    try:
        with savepoint(conn):
            for action in msgspec.json.decode(row["actions"]):
                tried.append(_try(conn, row, action))
                if not (tried[-1]["wouldSucceed"] or goes_on):
                    break
            raise _TakenBack
    except _TakenBack:
        return tried


def _try(conn: Connection, row: Row, action: dict[str, Any]) -> dict[str, Any]:
    shown = {"action": action["action"], "executionParams": action["executionParams"]}
    try:
        actor = actor_of(conn, row["actor_id"])
        with savepoint(conn):
            outcome = KINDS[action["action"]].perform(
                conn, row["project"], action["executionParams"], actor
            )
    except DatabaseUnavailable:
        raise
    except AppError as error:
        return shown | {"wouldSucceed": False, "details": error.message, "changes": []}
    changes = msgspec.to_builtins(outcome.changes)
    return shown | {"wouldSucceed": True, "details": outcome.details, "changes": changes}


def _to_json(verdict: Verdict) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "path": verdict.path,
        "operator": verdict.operator,
        "inverted": verdict.inverted,
        "found": verdict.found,
        "matched": verdict.matched,
    }
    return shown | ({"any": [_to_json(v) for v in verdict.any]} if verdict.any else {})
