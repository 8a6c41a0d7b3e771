"""Compiles a document of the client API: each flag becomes functions of the evaluation context."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from sigservice.evaluation.field_names import list_field_names
from sigservice.evaluation.fields import Fields, Predicate, always, combine, never
from sigservice.evaluation.strategies import (
    compile_segment,
    compile_strategy,
    get_stickiness,
)
from sigservice.evaluation.variants import (
    Choose,
    compile_flag_variants,
    compile_strategy_variants,
)

Json = dict[str, Any]
DISABLED_VARIANT: Json = {"name": "disabled", "enabled": False, "feature_enabled": False}


@dataclass(frozen=True)
class Answer:
    """What an enabled flag is for a context: its variant, and the serialized toggle."""

    variant: Json
    toggle: bytes


FindAnswer = Callable[[Fields], Answer | None]


@dataclass(frozen=True)
class Flag:
    """`parents` are the conditions of its dependencies, in their order. `find_answer` returns None
    if the flag is disabled for the context."""

    project: str
    parents: Sequence[Predicate]
    is_enabled: Predicate
    find_answer: FindAnswer

    def get_variant(self, fields: Fields) -> Json:
        answer = self.find_answer(fields)
        return answer.variant if answer else DISABLED_VARIANT


class Flags:
    """The flags of one document; `by_name` has each of them.

    `field_names` are the context fields that the flags use: contexts that agree in these have the
    same answer.
    """

    def __init__(self, document: Json) -> None:
        documents = {flag["name"]: flag for flag in document["features"]}
        segments = {segment["id"]: segment for segment in document.get("segments") or ()}
        matches = {id: compile_segment(segment).matches for id, segment in segments.items()}
        alone = {name: _compile_alone(flag, matches) for name, flag in documents.items()}
        self.by_name = {
            name: _add_parents(flag, _list_dependencies(documents[name]), alone, documents)
            for name, flag in alone.items()
        }
        self.field_names = list_field_names(documents.values(), segments)
        self._possible = [it for it in self.by_name.values() if it.is_enabled is not never]

    def evaluate(self, fields: Fields, projects: Sequence[str]) -> bytes:
        """Returns `{"toggles": […]}`: the flags of these projects (`*`: all) that are enabled for
        the context, in the document's order. Parents may be in any project."""
        toggles = []
        has_all = "*" in projects
        for flag in self._possible:
            if has_all or flag.project in projects:
                answer = flag.find_answer(fields)
                if answer is not None:
                    toggles.append(answer.toggle)
        return b'{"toggles":[' + b",".join(toggles) + b"]}"


def _compile_alone(flag: Json, segments: Mapping[int, Predicate]) -> Flag:
    """The flag without its parents. Its first strategy that matches chooses the variant."""
    name, variants = flag["name"], flag.get("variants") or ()
    of_flag = _compile_answers(flag, variants, compile_flag_variants(variants, name))
    cases = [
        (compile_strategy(it, name, segments).matches, _compile_own_answers(flag, it) or of_flag)
        for it in flag["strategies"]
    ]
    cases = [case for case in cases if case[0] is not never]
    if not flag["strategies"]:
        cases = [(always, of_flag)]
    if not flag["enabled"]:
        cases = []
    is_enabled = _match_any([matches for matches, _ in cases])
    return Flag(flag.get("project", "default"), (), is_enabled, _compile_cases(cases))


def _compile_own_answers(flag: Json, strategy: Json) -> FindAnswer | None:
    """Returns None for a strategy without variants: those of the flag count."""
    variants = strategy.get("variants")
    if not variants:
        return None
    parameters: Mapping[str, str] = strategy.get("parameters") or {}
    group = parameters.get("groupId", flag["name"])
    choose = compile_strategy_variants(variants, group, get_stickiness(parameters))
    return _compile_answers(flag, variants, choose)


def _compile_answers(flag: Json, variants: Sequence[Json], choose: Choose) -> FindAnswer:
    answers = [_build_answer(flag, variant) for variant in variants]
    no_variant = _build_answer(flag, None)
    if not variants:
        return lambda fields: no_variant

    def find_answer(fields: Fields) -> Answer:
        position = choose(fields)
        return no_variant if position is None else answers[position]

    return find_answer


def _build_answer(flag: Json, variant: Json | None) -> Answer:
    payload = variant and variant.get("payload")
    body = {
        "name": variant["name"] if variant else "disabled",
        **({"payload": payload} if payload else {}),
        "enabled": variant is not None,
        "feature_enabled": True,  # for old SDKs
        "featureEnabled": True,
    }
    toggle = {
        "name": flag["name"],
        "enabled": True,
        "variant": body,
        "impressionData": flag.get("impressionData", False),
    }
    return Answer(body, msgspec.json.encode(toggle))


def _match_any(predicates: Sequence[Predicate]) -> Predicate:
    if not predicates:
        return never
    if len(predicates) == 1 or predicates[0] is always:
        return predicates[0]
    return lambda fields: any(matches(fields) for matches in predicates)


def _compile_cases(cases: Sequence[tuple[Predicate, FindAnswer]]) -> FindAnswer:
    if len(cases) == 1:
        ((only_matches, only_find),) = cases
        if only_matches is always:
            return only_find
        return lambda fields: only_find(fields) if only_matches(fields) else None

    def find_answer(fields: Fields) -> Answer | None:
        for matches, find in cases:
            if matches(fields):
                return find(fields)
        return None

    return find_answer


def _list_dependencies(flag: Json) -> Sequence[Json]:
    return flag.get("dependencies") or ()


def _add_parents(
    flag: Flag,
    dependencies: Sequence[Json],
    alone: Mapping[str, Flag],
    documents: Mapping[str, Json],
) -> Flag:
    if not dependencies:
        return flag
    parents = []
    for dependency in dependencies:
        name = dependency["feature"]
        # There is one level: a parent that has a parent never satisfies its children.
        has_parent = name in documents and _list_dependencies(documents[name])
        is_valid = name in documents and not has_parent
        parents.append(_compile_parent(dependency, alone[name]) if is_valid else never)
    satisfied = combine(parents)
    is_enabled = combine([satisfied, flag.is_enabled])
    cases = [(satisfied, flag.find_answer)] if is_enabled is not never else []
    return Flag(flag.project, parents, is_enabled, _compile_cases(cases))


def _compile_parent(dependency: Json, parent: Flag) -> Predicate:
    """Whether the parent is in the required state. A parent without variants has each variant."""
    if not dependency.get("enabled", True):
        if parent.is_enabled in (always, never):
            return never if parent.is_enabled is always else always
        return lambda fields: not parent.is_enabled(fields)
    names = frozenset(dependency.get("variants") or ())
    if not names:
        return parent.is_enabled

    def has_variant(fields: Fields) -> bool:
        answer = parent.find_answer(fields)
        return answer is not None and (
            not answer.variant["enabled"] or answer.variant["name"] in names
        )

    return has_variant
