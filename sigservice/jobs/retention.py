"""Deletes signals that are too old, exceed their limit or have no endpoint, and old client metrics,
instances, applications, runs, notifications and mails.

Each chunk is one short transaction, so the job can be killed at any time and can run in several
processes.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.repository.actions import action_runs, notifications
from sigservice.repository.signals import signal_queue, signals, silence_notifications
from sigservice.repository.system import mails
from sigservice.repository.usage import client_applications, client_metrics, feature_last_seen

Delete = Callable[[Connection], int]

CHUNK = 5_000
APPLICATION_DAYS = 30
NOTIFICATION_DAYS = 30
MAIL_DAYS = 30
INSTANCE_DAYS = 2  # as in Unleash


def run_once(context: Context) -> int:
    """Returns how many rows were deleted."""
    lists = (_list_signal_deletes, _list_usage_deletes, _list_run_deletes)
    deletes = chain.from_iterable(list_deletes(context) for list_deletes in lists)
    return sum(_delete_in_chunks(context, delete) for delete in deletes)


def _list_signal_deletes(context: Context) -> Iterator[Delete]:
    limits = context.config["signals"]
    if limits["retentionDays"]:
        yield partial(signals.delete_old, days=limits["retentionDays"], chunk=CHUNK)
    with context.database.autocommit() as conn:
        endpoints = signals.list_endpoint_ids(conn)
    for endpoint in endpoints:
        keep = 0 if endpoint["is_deleted"] else limits["retentionCount"]
        if keep or endpoint["is_deleted"]:
            id = endpoint["endpoint_id"]
            yield partial(signals.delete_surplus, endpoint_id=id, keep=keep, chunk=CHUNK)


def _list_usage_deletes(context: Context) -> Iterator[Delete]:
    hours = context.config["metrics"]["hourlyRetentionHours"]
    yield partial(client_metrics.delete_old, hours=hours, chunk=CHUNK)
    yield partial(client_metrics.delete_old_variants, hours=hours, chunk=CHUNK)
    yield partial(client_applications.delete_old_instances, days=INSTANCE_DAYS, chunk=CHUNK)
    yield partial(client_applications.delete_old_names, days=INSTANCE_DAYS, chunk=CHUNK)
    yield partial(client_applications.delete_old, days=APPLICATION_DAYS, chunk=CHUNK)
    yield partial(feature_last_seen.delete_orphaned, chunk=CHUNK)


def _list_run_deletes(context: Context) -> Iterator[Delete]:
    if days := context.config["actions"]["runRetentionDays"]:
        yield partial(action_runs.delete_old, days=days, chunk=CHUNK)
    yield partial(notifications.delete_old, days=NOTIFICATION_DAYS, chunk=CHUNK)
    yield partial(silence_notifications.delete_old, days=NOTIFICATION_DAYS, chunk=CHUNK)
    yield partial(mails.delete_old, days=MAIL_DAYS, chunk=CHUNK)
    yield partial(signal_queue.delete_orphaned_results, chunk=CHUNK)


def _delete_in_chunks(context: Context, delete: Delete) -> int:
    total = 0
    while not context.stopping.is_set():
        with context.database.autocommit() as conn:
            count = delete(conn)
        total += count
        if count < CHUNK:
            break
    return total
