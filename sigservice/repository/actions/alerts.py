"""The alerts of action sets, and what they hold: one function for each SQL statement."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from sigservice.db import Connection, Row, execute, fetch_all, fetch_value, queries

_SQL = queries.load("actions/alerts")


def list_by_keys(conn: Connection, keys: Collection[tuple[int, str]]) -> list[Row]:
    """The alerts that each are {ID of the set, key}, and one other alert of each of these sets that
    fires and isn't ignored."""
    sets, texts = [id for id, _ in keys], [key for _, key in keys]
    return fetch_all(conn, _SQL["list_alerts"], sets=sets, keys=texts)


def end_signals(
    conn: Connection,
    results: Mapping[int, list[dict[str, Any]] | None],
    alerts: Sequence[dict[str, Any]] = (),
    *,
    reverting: Collection[int] = (),
) -> int:
    """Deletes signals from the queue, stores their results and the `alerts` that they reported,
    {action_set_id, key, endpoint_id, key_path, is_firing, run_id, resolved_at}; no other alert of
    the sets `reverting` fires now. Returns how many signals were queued."""
    texts = [
        None if items is None else msgspec.json.encode(items).decode() for items in results.values()
    ]
    values = {"signal_ids": list(results), "results": texts, "reverting": [*reverting]}
    text = msgspec.json.encode(alerts).decode()
    return int(fetch_value(conn, _SQL["end_signals"], alerts=text, **values))


def list_ignored(conn: Connection) -> list[Row]:
    """With the project and the name of the set."""
    return fetch_all(conn, _SQL["list_ignored_alerts"])


def ignore(conn: Connection, alerts: Collection[tuple[int, str]], *, by: str, by_id: int) -> None:
    """Ignores the alerts, each {ID of the set, key}."""
    sets, keys = [id for id, _ in alerts], [key for _, key in alerts]
    execute(conn, _SQL["ignore_alerts"], ignored_by=by, ignored_by_id=by_id, sets=sets, keys=keys)


def stop_ignoring(conn: Connection, run: Row) -> bool:
    """False if the alert of the run isn't ignored."""
    columns = {"action_set_id": run["action_set_id"], "key": run["alert_key"]}
    return execute(conn, _SQL["stop_ignoring_alert"], **columns) > 0


def delete_ended(conn: Connection, *, days: int | None, chunk: int) -> int:
    """With `days`, also those that were last reported that long ago, if their sets hold nothing."""
    return execute(conn, _SQL["delete_ended_alerts"], days=days, chunk=chunk)


def find_last_report(conn: Connection) -> datetime | None:
    """When the last signal about an alert that had fired was evaluated."""
    return fetch_value(conn, _SQL["find_last_report"])


def add_holds(conn: Connection, holds: str) -> None:
    """`holds` is a JSON array of {run_id, position, action_set_id, change, held_at}."""
    execute(conn, _SQL["add_holds"], holds=holds)


def take_holds(conn: Connection, action_set_id: int, *, by: int) -> list[Row]:
    """{change, held_at} of the runs before the run `by`, which reverts them, the newest change
    first. The set holds nothing after that. `holders` is the JSON of `list_holders`, the same in
    each row."""
    return fetch_all(conn, _SQL["take_holds"], action_set_id=action_set_id, by=by)


def list_holders(conn: Connection, features: Sequence[str]) -> list[Row]:
    """{feature, environment, action_set_id, name, is_firing, is_kept} of the sets that hold the
    flags in their states; `is_firing` if the set is enabled and one of its alerts fires, `is_kept`
    if people keep the flag off."""
    return fetch_all(conn, _SQL["list_holders"], features=[*features])


def keep_off(
    conn: Connection, run: Row, *, feature: str | None, environment: str | None, by: str, by_id: int
) -> list[Row]:
    """{feature, environment} of the flags that the alert of the run held off, which the user keeps
    off now; only of the flag `feature` if it isn't None."""
    return fetch_all(
        conn,
        _SQL["keep_off"],
        action_set_id=run["action_set_id"],
        key=run["alert_key"],
        feature=feature,
        environment=environment,
        kept_by=by,
        kept_by_id=by_id,
    )


def list_held_flags(
    conn: Connection, *, limit: int, features: list[str] | None = None, payloads: bool
) -> list[Row]:
    """One row for each flag that a run for an alert holds in the state `enabled`, newest first, of
    some flags or of all. `payload` is in one row of each alert, and NULL without `payloads`."""
    return fetch_all(
        conn, _SQL["list_held_flags"], limit=limit, features=features, payloads=payloads
    )
