"""The kinds of actions by name. Other tools use the same names, except for the last one here
and the kinds that `add_kinds` adds."""

from collections.abc import Mapping
from types import MappingProxyType

from sigservice.services.actions.action_kinds.kind import Kind
from sigservice.services.actions.action_kinds.set_rollout import SetRollout
from sigservice.services.actions.action_kinds.toggles import ToggleByTag, ToggleFeature

_kinds: dict[str, Kind] = {
    "TOGGLE_FEATURE_ON": ToggleFeature(on=True),
    "TOGGLE_FEATURE_OFF": ToggleFeature(on=False),
    "TOGGLE_FEATURES_ON_BY_TAG": ToggleByTag(on=True),
    "TOGGLE_FEATURES_OFF_BY_TAG": ToggleByTag(on=False),
    "SET_FEATURE_ROLLOUT": SetRollout(),
}
KINDS: Mapping[str, Kind] = MappingProxyType(_kinds)


def add_kinds(kinds: Mapping[str, Kind]) -> None:
    """Adds kinds of packages that import this one."""
    _kinds.update(kinds)
