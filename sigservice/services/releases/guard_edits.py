"""Changes of the guards of a release that has not ended.

An unchanged guard keeps its ID and its state. A changed one is a new guard, because results of the
old condition say nothing about the new one. So the IDs show whether guards changed.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import ClassVar

import msgspec

from sigservice.db import Connection
from sigservice.errors import ConflictError
from sigservice.repository.releases import release_guards as guard_rows
from sigservice.repository.releases import releases as release_rows
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems
from sigservice.services.releases import release_guards, release_progress
from sigservice.services.releases.guard_results import GuardRecord
from sigservice.services.releases.guard_signals import make_text
from sigservice.services.releases.guard_texts import NamedGuard, describe_edit
from sigservice.services.releases.plans import Guard, RuleGuard, check_guards
from sigservice.services.releases.release_commands import describe_state, lock_current
from sigservice.services.releases.release_guards import PreparedGuard
from sigservice.services.releases.release_journal import Journal
from sigservice.services.releases.release_state import Release, read_all
from sigservice.services.releases.releases import Surroundings
from sigservice.services.rules.rule_conditions import ImpactMetric, Silence


class GuardChanges(msgspec.Struct):
    """`guards` replace the guards of the release. `guardIds` and `step` are the guards and the step
    that the caller expects to be present."""

    read_only: ClassVar = ()

    guards: list[Guard]
    guardIds: list[int] | None = None
    step: int | None = None
    reason: str | None = None


def edit_guards(
    conn: Connection,
    target: FeatureEnvironment,
    id: int,
    body: GuardChanges,
    by: Identity,
    surroundings: Surroundings,
) -> None:
    """Raises NotFoundError, BadDataError with all problems, ConflictError if
    it has ended or isn't as the caller expects."""
    Problems().check_text(body.reason, "reason", max_length=500).raise_if_any()
    release, journal = lock_current(conn, target, id, body.step, surroundings.clock)
    if not release.is_active:
        raise ConflictError(describe_state(release))
    if body.guardIds is not None and {g.id for g in release.guards} != set(body.guardIds):
        raise ConflictError("The guards were changed meanwhile. Read them again.")
    problems = Problems()
    check_guards(body.guards, problems)
    problems.raise_if_any()
    removed = {guard.id: guard for guard in release.guards}
    same = _pair(removed, dict(enumerate(body.guards)), _make_key)
    prepared = release_guards.prepare(
        conn,
        body.guards,
        problems,
        surroundings.find_defaults,
        surroundings.readings,
        release.now,
        skipped=same,
    )
    # Guards that equal the stored ones once the sender's template has filled them.
    definitions = {guard.position: guard.definition for guard in prepared}
    same |= _pair(removed, definitions, _make_key)
    new = {guard.position: guard for guard in prepared if guard.position not in same}
    _check(conn, release, new, problems)
    if new or removed:
        release_progress.store(conn, release, journal)
        journal = Journal()
        changed = _pair(removed, {n: definitions[n] for n in new}, _find_subject)
        guard_rows.replace(conn, release.id, {same[n].id: n for n in same})
        guard_rows.insert_many(conn, id, [guard.to_item() for guard in new.values()], release.now)
        (release,) = read_all(conn, [id], surroundings.clock)
        text = describe_edit(
            [(_name_record(changed[n]), _name_prepared(new[n])) for n in changed],
            [_name_prepared(new[n]) for n in new if n not in changed],
            [_name_record(record) for record in removed.values()],
        )
        reason = f"{text}: {body.reason}" if body.reason else text
        journal.add(release, "guardsEdited", by=by, reason=reason)
        release_progress.progress(conn, release, journal)
    release_progress.store(conn, release, journal)


def _pair(
    records: dict[int, GuardRecord],
    definitions: Mapping[int, Guard],
    make_key: Callable[[Guard], Hashable],
) -> dict[int, GuardRecord]:
    """Pairs definitions with the records of the same key, and removes these from `records`."""
    pairs = {}
    for position, definition in definitions.items():
        key = make_key(definition)
        record = next((r for r in records.values() if make_key(r.definition) == key), None)
        if record is not None:
            pairs[position] = records.pop(record.id)
    return pairs


def _make_key(guard: Guard) -> Hashable:
    """Guards that do the same have the same key."""
    values = msgspec.to_builtins(guard)
    values.pop("filters", None)
    filters = [make_text(filter) for filter in getattr(guard, "filters", None) or ()]
    return msgspec.json.encode([values, filters], order="sorted")


def _find_subject(guard: Guard) -> Hashable:
    """The subject that a guard watches; another limit or effect makes it a changed guard."""
    if not isinstance(guard, RuleGuard):
        return guard.__struct_config__.tag, guard.endpointId
    source = guard.rule.source
    if isinstance(source, Silence):
        return "silence", source.endpointId
    if isinstance(source, ImpactMetric):
        return source.metric, source.per, source.environment
    return source.source, source.query


def _check(
    conn: Connection, release: Release, new: Mapping[int, PreparedGuard], problems: Problems
) -> None:
    """New guards must not fire now, and the steps still to come must be long enough for them."""
    release_guards.check_firing([*new.values()], problems)
    first = 0 if release.state == "scheduled" else release.step + 1
    release_guards.check_minutes(
        [guard.definition for guard in new.values()],
        release_rows.find_propagation_seconds(conn, release.environment),
        release.plan.steps,
        problems,
        first=first,
    )
    problems.raise_if_any()


def _name_record(record: GuardRecord) -> NamedGuard:
    return NamedGuard(record.definition, record.endpoint)


def _name_prepared(guard: PreparedGuard) -> NamedGuard:
    return NamedGuard(guard.definition, guard.endpoint["name"] if guard.endpoint else None)
