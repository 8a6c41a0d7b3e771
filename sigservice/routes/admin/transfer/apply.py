"""Admin API: applies files of definitions, flags as code."""

from typing import ClassVar

import msgspec

from sigservice.clock import format_iso
from sigservice.errors import BadDataError
from sigservice.repository.flags import sources
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.transfer import apply_sources
from sigservice.services.transfer.apply_sources import ManagedItem
from sigservice.services.transfer.applying import ApplyRequest, apply_files
from sigservice.services.transfer.snapshot_import import ImportLimits
from sigservice.web import AdminGuard, Connection, Context, Json, Router

BODY_LIMIT = 5 * 1024 * 1024
MAX_DOCUMENTS = 100


class ReleaseBody(msgspec.Struct):
    """Without `items` all of them, and the source is forgotten."""

    read_only: ClassVar = ()
    source: str
    items: list[ManagedItem] | None = None


router = Router(AdminGuard)


@router.post("/api/admin/apply", needs=VIEW, takes=ApplyRequest, body_limit=BODY_LIMIT)
def apply(context: Context, identity: Identity, body: ApplyRequest) -> Json:
    """Body: `{documents, check?, source?, revision?, adopt?, prune?, revive?, conflicts?,
    fingerprint?}`. The plan: `{applied, source, revision, fingerprint, counts, changes, held,
    skipped, notes}`, see [flags-as-code.md](flags-as-code.md#the-route). An apply needs what its
    changes need."""
    if not 1 <= len(body.documents) <= MAX_DOCUMENTS:
        text = f"There must be 1 to {MAX_DOCUMENTS} documents."
        raise BadDataError(text, path="documents")
    limits = ImportLimits.from_config(context.config)
    now = context.clock.now()
    return apply_files(context.database.transaction, body, identity, limits, now)


@router.get("/api/admin/sources", needs=VIEW)
def list_sources(conn: Connection, identity: Identity) -> Json:
    """`{sources: [{name, revision, appliedAt, appliedBy, counts: {flag, segment}}]}`."""
    return {
        "sources": [
            {
                "name": row["name"],
                "revision": row["revision"],
                "appliedAt": format_iso(row["applied_at"]),
                "appliedBy": row["applied_by"],
                "counts": {"flag": row["flags"], "segment": row["segments"]},
            }
            for row in sources.list_all(conn)
        ]
    }


@router.post("/api/admin/sources/release", needs=EDIT, takes=ReleaseBody)
def release_source(conn: Connection, identity: Identity, body: ReleaseBody) -> Json:
    """Body: `{source, items?: [{kind, name}]}`. `{released}`, the number of flags and segments that
    the source no longer manages; without `items` all of them, and the source is forgotten. 404 for
    what it doesn't manage."""
    return {"released": apply_sources.release(conn, body.source, body.items, identity)}
