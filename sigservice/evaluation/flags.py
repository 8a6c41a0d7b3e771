"""Compiles a document of the client API: each flag becomes functions of the evaluation context."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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
    choose_first,
    choose_none,
    compile_flag_variants,
    compile_strategy_variants,
)

Json = dict[str, Any]

# A serialized toggle for the frontend API, or a function that returns one: the toggle itself if it
# is always the same, otherwise a function that returns None if the flag is disabled for the
# context.
Step = bytes | Callable[[Fields], bytes | None]
Case = tuple[Predicate, Step]
MAX_SCOPES = 1000


@dataclass(frozen=True)
class Flag:
    """`parents` are the conditions of its dependencies, in their order. `cases` are its strategies
    that may match, with their toggles. `is_on` is its state in the environment."""

    project: str
    has_impression_data: bool
    is_on: bool
    parents: Sequence[Predicate]
    cases: Sequence[Case]
    is_enabled: Predicate
    step: Step

    def find_variant(self, fields: Fields) -> Json | None:
        """Returns the variant of the toggle; None if the flag is disabled for the context."""
        toggle = run(self.step, fields)
        return msgspec.json.decode(toggle)["variant"] if toggle else None


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
        self._steps: dict[tuple[str, ...], list[Step]] = {}

    def list_steps(self, projects: tuple[str, ...]) -> list[Step]:
        """The steps of the flags of these projects (`*`: all), in the document's order. Parents may
        be in any project."""
        steps = self._steps.get(projects)
        if steps is None:
            steps = [
                flag.step
                for flag in self.by_name.values()
                if flag.is_enabled is not never and _is_in(flag, projects)
            ]
            if len(self._steps) < MAX_SCOPES:
                self._steps[projects] = steps
        return steps

    def find(self, name: str, projects: tuple[str, ...]) -> Flag | None:
        """The flag, if it is in these projects (`*`: all)."""
        flag = self.by_name.get(name)
        return flag if flag is not None and _is_in(flag, projects) else None


class AllFlags:
    """The toggles of all flags, also of disabled ones. They are compiled at the first request."""

    def __init__(self, flags: Flags) -> None:
        self._flags = flags.by_name

    @cached_property
    def _steps(self) -> Mapping[str, Step]:
        return {name: self.compile(name, flag) for name, flag in self._flags.items()}

    def list_steps(self, projects: tuple[str, ...]) -> list[Step]:
        """What answers for the flags of these projects, in the document's order."""
        return [self._steps[name] for name, flag in self._flags.items() if _is_in(flag, projects)]

    @staticmethod
    def compile(name: str, flag: Flag) -> Step:
        """The step of a flag that also has a toggle for contexts it is disabled for."""
        step = flag.step
        if isinstance(step, bytes):
            return step
        description = {"name": name, "impressionData": flag.has_impression_data}
        disabled = _build_toggle(description, None, is_enabled=False)
        if flag.is_enabled is never:
            return disabled
        return lambda fields: step(fields) or disabled


def _is_in(flag: Flag, projects: tuple[str, ...]) -> bool:
    return "*" in projects or flag.project in projects


def evaluate(steps: Iterable[Step], fields: Fields) -> bytes:
    """Returns `{"toggles": […]}` with the flags that are enabled for the context."""
    return b'{"toggles":[' + join_results(steps, fields) + b"]}"


def join_results(steps: Iterable[Step], fields: Fields) -> bytes:
    """Returns what the steps find for the context, with commas between."""
    results = []
    for step in steps:
        result = step if isinstance(step, bytes) else step(fields)
        if result is not None:
            results.append(result)
    return b",".join(results)


def evaluate_repeatable(steps: Iterable[Step], fields: Fields) -> list[Step]:
    """Returns the steps for this context: toggles, and what depends on a random value or the
    clock."""
    rest: list[Step] = []
    toggles: list[bytes] = []
    for step in steps:
        fields.has_read_random = fields.has_read_clock = False
        toggle = run(step, fields)
        if not fields.is_repeatable:
            rest += [*_join(toggles), step]
            toggles = []
        elif toggle is not None:
            toggles.append(toggle)
    return [*rest, *_join(toggles)]


