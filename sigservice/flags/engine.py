"""The adapter to the evaluation engine: the flags of one environment at one revision."""

from collections.abc import Sequence
from typing import Any

import msgspec
from yggdrasil_engine.engine import UnleashEngine

from sigservice.flags.context_dependency import ContextDependency, EngineDocument


class EngineError(Exception):
    """The engine rejects a document."""


class _Engine(UnleashEngine):  # type: ignore[misc]
    def should_emit_impression_event(self, toggle_name: str) -> bool:
        """The engine calls this for each evaluation, a third of its cost; FlagEngine reads the
        document instead."""
        return False


class FlagEngine:
    """Evaluates the flags of one document. A change makes a new engine, so no request uses a
    partly loaded engine."""

    def __init__(self, document: bytes, revision: int) -> None:
        """`document` is the one of the client API, of all projects. Raises EngineError."""
        self.revision = revision
        self.mark = object()  # ties cached documents to this engine without keeping it in memory
        flags = msgspec.json.decode(document, type=EngineDocument)
        self._engine = _Engine()
        self._engine.take_state(document.decode())
        # The engine loads nothing, silently, when one member has a wrong type.
        names = {toggle.name for toggle in self._engine.list_known_toggles()}
        if names != {flag.name for flag in flags.features}:
            raise EngineError(f"The engine loaded {len(names)} of {len(flags.features)} flags.")
        self.context_dependency = ContextDependency(flags)
        self._enabled_flags = [flag for flag in flags.features if flag.enabled]

    def evaluate(self, context: dict[str, Any], projects: Sequence[str]) -> list[dict[str, Any]]:
        """Returns the flags of these projects (`*`: all) that are enabled for this context, by
        name. Parents may be in any project."""
        # check_… counts nothing; get_variant would fill a metrics bucket that is never emptied.
        check, is_all = self._engine.check_variant, "*" in projects
        toggles = []
        for flag in self._enabled_flags:
            if is_all or flag.project in projects:
                variant = check(flag.name, context).variant
                if variant.feature_enabled:
                    toggles.append(
                        {
                            "name": flag.name,
                            "enabled": True,
                            "variant": _variant_to_json(variant),
                            "impressionData": flag.impressionData,
                        }
                    )
        return toggles


def _variant_to_json(variant: Any) -> dict[str, Any]:
    # Old SDKs read `feature_enabled`.
    payload = {"payload": variant.payload} if variant.payload else {}
    return {
        "name": variant.name,
        **payload,
        "enabled": variant.enabled,
        "feature_enabled": True,
        "featureEnabled": True,
    }
