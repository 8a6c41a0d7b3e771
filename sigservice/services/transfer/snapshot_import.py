"""Imports a snapshot: reads the target, checks the snapshot, writes the differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sigservice.db import Connection
from sigservice.errors import BadDataError, ExceedsLimitError
from sigservice.repository.flags import features
from sigservice.repository.transfer import definitions
from sigservice.services import revisions
from sigservice.services.identity import Identity
from sigservice.services.transfer import snapshots
from sigservice.services.transfer.definition_checker import LIMIT, Finding, ImportTarget
from sigservice.services.transfer.snapshot_checker import SnapshotChecker
from sigservice.services.transfer.snapshot_writer import ImportChanges, OnWritten, SnapshotWriter
from sigservice.services.transfer.snapshots import Snapshot


@dataclass(frozen=True)
class ImportLimits:
    """The configured limits."""

    max_segment_values: int
    max_strategy_segments: int

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> ImportLimits:
        return cls(config["segmentValuesLimit"], config["strategySegmentsLimit"])


def read_target(conn: Connection, names: list[str], limits: ImportLimits) -> ImportTarget:
    """What exists already, with the flags of these names. Takes the lock, so that it stays valid
    for the transaction."""
    revisions.lock(conn)
    return ImportTarget(
        existing=snapshots.read_snapshot(conn, names),
        locations={row.pop("name"): row for row in definitions.list_feature_locations(conn)},
        feature_types=frozenset(row["id"] for row in features.list_types(conn)),
        max_segment_values=limits.max_segment_values,
        max_strategy_segments=limits.max_strategy_segments,
    )


def import_snapshot(
    conn: Connection,
    snapshot: Snapshot,
    by: Identity,
    limits: ImportLimits,
    on_written: OnWritten = bool,
) -> ImportChanges:
    """Imports everything or nothing. Raises BadDataError with all findings, ExceedsLimitError."""
    target = read_target(conn, [feature.name for feature in snapshot.features], limits)
    checker = SnapshotChecker(target)
    accepted = checker.check(snapshot)
    raise_findings(checker.findings)
    writer = SnapshotWriter(conn, target.existing, by, overwrite=True, on_written=on_written)
    return writer.write(accepted)


def import_valid_parts(
    conn: Connection,
    snapshot: Snapshot,
    by: Identity,
    limits: ImportLimits,
    on_written: OnWritten = bool,
) -> tuple[ImportChanges, list[Finding]]:
    """Imports what is valid; the findings explain the rest. Raises ExceedsLimitError."""
    target = read_target(conn, [feature.name for feature in snapshot.features], limits)
    checker = SnapshotChecker(target, lenient=True)
    accepted = checker.check(snapshot)
    raise_findings([finding for finding in checker.findings if finding.kind == LIMIT])
    writer = SnapshotWriter(conn, target.existing, by, overwrite=True, on_written=on_written)
    return writer.write(accepted), checker.findings


def raise_findings(findings: list[Finding]) -> None:
    """Raises BadDataError, or ExceedsLimitError, if there are findings."""
    if findings:
        details = [{"message": finding.message, "path": finding.path} for finding in findings]
        is_limit = any(finding.kind == LIMIT for finding in findings)
        error_type = ExceedsLimitError if is_limit else BadDataError
        raise error_type(findings[0].message, details=details)
