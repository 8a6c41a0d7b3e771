"""Details of a planned change, for the answer of an apply: what differs, before and after."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from sigservice.services.strategy_summaries import (
    summarize_constraint,
    summarize_parent,
    summarize_strategy,
    summarize_variants,
)
from sigservice.services.transfer.snapshots import Feature, FeatureState, StrategyDefinition

Detail = dict[str, Any]


def list_details(before: Any, after: Any, attributes: Collection[str]) -> list[Detail]:
    """What differs in these attributes; without `before` what `after` has."""
    details = []
    for item in msgspec.structs.fields(after):
        name = item.name
        if name not in attributes or (isinstance(after, Feature) and name == "environments"):
            continue
        old = None if before is None else msgspec.to_builtins(getattr(before, name))
        new = msgspec.to_builtins(getattr(after, name))
        if old != new:
            label = _LABELS.get(item.encode_name, item.encode_name)
            details.append(_make_detail(label, label, old, new, is_new=before is None))
    if isinstance(after, Feature):
        states = {state.environment: state for state in (before.environments if before else [])}
        for state in after.environments:
            old_state = states.get(state.environment)
            details += _list_state_details(old_state, state, is_new=before is None)
    return details


def _list_state_details(
    before: FeatureState | None, after: FeatureState, *, is_new: bool
) -> list[Detail]:
    name = after.environment
    old = before or FeatureState(name, False, [], [])
    path, details = f"environments.{name}", []
    if old.enabled != after.enabled or (is_new and not after.enabled):
        args = (f"{path}.enabled", name, old.enabled, after.enabled)
        details.append(_make_detail(*args, is_new=is_new))
    if old.variants != after.variants:
        values = (msgspec.to_builtins(old.variants), msgspec.to_builtins(after.variants))
        details.append(_make_detail(f"{path}.variants", f"{name}, variants", *values))
    return details + _list_strategy_details(
        f"{path}.strategies", name, old.strategies or [], after.strategies or []
    )


def _list_strategy_details(
    path: str, place: str, before: Sequence[StrategyDefinition], after: Sequence[StrategyDefinition]
) -> list[Detail]:
    """A strategy is the same if it has the ID."""
    details, existing = [], {strategy.id: strategy for strategy in before}
    for n, strategy in enumerate(after):
        title = f" {_quote(strategy.title)}" if strategy.title else ""
        label, inner = f"{place}, strategy {n + 1}{title}", f"{path}[{n}]"
        old = existing.pop(strategy.id, None) if strategy.id else None
        new_values = msgspec.to_builtins(strategy)
        if old is None:
            text = f"{label}: {_summarize(strategy)}"
            details.append({"path": inner, "before": None, "after": new_values, "text": text})
            continue
        old_values, new_values = _flatten(old), _flatten(strategy)
        for name in sorted(old_values.keys() | new_values.keys()):
            values = (old_values.get(name), new_values.get(name))
            if values[0] != values[1]:
                text = f"{label}, {name.removeprefix('parameters.')}"
                details.append(_make_detail(f"{inner}.{name}", text, *values))
    for old in existing.values():
        text = f"{place}, strategy removed: {_summarize(old)}"
        details.append(
            {"path": path, "before": msgspec.to_builtins(old), "after": None, "text": text}
        )
    return details


def _flatten(strategy: StrategyDefinition) -> dict[str, Any]:
    """The members of the definition, with each parameter."""
    values = msgspec.to_builtins(replace(strategy, id=None))
    parameters = values.pop("parameters")
    return values | {f"parameters.{name}": value for name, value in parameters.items()}


def _summarize(strategy: StrategyDefinition) -> str:
    return summarize_strategy(msgspec.to_builtins(strategy), {})


def _make_detail(path: str, label: str, before: Any, after: Any, *, is_new: bool = False) -> Detail:
    change = _format(after) if is_new else f"{_format(before)} → {_format(after)}"
    return {
        "path": path,
        "before": None if is_new else before,
        "after": after,
        "text": f"{label}: {change}",
    }


def _format(value: Any) -> str:
    if value is None or value == []:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, list):
        if isinstance(value[0], dict) and "weight" in value[0]:
            return summarize_variants(value)
        texts = ", ".join(map(_format_item, value))
        return texts if len(value) == 1 and texts.endswith("]") else f"[{texts}]"
    return str(value)


def _format_item(item: Any) -> str:
    """An item of a list."""
    if not isinstance(item, Mapping):
        return str(item)
    if "operator" in item:
        return summarize_constraint(item)
    if "feature" in item:
        return f"{item['feature']} {summarize_parent(item)}"
    if "environment" in item:
        strategy = item["defaultStrategy"]
        return item["environment"] + (f" ({summarize_strategy(strategy, {})})" if strategy else "")
    if item.keys() == {"type", "value"}:
        return f"{item['type']}:{item['value']}"
    return str(item.get("name") or item.get("value"))


def _quote(text: str) -> str:
    return msgspec.json.encode(text).decode()


_LABELS = {"dependencies": "parent", "sortOrder": "order"}
