"""Compiles flags of the client API: each becomes functions of the evaluation context."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import is_
from typing import Any, NamedTuple

import msgspec

from sigservice.evaluation.field_names import list_field_names
from sigservice.evaluation.fields import Fields, Predicate, always, combine, never
from sigservice.evaluation.strategies import (
    compile_segment,
    compile_strategy,
    get_stickiness,
    list_segments,
)
from sigservice.evaluation.variants import (
    Choose,
    choose_first,
    choose_none,
    compile_flag_variants,
    compile_strategy_variants,
)

Json = dict[str, Any]

# Of a flag in a document: a serialized toggle for the frontend API, or a function that returns
# one: the toggle itself if it is always the same, otherwise a function that returns None if the
# flag is disabled for the context.
Entry = bytes | Callable[[Fields], bytes | None]
Case = tuple[Predicate, Entry]
MAX_SCOPES = 1000


@dataclass(frozen=True, slots=True)
class Flag:
    """`parents` are the conditions of its dependencies, in their order. `cases` are its strategies
    that may match, with their toggles. `is_on` is its state in the environment."""

    project: str
    has_impression_data: bool
    is_on: bool
    parents: Sequence[Predicate]
    cases: Sequence[Case]
    is_enabled: Predicate
    entry: Entry

    def find_variant(self, fields: Fields) -> Json | None:
        """Returns the variant of the toggle; None if the flag is disabled for the context."""
        toggle = run(self.entry, fields)
        return msgspec.json.decode(toggle)["variant"] if toggle else None


class _Segment(NamedTuple):
    text: bytes
    document: Json
    matches: Predicate


class _Parts(NamedTuple):
    """What was compiled from `text`, with these predicates of its segments and these parents. The
    parents are compiled without theirs: there is one level."""

    text: bytes
    segments: tuple[Predicate, ...]
    segment_ids: tuple[int, ...]
    dependencies: Sequence[Json]
    field_names: tuple[str, ...]
    flag: Flag


class Flags:
    """The flags of one document: their texts by name, in its order, and the texts of segments by
    ID. A flag is compiled when it is used first. Shares with `former` what hasn't changed."""

    def __init__(
        self,
        texts: Mapping[str, bytes],
        segments: Mapping[int, bytes],
        former: Flags | None = None,
    ) -> None:
        self._texts = texts
        if former is None or len(former._alone) > 2 * len(texts):
            self._alone: dict[str, _Parts] = {}  # without parents
            self._children: dict[str, tuple[_Parts, list[_Parts | None], Flag]] = {}
            self._segments: dict[int, _Segment] = {}
        else:
            self._alone, self._children = former._alone, former._children
            self._segments = former._segments
        self._segments = {id: self._compile_segment(id, text) for id, text in segments.items()}
        self._entries: dict[tuple[str, ...], list[Entry]] = {}
        self._all: tuple[Mapping[str, Flag], tuple[str, ...]] | None = None

    @property
    def by_name(self) -> Mapping[str, Flag]:
        """All flags, in the document's order."""
        return self._compile_all()[0]

    @property
    def field_names(self) -> tuple[str, ...]:
        """The context fields that the flags use: contexts that agree in these have the same
        answer."""
        return self._compile_all()[1]

    def _compile_all(self) -> tuple[Mapping[str, Flag], tuple[str, ...]]:
        if self._all is None:
            by_name, lists = {}, set()
            for name, text in self._texts.items():
                own = self._alone.get(name)
                if own is None or own.text is not text or own.segments or own.dependencies:
                    own, flag = self._find_alone(name), self.find(name)
                else:
                    flag = own.flag
                assert own is not None
                assert flag is not None
                by_name[name] = flag
                lists.add(own.field_names)
            self._all = by_name, tuple(sorted({name for names in lists for name in names}))
        return self._all

    def find(self, name: str) -> Flag | None:
        """The flag with its parents."""
        own = self._find_alone(name)
        if own is None or not own.dependencies:
            return own and own.flag
        parents = [self._find_alone(dependency["feature"]) for dependency in own.dependencies]
        cached = self._children.get(name)
        if cached is None or cached[0] is not own or not all(map(is_, cached[1], parents)):
            cached = self._children[name] = own, parents, _add_parents(own, parents)
        return cached[2]

    def list_entries(self, projects: tuple[str, ...]) -> list[Entry]:
        """The entries of the flags of these projects (`*`: all), in the document's order. Parents
        may be in any project."""
        entries = self._entries.get(projects)
        if entries is None:
            entries = [
                flag.entry
                for flag in self.by_name.values()
                if flag.is_enabled is not never and is_in(flag, projects)
            ]
            if len(self._entries) < MAX_SCOPES:
                self._entries[projects] = entries
        return entries

    def _find_alone(self, name: str) -> _Parts | None:
        text = self._texts.get(name)
        if text is None:
            return None
        parts = self._alone.get(name)
        if (
            parts is None
            or parts.text != text
            or parts.segments != self._list_predicates(parts.segment_ids)
        ):
            parts = self._alone[name] = self._compile_alone(text)
        return parts

    def _compile_alone(self, text: bytes) -> _Parts:
        document = msgspec.json.decode(text)
        ids = tuple({id for it in document["strategies"] for id in list_segments(it)})
        matches = {id: it.matches for id in ids if (it := self._segments.get(id))}
        documents = {id: self._segments[id].document for id in matches}
        return _Parts(
            text,
            self._list_predicates(ids),
            ids,
            document.get("dependencies") or (),
            _share_names(list_field_names([document], documents)),
            _compile_alone(document, matches),
        )

    def _list_predicates(self, ids: tuple[int, ...]) -> tuple[Predicate, ...]:
        return tuple([self._segments[id].matches for id in ids if id in self._segments])

    def _compile_segment(self, id: int, text: bytes) -> _Segment:
        cached = self._segments.get(id)
        if cached is not None and cached.text == text:
            return cached
        document = msgspec.json.decode(text)
        return _Segment(text, document, compile_segment(document).matches)


