"""Changes by other users to a flag that a release moves.

A release stores the content that it left: the strategies of the flag in the environment, and
whether the flag is enabled there. If the content differs later, a person, an action or an import
has changed it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

ROLLOUT_TYPE = "flexibleRollout"
RANDOM = "With the stickiness random, each step would choose other users."
_LABELS = {
    "constraints": "constraints", "segments": "segments", "variants": "variants",
    "parameters": "parameters", "disabled": "state",
}  # fmt: skip


class ContentChange(NamedTuple):
    """Sentences, "" if nothing happened: `end` if nothing is left to release, `edit` if the release
    must not go on without a person."""

    end: str = ""
    edit: str = ""


def compare_contents(
    expected: Mapping[str, Any], present: Mapping[str, Any], strategy_id: str
) -> ContentChange:
    """Ignores changes that harm no release: the flag was enabled, or another strategy removed."""
    own = present["strategies"].get(strategy_id)
    if own is None:
        return ContentChange(end="The strategy was deleted.")
    if own["name"] != ROLLOUT_TYPE:
        return ContentChange(end="The strategy is no longer a gradual rollout.")
    before = expected["strategies"].get(strategy_id, own)
    if own != before:
        return ContentChange(edit=_describe(before, own))
    if expected["enabled"] and not present["enabled"]:
        return ContentChange(edit="The flag was disabled.")
    for id, strategy in present["strategies"].items():
        if id not in expected["strategies"]:
            return ContentChange(edit="Another strategy was added.")
        if strategy != expected["strategies"][id]:
            return ContentChange(edit="Another strategy was changed.")
    return ContentChange()


def read_rollout(content: Mapping[str, Any], strategy_id: str) -> int:
    """The present percentage of a strategy that exists."""
    parameters = content["strategies"][strategy_id]["parameters"]
    text = str(parameters.get("rollout", ""))
    return int(text) if text.isdecimal() else 0


def is_random(content: Mapping[str, Any], strategy_id: str) -> bool:
    """Whether a strategy that exists chooses users at random."""
    return bool(content["strategies"][strategy_id]["parameters"].get("stickiness") == "random")


def _describe(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    old, new = before["parameters"], after["parameters"]
    if old.get("rollout") != new.get("rollout"):
        return f"The percentage was changed from {old.get('rollout')}% to {new.get('rollout')}%."
    if not before["disabled"] and after["disabled"]:
        return "The strategy was disabled."
    names = [_LABELS[name] for name in _LABELS if before.get(name) != after.get(name)]
    return f"The {' and '.join(names)} of the strategy changed."
