"""Environment variants: variants of a flag in an environment, outside its strategies.

Unleash replaced them by the variants of strategies. Scripts and older SDKs still use them.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from sigservice.db import Connection, Row
from sigservice.errors import BadDataError
from sigservice.repository.flags import feature_environments
from sigservice.services import revisions
from sigservice.services.flags import feature_states, variants
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.flags.variants import Variant
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems
from sigservice.services.system import events


def get(conn: Connection, target: FeatureEnvironment) -> list[dict[str, Any]]:
    """The stored variants. Raises NotFoundError."""
    return _decode(feature_states.get_state(conn, target))


def replace(
    conn: Connection,
    targets: Sequence[FeatureEnvironment],
    new: Sequence[Variant],
    by: Identity,
    *,
    path: str = "",
) -> list[dict[str, Any]]:
    """Sets the variants of one flag in one or several environments, all or none, and returns them
    with their weights, by name. `path` is the path of the variants in the body.

    Raises NotFoundError, BadDataError for invalid variants and for an archived flag.
    """
    problems = Problems()
    # SDKs choose a variant by its position, so the order must not depend on the caller.
    checked = sorted(variants.check(new, problems, path), key=lambda variant: variant["name"])
    problems.raise_if_any()
    revisions.lock(conn)
    states = feature_states.list_states(conn, targets)
    for target in targets:
        state = states.get(target) or feature_states.get_state(conn, target)
        if state["archived"]:
            raise BadDataError(f"{target.feature} is archived. Revive it first.")
    before = {target: _decode(states[target]) for target in targets}
    changed = [target for target in before if before[target] != checked]
    if changed:
        feature_environments.set_variants(
            conn,
            changed[0].feature,
            [target.environment for target in changed],
            msgspec.json.encode(checked).decode(),
        )
        items = [
            target.event_scope
            | {"data": {"variants": checked}, "pre_data": {"variants": before[target]}}
            for target in changed
        ]
        events.record_many(conn, "feature-environment-variants-updated", by, items)
        revisions.bump(
            conn, *(target.environment for target in changed), flags=[changed[0].feature]
        )
    return checked


def _decode(state: Row) -> list[dict[str, Any]]:
    return msgspec.json.decode(state["variants"], type=list[dict[str, Any]])
