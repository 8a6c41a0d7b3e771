"""Takes an inventory in: what there is, what is wrong with what is wanted, what changes."""

from __future__ import annotations

from dataclasses import dataclass

from sigservice.db.pool import Connection
from sigservice.errors import BadDataError, ExceedsLimitError
from sigservice.repository.flags import features
from sigservice.repository.transfer import definitions
from sigservice.services import revisions
from sigservice.services.identity import Identity
from sigservice.services.transfer import snapshots
from sigservice.services.transfer.definition_check import LIMIT, Finding, Ground
from sigservice.services.transfer.snapshot_check import Check
from sigservice.services.transfer.snapshot_write import Changes, Writer
from sigservice.services.transfer.snapshots import Inventory


@dataclass(frozen=True)
class Limits:
    """What the configuration allows."""

    segment_values: int
    strategy_segments: int


def look_around(conn: Connection, names: list[str], limits: Limits) -> Ground:
    """What there is already around these flags. Takes the lock: it stays true."""
    revisions.lock(conn)
    return Ground(
        have=snapshots.read(conn, names),
        places={row.pop("name"): row for row in definitions.list_places(conn)},
        feature_types=frozenset(row["id"] for row in features.list_types(conn)),
        segment_values=limits.segment_values,
        strategy_segments=limits.strategy_segments,
    )


def take_all(conn: Connection, wanted: Inventory, by: Identity, limits: Limits) -> Changes:
    """Everything or nothing. Raises BadDataError with all that is wrong, ExceedsLimitError."""
    check = Check(look_around(conn, [feature.name for feature in wanted.features], limits))
    kept = check.run(wanted)
    refuse(check.findings)
    return Writer(conn, check.ground.have, by, overwrite=True).write(kept)


def take_what_fits(
    conn: Connection, wanted: Inventory, by: Identity, limits: Limits
) -> tuple[Changes, list[Finding]]:
    """And why the rest does not. Raises ExceedsLimitError."""
    ground = look_around(conn, [feature.name for feature in wanted.features], limits)
    check = Check(ground, lenient=True)
    kept = check.run(wanted)
    refuse([finding for finding in check.findings if finding.kind == LIMIT])
    return Writer(conn, ground.have, by, overwrite=True).write(kept), check.findings


def refuse(findings: list[Finding]) -> None:
    """Raises BadDataError, or ExceedsLimitError, if there are any."""
    if findings:
        details = [{"message": found.message, "path": found.path} for found in findings]
        is_limit = any(found.kind == LIMIT for found in findings)
        kind = ExceedsLimitError if is_limit else BadDataError
        raise kind(findings[0].message, details=details)
