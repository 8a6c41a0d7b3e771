"""Deletes signals that are too old, exceed their limit or have no endpoint, old events if that is
configured, and old client metrics, instances, applications, runs, ended releases, messages and
mails.

Signals and events are first written to the archive, if there is one. Each chunk is one short
transaction, so the job can be killed at any time and can run in several processes. A chunk that was
archived but not deleted is archived again by the next run.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from sigservice.context import Context
from sigservice.db import Connection, Row
from sigservice.jobs import archive
from sigservice.repository import outbox, revisions
from sigservice.repository.actions import action_runs, action_sets, alerts
from sigservice.repository.releases import releases
from sigservice.repository.signals import signal_queue, signals
from sigservice.repository.system import events, once_pages
from sigservice.repository.usage import client_applications, client_metrics, impact_metrics, reports
from sigservice.services.identity import SYSTEM
from sigservice.services.signals.signal_storage import to_archive_json
from sigservice.services.system.events import to_json as to_event_json

Delete = Callable[[Connection], int]
Lock = Callable[..., list[int]]

CHUNK = 5_000
ARCHIVE_CHUNK = 200  # whose payloads are in memory
APPLICATION_DAYS = 30
MESSAGE_DAYS = 30  # of the outbox, after the last attempt
INSTANCE_DAYS = 2  # as in Unleash
IMPACT_MINUTES_HOURS = 3  # of impact metrics by minute


class Kind(NamedTuple):
    """What the archive keeps; `name` is the name of its files."""

    name: str
    list_by_ids: Callable[[Connection, list[int]], list[Row]]
    delete_by_ids: Callable[[Connection, list[int]], int]
    to_json: Callable[[Row], dict[str, Any]]


SIGNALS = Kind("signals", signals.list_by_ids, signals.delete_by_ids, to_archive_json)
EVENTS = Kind(
    "events", events.list_by_ids, events.delete_by_ids, partial(to_event_json, identity=SYSTEM)
)


def run_once(context: Context) -> int:
    """Returns how many rows were deleted. Raises OSError if the archive can't be written; its kinds
    come last, so that everything else is deleted anyway."""
    lists = (_list_usage_deletes, _list_run_deletes, _list_event_deletes, _list_signal_deletes)
    deletes = chain.from_iterable(list_deletes(context) for list_deletes in lists)
    return sum(_delete_in_chunks(context, delete) for delete in deletes)


def _list_usage_deletes(context: Context) -> Iterator[Delete]:
    hours = context.config["metrics"]["hourlyRetentionHours"]
    yield partial(client_metrics.delete_old, hours=hours, chunk=CHUNK)
    yield partial(client_metrics.delete_old_variants, hours=hours, chunk=CHUNK)
    for seconds, age in ((60, IMPACT_MINUTES_HOURS), (3600, hours)):
        delete = impact_metrics.delete_old_windows
        yield partial(delete, seconds=seconds, hours=age, chunk=CHUNK)
    yield partial(client_applications.delete_old_instances, days=INSTANCE_DAYS, chunk=CHUNK)
    yield partial(client_applications.delete_old_names, days=INSTANCE_DAYS, chunk=CHUNK)
    yield partial(client_applications.delete_old, days=APPLICATION_DAYS, chunk=CHUNK)
    yield partial(reports.delete_orphaned_last_seen, chunk=CHUNK)
    yield partial(impact_metrics.delete_orphaned_series, chunk=CHUNK)
    yield partial(impact_metrics.delete_orphaned_groups, chunk=CHUNK)
    yield partial(revisions.delete_old_changes, chunk=CHUNK)


def _list_run_deletes(context: Context) -> Iterator[Delete]:
    days = context.config["actions"]["runRetentionDays"]
    yield partial(alerts.delete_ended, days=days or None, chunk=CHUNK)
    if days:
        yield partial(action_runs.delete_old, days=days, chunk=CHUNK)
        yield partial(action_sets.delete_done, chunk=CHUNK)
        yield partial(releases.delete_old, days=days, chunk=CHUNK)
    yield partial(once_pages.delete_unread, chunk=CHUNK)
    yield partial(outbox.delete_old, days=MESSAGE_DAYS, chunk=CHUNK)
    yield partial(signal_queue.delete_orphaned_results, chunk=CHUNK)


def _list_event_deletes(context: Context) -> Iterator[Delete]:
    if days := context.config["events"]["retentionDays"]:
        yield _archive_first(context, EVENTS, partial(events.lock_old, days=days))


def _list_signal_deletes(context: Context) -> Iterator[Delete]:
    limits = context.config["signals"]
    if limits["retentionDays"]:
        lock: Lock = partial(signals.lock_old, days=limits["retentionDays"])
        yield _archive_first(context, SIGNALS, lock)
    with context.database.autocommit() as conn:
        endpoints = signals.list_endpoint_ids(conn)
    for endpoint in endpoints:
        keep = 0 if endpoint["is_deleted"] else limits["retentionCount"]
        if keep or endpoint["is_deleted"]:
            id = endpoint["endpoint_id"]
            lock = partial(signals.lock_surplus, endpoint_id=id, keep=keep)
            yield _archive_first(context, SIGNALS, lock)


def _archive_first(context: Context, kind: Kind, lock: Lock) -> Delete:
    """A deletion of the rows that `lock` finds. An error of the archive rolls it back."""
    directory = context.config["archiveDir"]

    def delete(conn: Connection) -> int:
        ids = lock(conn, chunk=ARCHIVE_CHUNK if directory else CHUNK)
        if ids and directory:
            rows = kind.list_by_ids(conn, ids)
            entries = [archive.Entry(row["created_at"], kind.to_json(row)) for row in rows]
            archive.append(directory, kind.name, entries)
        return kind.delete_by_ids(conn, ids)

    return delete


def _delete_in_chunks(context: Context, delete: Delete) -> int:
    """Stops when all remaining rows are locked by other processes."""
    total = 0
    while not context.stopping.is_set():
        with context.database.transaction() as conn:
            count = delete(conn)
        total += count
        if not count:
            break
    return total
