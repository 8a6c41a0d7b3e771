"""Why a user gets a flag or doesn't, in a sentence."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from sigservice.context import Context
from sigservice.playground.evaluation_context import make_context
from sigservice.playground.explanation import Explanation, StrategyResult
from sigservice.playground.playground import explain_flags
from sigservice.services import strategy_summaries

MAX_REASONS = 3
FIELDS = ("userId", "sessionId", "appName", "remoteAddress", "currentTime")


class Reason(NamedTuple):
    """`missing` are the fields of the context that strategies ask for and that aren't known."""

    sentence: str
    missing: list[str]


def explain_user(
    context: Context, feature: str, environment: str, fields: Mapping[str, str]
) -> Reason | None:
    """None for a flag that applications don't get. `fields` are of the context, with `userId`.
    Raises BadDataError."""
    values: dict[str, Any] = {name: fields.get(name, "") for name in FIELDS}
    values["properties"] = {name: text for name, text in fields.items() if name not in FIELDS}
    evaluation_context = make_context(values, environment=environment)
    state = context.flag_states.get_current(environment)
    flag = state.flags.find(feature)
    if flag is None:
        return None
    with context.database.transaction() as conn:
        documents = [msgspec.json.decode(flag.text)]
        (explanation,) = explain_flags(conn, state, documents, evaluation_context)
    user = fields["userId"]
    text, missing = _explain(explanation, user)
    verb = "gets it" if text[0] else "doesn't get it"
    return Reason(f"User {user} {verb}: {text[1]}.", missing)


def _explain(it: Explanation, user: str) -> tuple[tuple[bool, str], list[str]]:
    """((whether the user gets it, why), the fields that aren't known)."""
    active = [
        (number, strategy)
        for number, strategy in enumerate(it.strategies, 1)
        if not strategy.strategy["disabled"]
    ]
    if not it.is_enabled_here:
        return (False, "it is off"), []
    for parent in it.parents:
        if not parent.is_satisfied:
            state = strategy_summaries.summarize_parent({"variants": []} | parent.parent)
            return (False, f"{parent.parent['feature']} isn't {state}"), []
    if not active:
        return (True, "everyone does"), []
    number = next((number for number, strategy in active if strategy.result is True), 0)
    if number:
        return (True, f"strategy {number}"), []
    reasons, missing = [], []
    for _, strategy in active[:MAX_REASONS]:
        reason, names = _explain_strategy(strategy, user)
        reasons.append(reason)
        missing += [name for name in names if name not in missing]
    return (False, "; ".join(reasons)), missing


def _explain_strategy(it: StrategyResult, user: str) -> tuple[str, list[str]]:
    constraints = [*it.constraints, *(one for part in it.segments for one in part.constraints)]
    missing = [one.missing for one in constraints if not one.result and one.missing]
    missing += [it.missing] if it.missing else []
    if missing:
        return f"{missing[0]} isn't known", missing
    for one in it.constraints:
        if not one.result:
            return f"not {strategy_summaries.describe_constraint(one.constraint)}", []
    for segment in it.segments:
        if not segment.result:
            return f"not in segment {segment.name}", []
    bare = it.strategy | {"constraints": [], "segments": []}
    sentence = strategy_summaries.describe_strategy(bare, {})
    if it.bucket is not None:
        return f"{sentence}, and {user} is number {it.bucket + 1} of 100", []
    return (sentence if it.is_known else f"only the application knows its {sentence}"), []