def run(step: Step, fields: Fields) -> bytes | None:
    """Returns the toggle; None if the flag is disabled for the context."""
    return step if isinstance(step, bytes) else step(fields)


def _join(toggles: Sequence[bytes]) -> list[Step]:
    return [b",".join(toggles)] if toggles else []


def _compile_alone(flag: Json, segments: Mapping[int, Predicate]) -> Flag:
    """The flag without its parents. Its first strategy that matches chooses the variant."""
    name, variants = flag["name"], flag.get("variants") or ()
    of_flag = _compile_toggles(flag, variants, compile_flag_variants(variants, name))
    cases = [
        (compile_strategy(it, name, segments).matches, _compile_own_toggles(flag, it) or of_flag)
        for it in flag["strategies"]
    ]
    cases = [case for case in cases if case[0] is not never]
    if not flag["strategies"]:
        cases = [(always, of_flag)]
    is_on = flag["enabled"]
    cases = _skip_unreachable(cases) if is_on else []
    is_enabled = _match_any([matches for matches, _ in cases])
    project = flag.get("project", "default")
    has_impression_data = flag.get("impressionData", False)
    step = _compile_cases(cases)
    return Flag(project, has_impression_data, is_on, (), cases, is_enabled, step)


def _skip_unreachable(cases: list[Case]) -> list[Case]:
    """Those up to the first one that always matches."""
    for position, (matches, _) in enumerate(cases, 1):
        if matches is always:
            return cases[:position]
    return cases


def _compile_own_toggles(flag: Json, strategy: Json) -> Step | None:
    """Returns None for a strategy without variants: the flag's own variants apply."""
    variants = strategy.get("variants")
    if not variants:
        return None
    parameters: Mapping[str, str] = strategy.get("parameters") or {}
    group = parameters.get("groupId", flag["name"])
    choose = compile_strategy_variants(variants, group, get_stickiness(parameters))
    return _compile_toggles(flag, variants, choose)


def _compile_toggles(flag: Json, variants: Sequence[Json], choose: Choose) -> Step:
    toggles = [_build_toggle(flag, variant) for variant in variants]
    no_variant = _build_toggle(flag, None)
    if choose is choose_none:
        return no_variant
    if choose is choose_first:
        return toggles[0]

    def find_toggle(fields: Fields) -> bytes:
        position = choose(fields)
        return no_variant if position is None else toggles[position]

    return find_toggle


def _build_toggle(flag: Json, variant: Json | None, *, is_enabled: bool = True) -> bytes:
    payload = variant and variant.get("payload")
    body = {
        "name": variant["name"] if variant else "disabled",
        **({"payload": payload} if payload else {}),
        "enabled": variant is not None,
        "feature_enabled": is_enabled,  # for old SDKs
        "featureEnabled": is_enabled,
    }
    toggle = {
        "name": flag["name"],
        "enabled": is_enabled,
        "variant": body,
        "impressionData": flag.get("impressionData", False),
    }
    return msgspec.json.encode(toggle)


def _match_any(predicates: Sequence[Predicate]) -> Predicate:
    if not predicates:
        return never
    if len(predicates) == 1:
        return predicates[0]
    if always in predicates:
        return always
    return lambda fields: any(matches(fields) for matches in predicates)


def _compile_cases(cases: Sequence[Case]) -> Step:
    if len(cases) != 1:
        return _find_first(cases)
    ((matches, step),) = cases
    if matches is always:
        return step
    if isinstance(step, bytes):
        return lambda fields: step if matches(fields) else None
    return lambda fields: step(fields) if matches(fields) else None


def _find_first(cases: Sequence[Case]) -> Step:
    def find_toggle(fields: Fields) -> bytes | None:
        for matches, step in cases:
            if matches(fields):
                return run(step, fields)
        return None

    return find_toggle


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
    cases = [(satisfied, flag.step)] if is_enabled is not never else []
    return replace(flag, parents=parents, is_enabled=is_enabled, step=_compile_cases(cases))


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
        variant = parent.find_variant(fields)
        return variant is not None and (not variant["enabled"] or variant["name"] in names)

    return has_variant