def is_in(flag: Flag, projects: tuple[str, ...]) -> bool:
    """Whether the flag is in these projects (`*`: all)."""
    return "*" in projects or flag.project in projects


@lru_cache(1000)
def _share_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The same tuple for the same names, which saves memory."""
    return names


def evaluate(entries: Iterable[Entry], fields: Fields) -> bytes:
    """Returns `{"toggles": […]}` with the flags that are enabled for the context."""
    return b'{"toggles":[' + join_results(entries, fields) + b"]}"


def join_results(entries: Iterable[Entry], fields: Fields) -> bytes:
    """Returns what the entries find for the context, with commas between."""
    return b",".join(
        [
            result
            for entry in entries
            if (result := entry if isinstance(entry, bytes) else entry(fields)) is not None
        ]
    )


def evaluate_repeatable(entries: Iterable[Entry], fields: Fields) -> list[Entry]:
    """Returns the entries for this context: toggles, and what depends on a random value or the
    clock."""
    rest: list[Entry] = []
    toggles: list[bytes] = []
    for entry in entries:
        fields.has_read_random = fields.has_read_clock = False
        toggle = run(entry, fields)
        if not fields.is_repeatable:
            rest += [*_join(toggles), entry]
            toggles = []
        elif toggle is not None:
            toggles.append(toggle)
    return [*rest, *_join(toggles)]


def run(entry: Entry, fields: Fields) -> bytes | None:
    """Returns the toggle; None if the flag is disabled for the context."""
    return entry if isinstance(entry, bytes) else entry(fields)


def _join(toggles: Sequence[bytes]) -> list[Entry]:
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
    entry = _compile_cases(cases)
    return Flag(project, has_impression_data, is_on, (), cases, is_enabled, entry)


def _skip_unreachable(cases: list[Case]) -> list[Case]:
    """Those up to the first one that always matches."""
    for position, (matches, _) in enumerate(cases, 1):
        if matches is always:
            return cases[:position]
    return cases


def _compile_own_toggles(flag: Json, strategy: Json) -> Entry | None:
    """Returns None for a strategy without variants: the flag's own variants apply."""
    variants = strategy.get("variants")
    if not variants:
        return None
    parameters: Mapping[str, str] = strategy.get("parameters") or {}
    group = parameters.get("groupId", flag["name"])
    choose = compile_strategy_variants(variants, group, get_stickiness(parameters))
    return _compile_toggles(flag, variants, choose)


def _compile_toggles(flag: Json, variants: Sequence[Json], choose: Choose) -> Entry:
    toggles = [build_toggle(flag, variant) for variant in variants]
    no_variant = build_toggle(flag, None)
    if choose is choose_none:
        return no_variant
    if choose is choose_first:
        return toggles[0]

    def find_toggle(fields: Fields) -> bytes:
        position = choose(fields)
        return no_variant if position is None else toggles[position]

    return find_toggle


def build_toggle(flag: Json, variant: Json | None, *, is_enabled: bool = True) -> bytes:
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


def _compile_cases(cases: Sequence[Case]) -> Entry:
    if len(cases) == 1:
        ((matches, entry),) = cases
        if matches is always:
            return entry
        if isinstance(entry, bytes):
            return lambda fields: entry if matches(fields) else None
        return lambda fields: entry(fields) if matches(fields) else None

    def find_toggle(fields: Fields) -> bytes | None:
        for matches, entry in cases:
            if matches(fields):
                return run(entry, fields)
        return None

    return find_toggle


def _add_parents(own: _Parts, parents: Sequence[_Parts | None]) -> Flag:
    flag = own.flag
    predicates: list[Predicate] = []
    for dependency, parent in zip(own.dependencies, parents, strict=True):
        # There is one level: a parent that has a parent never satisfies its children.
        if parent is None or parent.dependencies:
            predicates.append(never)
        else:
            predicates.append(_compile_parent(dependency, parent.flag))
    satisfied = combine(predicates)
    is_enabled = combine([satisfied, flag.is_enabled])
    cases = [(satisfied, flag.entry)] if is_enabled is not never else []
    return replace(flag, parents=predicates, is_enabled=is_enabled, entry=_compile_cases(cases))


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
