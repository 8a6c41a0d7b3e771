"""The names of guards, and the sentence about changes to them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from sigservice.services.actions.action_filters import Filter
from sigservice.services.actions.automation_sentences import say_filter
from sigservice.services.releases.plans import Guard, RuleGuard, SignalGuard

MAX_NAME = 100
_EFFECTS = {"rollBack": "roll back", "hold": "hold"}


class NamedGuard(NamedTuple):
    definition: Guard
    endpoint: str | None

    @property
    def name(self) -> str:
        name = name_guard(msgspec.to_builtins(self.definition), self.endpoint)
        return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"


def name_guard(guard: Mapping[str, Any], endpoint: str | None) -> str:
    """Such as `Alerts of alertmanager where service is checkout`. `guard` is its JSON."""
    if guard["kind"] == "rule":
        source = guard["rule"]["source"]
        if source["kind"] == "prometheus":
            return f"Query of {source['source']}: {source['query']}"
        if source["kind"] == "silence":
            return f"Silence of {endpoint or 'a deleted endpoint'}"
        per = f" per {source['per']}" if source.get("per") else f" ({source['measure']})"
        return f"{source['metric']}{per}"
    place = endpoint or "a deleted endpoint"
    filters = [msgspec.convert(item, Filter) for item in guard.get("filters") or []]
    status = (guard.get("resolved") or {}).get("path")
    texts = " and ".join(say_filter(one) for one in filters if one.any or one.path != status)
    return f"Alerts of {place} where {texts}" if texts else f"Alerts of {place}"


def describe_edit(
    changed: Sequence[tuple[NamedGuard, NamedGuard]],
    added: Sequence[NamedGuard],
    removed: Sequence[NamedGuard],
) -> str:
    """Such as `changed the limit of p99 latency from 600 to 800; removed Silence of heartbeat`."""
    parts = [f"changed {_describe_change(*pair)}" for pair in changed]
    parts += [f"added {guard.name}" for guard in added]
    parts += [f"removed {guard.name}" for guard in removed]
    return "; ".join(parts)


def _describe_change(before: NamedGuard, after: NamedGuard) -> str:
    old, new = _list_values(before.definition), _list_values(after.definition)
    texts: list[str] = []
    for label in old:
        if old[label] != new[label]:
            values = f" from {old[label]} to {new[label]}" if isinstance(new[label], str) else ""
            owner = f"its {label}" if texts else f"the {label} of {before.name}"
            texts.append(owner + values)
    return ", ".join(texts)


def _list_values(guard: Guard) -> dict[str, Any]:
    """The values by label. Sentences show only values that are texts."""
    values: dict[str, Any] = {"effect": _EFFECTS[guard.effect]}
    for label, is_on in (("dry run", guard.dryRun), ("automatic continuation", guard.autoResume)):
        values[label] = "on" if is_on else "off"
    if isinstance(guard, SignalGuard):
        values |= {"filters": guard.filters or [], "condition that resolves alerts": guard.resolved}
    if isinstance(guard, RuleGuard) and guard.endpoint_id is not None:
        values["expected signals"] = guard.rule.source
    elif isinstance(guard, RuleGuard):
        rule = guard.rule
        values |= {
            "limit": f"{rule.limit:.10g}",
            "side of the limit": "at least" if rule.above is None else "at most",
            "window": f"{rule.windowMinutes} min",
            "least number of samples": str(rule.minSamples),
            "breaches in a row": str(rule.breaches),
            "interval": f"{rule.everySeconds} s",
            "source": rule.source,
        }
    return values
