"""Why flags are on or off, for the list of flags: the alert that holds the state, percentages."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sigservice.db import Connection, Row
from sigservice.repository.flags import feature_strategies
from sigservice.services import strategy_summaries
from sigservice.services.actions import held_flags
from sigservice.services.flags import strategies
from sigservice.services.identity import Identity

MAX_ALERTS = 1000
FlagState = tuple[str, str]  # a flag and its environment


class Reasons(NamedTuple):
    """`rollouts` has no entry without strategies."""

    alerts: Mapping[FlagState, Row]
    rollouts: Mapping[FlagState, str]


def read_reasons(conn: Connection, by: Identity, names: Sequence[str]) -> Reasons:
    """Of the flags of one page, in as many statements as for one flag."""
    rows = held_flags.list_held_flags(conn, by, limit=MAX_ALERTS, features=[*names])
    alerts: dict[FlagState, Row] = {}
    for row in rows:  # newest first
        alerts.setdefault((row["feature"], row["environment"]), row)
    by_state: dict[FlagState, list[dict[str, Any]]] = defaultdict(list)
    for row in feature_strategies.list_by_features(conn, [*names]):
        by_state[row["feature"], row["environment"]].append(strategies.to_json(row))
    return Reasons(
        alerts,
        {state: strategy_summaries.summarize_rollouts(rows) for state, rows in by_state.items()},
    )
