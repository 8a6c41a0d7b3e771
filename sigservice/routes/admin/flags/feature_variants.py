"""Environment variants of a flag, JSON."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sigservice.errors import BadDataError
from sigservice.services import revisions
from sigservice.services.flags import feature_variants
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.flags.variants import Variant
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import AdminGuard, Connection, Json, Router
from sigservice.web.json_patch import Patch, apply_patch

FEATURE = "/api/admin/projects/<project>/features/<name>"
VARIANTS = f"{FEATURE}/environments/<environment>/variants"


class VariantsBatch(msgspec.Struct):
    environments: list[str]
    variants: list[Variant]


router = Router(AdminGuard)


@router.get(VARIANTS, needs=VIEW)
def show_variants(conn: Connection, identity: Identity, target: FeatureEnvironment) -> Json:
    """`{"version": 1, "variants"}`, environment variants, which older SDKs use."""
    return _to_json(feature_variants.get(conn, target))


@router.put(VARIANTS, needs=EDIT, takes=list[Variant])
def replace_variants(
    conn: Connection, identity: Identity, target: FeatureEnvironment, body: list[Variant]
) -> Json:
    """Body: `[variant]`. `{"version": 1, "variants"}` with their weights, by name."""
    return _to_json(feature_variants.replace(conn, [target], body, identity))


@router.patch(VARIANTS, needs=EDIT, takes=Patch)
def patch_variants(
    conn: Connection, identity: Identity, target: FeatureEnvironment, body: Patch
) -> Json:
    """Body: JSON Patch on the array. As PUT."""
    revisions.lock(conn)  # nothing changes between the read and the write
    new = apply_patch(body, feature_variants.get(conn, target), list[Variant])
    return _to_json(feature_variants.replace(conn, [target], new, identity))


@router.put(f"{FEATURE}/variants-batch", needs=EDIT, takes=VariantsBatch)
def replace_variants_in_environments(
    conn: Connection, identity: Identity, project: str, name: str, body: VariantsBatch
) -> Json:
    """Body: `{environments: [name], variants}`. As PUT of one environment; all or none."""
    if not body.environments:
        raise BadDataError("At least one environment is required.", path="environments")
    environments = dict.fromkeys(body.environments)
    targets = [FeatureEnvironment(project, name, environment) for environment in environments]
    variants = feature_variants.replace(conn, targets, body.variants, identity, path="variants")
    return _to_json(variants)


def _to_json(variants: Sequence[dict[str, Any]]) -> Json:
    return {"version": 1, "variants": variants}
