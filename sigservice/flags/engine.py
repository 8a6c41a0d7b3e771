"""The adapter to the evaluation engine: the flags of one environment at one revision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from yggdrasil_engine.engine import UnleashEngine

from sigservice.flags.context_dependency import ContextDependency, EngineDocument


class EngineError(Exception):
    """The engine has refused a document."""


class _Engine(UnleashEngine):  # type: ignore[misc]
    def should_emit_impression_event(self, toggle_name: str) -> bool:
        """Asked with each evaluation, a third of its cost; the document says it too."""
        return False


class FlagEngine:
    """Answers from the document that it was made of, and is never given another: a change makes a
    new engine, so nobody meets one that has taken half of its flags."""

    def __init__(self, document: bytes, revision: int) -> None:
        """`document` is the client API's, of all projects. Raises EngineError."""
        self.revision = revision
        self.mark = object()  # of its answers: whoever keeps one keeps no engine
        flags = msgspec.json.decode(document, type=EngineDocument)
        self._engine = _Engine()
        self._engine.take_state(document.decode())
        # It does not tell that it took nothing, as it does when one member has a wrong type.
        taken = {known.name for known in self._engine.list_known_toggles()}
        if taken != {flag.name for flag in flags.features}:
            raise EngineError(f"It took {len(taken)} of {len(flags.features)} flags.")
        self.context_dependency = ContextDependency(flags)
        self._on = [flag for flag in flags.features if flag.enabled]

    def evaluate(self, context: dict[str, Any], projects: Sequence[str]) -> list[dict[str, Any]]:
        """The flags of these projects (`*`: all) that are on for this context, by name. Parents
        count wherever they are."""
        # check_… counts nothing; get_variant would fill a bucket that nobody empties.
        check, is_all = self._engine.check_variant, "*" in projects
        toggles = []
        for flag in self._on:
            if is_all or flag.project in projects:
                variant = check(flag.name, context).variant
                if variant.feature_enabled:
                    toggles.append(
                        {
                            "name": flag.name,
                            "enabled": True,
                            "variant": _variant(variant),
                            "impressionData": flag.impressionData,
                        }
                    )
        return toggles


def _variant(variant: Any) -> dict[str, Any]:
    """Old SDKs read `feature_enabled`."""
    payload = {"payload": variant.payload} if variant.payload else {}
    return {
        "name": variant.name,
        **payload,
        "enabled": variant.enabled,
        "feature_enabled": True,
        "featureEnabled": True,
    }
