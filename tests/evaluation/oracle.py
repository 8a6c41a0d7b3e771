"""The official engine of the SDKs, which says what a document evaluates to."""

from __future__ import annotations

import copy
import json
from typing import Any

from yggdrasil_engine.engine import UnleashEngine

Json = dict[str, Any]


class Oracle(UnleashEngine):
    def __init__(self, document: Json) -> None:
        super().__init__()
        self.take_state(json.dumps(without_invalid_parts(document)))

    def should_emit_impression_event(self, toggle_name: str) -> bool:
        return False  # half the time of an evaluation

    def find_variant(self, name: str, context: Json) -> Json | None:
        """The variant as the frontend API shows it; None for a disabled flag."""
        variant = self.check_variant(name, context).variant
        if not variant.feature_enabled:
            return None
        payload = {"payload": variant.payload} if variant.payload else {}
        both = {"feature_enabled": True, "featureEnabled": True}
        return {"name": variant.name, **payload, "enabled": variant.enabled} | both


def without_invalid_parts(document: Json) -> Json:
    """The document with a custom strategy, which never matches, for each one with an invalid
    constraint or an unknown segment: that engine gives up the whole flag for them."""
    document = copy.deepcopy(document)
    segments = {it["id"]: it["constraints"] for it in document.get("segments", ())}
    for flag in document["features"]:
        for strategy in flag["strategies"]:
            ids = strategy.get("segments", ())
            constraints = list(strategy.get("constraints", ()))
            for id in ids:
                constraints += segments.get(id, ())
            is_invalid = any(it.get("invalid") for it in constraints)
            if strategy["name"] == "flexibleRollout":
                # That engine hashes a parent's rollout with the child's name.
                strategy["parameters"].setdefault("groupId", flag["name"])
            if is_invalid or not set(ids) <= set(segments):
                strategy.update(name="never", constraints=[], segments=[])
    for constraints in segments.values():
        constraints[:] = [it for it in constraints if not it.get("invalid")]
    return document
