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
from sigservice.web import AdminGuard, Context, HTTPResponse, Router, respond
from sigservice.web.json_patch import Patch, apply_patch

FEATURE = "/api/admin/projects/<project>/features/<name>"
VARIANTS = f"{FEATURE}/environments/<environment>/variants"


class VariantsBatch(msgspec.Struct):
    environments: list[str]
    variants: list[Variant]


router = Router(AdminGuard)


@router.get(VARIANTS, needs=VIEW)
def show_variants(
    context: Context, identity: Identity, project: str, name: str, environment: str
) -> HTTPResponse:
    with context.database.transaction() as conn:
        variants = feature_variants.get(conn, FeatureEnvironment(project, name, environment))
    return _respond(variants)


@router.put(VARIANTS, needs=EDIT, takes=list[Variant])
def replace_variants(
    context: Context,
    identity: Identity,
    project: str,
    name: str,
    environment: str,
    body: list[Variant],
) -> HTTPResponse:
    target = FeatureEnvironment(project, name, environment)
    with context.database.transaction() as conn:
        variants = feature_variants.replace(conn, [target], body, identity)
    return _respond(variants)


@router.patch(VARIANTS, needs=EDIT, takes=Patch)
def patch_variants(
    context: Context, identity: Identity, project: str, name: str, environment: str, body: Patch
) -> HTTPResponse:
    target = FeatureEnvironment(project, name, environment)
    with context.database.transaction() as conn:
        revisions.lock(conn)  # nothing changes between the read and the write
        new = apply_patch(body, feature_variants.get(conn, target), list[Variant])
        variants = feature_variants.replace(conn, [target], new, identity)
    return _respond(variants)


@router.put(f"{FEATURE}/variants-batch", needs=EDIT, takes=VariantsBatch)
def replace_variants_in_environments(
    context: Context, identity: Identity, project: str, name: str, body: VariantsBatch
) -> HTTPResponse:
    if not body.environments:
        raise BadDataError("At least one environment is required.", path="environments")
    environments = dict.fromkeys(body.environments)
    targets = [FeatureEnvironment(project, name, environment) for environment in environments]
    with context.database.transaction() as conn:
        variants = feature_variants.replace(conn, targets, body.variants, identity, path="variants")
    return _respond(variants)


def _respond(variants: Sequence[dict[str, Any]]) -> HTTPResponse:
    return respond.json({"version": 1, "variants": variants})
