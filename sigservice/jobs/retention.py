"""Deletes signals that are too old, too many or without an endpoint, old client metrics,
instances, runs, notifications and mails, in short transactions.

Safe at any kill and in several processes: each chunk is a statement of its own, and what two
processes try to delete twice is simply gone the second time.
"""

from __future__ import annotations

from collections.abc import Callable

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.repository.actions import action_runs, notifications
from sigservice.repository.signals import signal_queue, signals
from sigservice.repository.system import mails
from sigservice.repository.usage import (
    client_applications,
    client_metrics,
    feature_last_seen,
)

CHUNK = 5_000
APPLICATION_DAYS = 30
NOTIFICATION_DAYS = 30
MAIL_DAYS = 30
INSTANCE_DAYS = 2  # as the compared server forgets instances


def run_once(context: Context) -> int:
    """How many rows were deleted."""
    return _signals(context) + _reports(context) + _runs(context)


def _runs(context: Context) -> int:
    days = context.config["actions"]["runRetentionDays"]
    deleted = 0
    if days:
        deleted += _in_chunks(
            context, lambda conn: action_runs.delete_old(conn, days=days, chunk=CHUNK)
        )
    deleted += _in_chunks(
        context, lambda conn: notifications.delete_old(conn, days=NOTIFICATION_DAYS, chunk=CHUNK)
    )
    deleted += _in_chunks(context, lambda conn: mails.delete_old(conn, days=MAIL_DAYS, chunk=CHUNK))
    return deleted + _in_chunks(
        context, lambda conn: signal_queue.delete_orphaned_verdicts(conn, CHUNK)
    )


def _reports(context: Context) -> int:
    hours = context.config["metrics"]["hourlyRetentionHours"]
    deletes: tuple[Callable[[Connection], int], ...] = (
        lambda conn: client_metrics.delete_old(conn, hours=hours, chunk=CHUNK),
        lambda conn: client_metrics.delete_old_variants(conn, hours=hours, chunk=CHUNK),
        lambda conn: client_applications.delete_old_instances(
            conn, days=INSTANCE_DAYS, chunk=CHUNK
        ),
        lambda conn: client_applications.delete_old_names(conn, days=INSTANCE_DAYS, chunk=CHUNK),
        lambda conn: client_applications.delete_old(conn, days=APPLICATION_DAYS, chunk=CHUNK),
        lambda conn: feature_last_seen.delete_orphaned(conn, chunk=CHUNK),
    )
    return sum(_in_chunks(context, delete) for delete in deletes)


def _signals(context: Context) -> int:
    settings = context.config["signals"]
    deleted = 0
    if settings["retentionDays"]:
        deleted += _in_chunks(
            context,
            lambda conn: signals.delete_old(conn, days=settings["retentionDays"], chunk=CHUNK),
        )
    with context.database.autocommit() as conn:
        endpoints = signals.list_endpoint_ids(conn)
    for endpoint in endpoints:
        keep = 0 if endpoint["is_deleted"] else settings["retentionCount"]
        if keep or endpoint["is_deleted"]:
            deleted += _surplus(context, endpoint["endpoint_id"], keep)
    return deleted


def _surplus(context: Context, endpoint_id: int, keep: int) -> int:
    return _in_chunks(
        context, lambda conn: signals.delete_surplus(conn, endpoint_id, keep=keep, chunk=CHUNK)
    )


def _in_chunks(context: Context, delete: Callable[[Connection], int]) -> int:
    total = 0
    while not context.stopping.is_set():
        with context.database.autocommit() as conn:
            deleted = delete(conn)
        total += deleted
        if deleted < CHUNK:
            break
    return total
