"""Admin API: applies files of definitions, flags as code."""

from sigservice.errors import BadDataError
from sigservice.services.identity import VIEW, Identity
from sigservice.services.transfer.applying import ApplyRequest, apply_files
from sigservice.services.transfer.snapshot_import import ImportLimits
from sigservice.web import AdminGuard, Context, Json, Router

BODY_LIMIT = 5 * 1024 * 1024
MAX_DOCUMENTS = 100

router = Router(AdminGuard)


@router.post("/api/admin/apply", needs=VIEW, takes=ApplyRequest, body_limit=BODY_LIMIT)
def apply(context: Context, identity: Identity, body: ApplyRequest) -> Json:
    """Body: `{documents, check?, revive?, conflicts?, fingerprint?}`. The plan: `{applied,
    fingerprint, counts, changes, held, skipped, notes}`, see
    [flags-as-code.md](flags-as-code.md#the-route). An apply needs what its changes need."""
    if not 1 <= len(body.documents) <= MAX_DOCUMENTS:
        text = f"There must be 1 to {MAX_DOCUMENTS} documents."
        raise BadDataError(text, path="documents")
    limits = ImportLimits.from_config(context.config)
    return apply_files(context.database.transaction, body, identity, limits)
