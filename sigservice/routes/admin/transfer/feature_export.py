"""Admin API: export and import of flags of one environment in the format of Unleash."""

from typing import Any

import msgspec

from sigservice.errors import BadDataError
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.transfer import feature_export, feature_import
from sigservice.services.transfer.snapshot_import import ImportLimits
from sigservice.web import AdminGuard, Context, Json, Router, respond

BATCH = "/api/admin/features-batch"
BODY_LIMIT = 5 * 1024 * 1024


class ExportBody(msgspec.Struct):
    """The first of `features`, `project` and `tag` (type:value) that is set selects the flags."""

    environment: str
    features: list[str] | None = None
    project: str | None = None
    tag: str | None = None
    downloadFile: bool = False


class ImportBody(msgspec.Struct):
    """`data` is an export of this or another server."""

    project: str
    environment: str
    data: dict[str, Any]


router = Router(AdminGuard)


@router.post(f"{BATCH}/export", needs=VIEW, takes=ExportBody, body_limit=BODY_LIMIT)
def export_features(context: Context, identity: Identity, body: ExportBody) -> Json:
    """Body: `{environment, features: [name] | project | tag, downloadFile?}`. `{features,
    featureStrategies, featureEnvironments, contextFields, featureTags, segments, tagTypes,
    dependencies}`."""
    if body.features is None and body.project is None and body.tag is None:
        raise BadDataError("One of features, project or tag is required.", path="features")
    scope: dict[str, Any] = {"features": body.features}
    if body.features is None:
        scope = {"project": body.project} if body.project is not None else {"tag": body.tag}
    with context.database.transaction(is_slow=True, snapshot=True) as conn:
        document = feature_export.export_features(conn, body.environment, **scope)
    if not body.downloadFile:
        return document
    day = context.clock.now().date().isoformat()
    name = f'attachment; filename="flags-{day}.json"'
    return respond.json(document, content_disposition=name)


@router.post(f"{BATCH}/validate", needs=EDIT, takes=ImportBody, body_limit=BODY_LIMIT)
def validate_import(context: Context, identity: Identity, body: ImportBody) -> Json:
    """Body: `{project, environment, data}`. `{errors, warnings, permissions}`, each `[{message,
    affectedItems}]`."""
    document = feature_import.parse_document(body.data)
    limits = ImportLimits.from_config(context.config)
    with context.database.transaction() as conn:
        return feature_import.validate_import(
            conn, body.project, body.environment, document, limits
        )


@router.post(f"{BATCH}/import", needs=EDIT, takes=ImportBody, body_limit=BODY_LIMIT)
def import_features(context: Context, identity: Identity, body: ImportBody) -> None:
    """Body: `{project, environment, data}`. All or nothing; 400 lists every problem with its path
    in the body."""
    document = feature_import.parse_document(body.data)
    limits = ImportLimits.from_config(context.config)
    with context.database.transaction() as conn:
        feature_import.import_features(
            conn, body.project, body.environment, document, identity, limits
        )
