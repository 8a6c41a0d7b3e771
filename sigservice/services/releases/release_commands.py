"""Commands of users for a release: start, hold, resume, advance, roll back, stop.

Each brings the release up to date first, then checks that its state allows the command. A command
that names another step than the present one is refused: it may be a double click, or the command of
a second person.
"""

from collections.abc import Callable
from typing import ClassVar, NamedTuple

import msgspec

from sigservice.clock import Clock
from sigservice.db import Connection, Row
from sigservice.errors import BadDataError, ConflictError, NotFoundError
from sigservice.services import revisions
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import Identity, name_actor
from sigservice.services.problems import Problems
from sigservice.services.releases import guard_results, release_progress, releases
from sigservice.services.releases.decision import find_obstacle, list_active
from sigservice.services.releases.edits import RANDOM, is_random
from sigservice.services.releases.release_journal import Journal
from sigservice.services.releases.release_state import Release, read_all
from sigservice.services.releases.release_texts import end_sentence


class CommandBody(msgspec.Struct):
    """`step` is the step that the caller expects to be present. `adopt` is for resume."""

    read_only: ClassVar = ()

    step: int | None = None
    reason: str | None = None
    adopt: bool | None = None


class _Command(NamedTuple):
    conn: Connection
    release: Release
    body: CommandBody
    by: Identity
    journal: Journal

    @property
    def reason(self) -> str:
        return self.body.reason or ""

    def require(self, *states: str) -> None:
        """Raises ConflictError."""
        if self.release.state not in states:
            raise ConflictError(describe_state(self.release))


def run_command(
    conn: Connection,
    target: FeatureEnvironment,
    id: int,
    name: str,
    body: CommandBody,
    by: Identity,
    clock: Clock,
) -> Row:
    """Returns the release. Raises NotFoundError, also for a `name` that isn't one of COMMANDS,
    BadDataError, ConflictError if the state doesn't allow it."""
    if name not in COMMANDS:
        raise NotFoundError(f"The command must be one of {', '.join(COMMANDS)}.")
    Problems().check_text(body.reason, "reason", max_length=500).raise_if_any()
    release, journal = lock_current(conn, target, id, body.step, clock)
    COMMANDS[name](_Command(conn, release, body, by, journal))
    if release.is_active:
        release_progress.progress(conn, release, journal)
    release_progress.store(conn, release, journal)
    return releases.read(conn, target, id)


def lock_current(
    conn: Connection, target: FeatureEnvironment, id: int, step: int | None, clock: Clock
) -> tuple[Release, Journal]:
    """Brings the release up to date; returns it with the resulting events, both not stored. `step`
    is the step that the caller expects to be present. Raises NotFoundError, ConflictError."""
    revisions.lock(conn)
    locked = read_all(conn, [id], clock)
    if not locked or locked[0].target != target or not locked[0].is_linked:
        releases.get(conn, target, id)  # says what is missing
    (release,), journal = locked, Journal()
    if release.is_active and release_progress.has_work(release):
        release_progress.progress(conn, release, journal)
    if step is not None and step != release.step:
        raise ConflictError(f"The present step is {release.step}, not {step}.")
    return release, journal


def _start(command: _Command) -> None:
    release = command.release
    command.require("scheduled")
    _require_thawed(release)
    _require_quiet(release)
    release_progress.start(command.conn, release, command.by, command.journal)


def _hold(command: _Command) -> None:
    if not command.release.resumes_alone:
        command.require("running")
    reason = command.reason or f"Held by {name_actor(command.by.username, command.by.user_id)}."
    release_progress.hold(command.release, "person", reason)
    command.journal.add(command.release, "held", by=command.by, reason=reason)


def _resume(command: _Command) -> None:
    release, body = command.release, command.body
    command.require("held")
    if release.held_by == "step":
        raise ConflictError("The step waits for a person: use advance.")
    _require_thawed(release)
    if release.held_by == "edit" and body.adopt is None:
        raise BadDataError("Choose whether the change is adopted.", path="adopt")
    for guard in release.guards:
        guard_results.clear_unresolvable(guard)
    release_progress.refresh_guards(release, command.journal)
    _require_quiet(release)
    if release.held_by == "edit":
        _settle_edit(command, adopt=bool(body.adopt))
    release_progress.resume(release)
    command.journal.add(release, "resumed", by=command.by, reason=command.reason)


def _settle_edit(command: _Command, *, adopt: bool) -> None:
    """Goes on from the present content, or restores the part that decides which users have the
    flag."""
    release = command.release
    if adopt:
        _adopt(release)
        return
    expected = release.content["strategies"][release.strategy_id]["parameters"]
    if expected.get("stickiness") == "random":
        raise ConflictError(RANDOM)
    names = ("stickiness", "groupId")
    restored = {name: expected[name] for name in names if name in expected}
    rollout = release.present_step.rollout
    by = command.journal.make_cause("resumed", command.by)
    release_progress.set_rollout(command.conn, release, rollout, by, command.journal, **restored)


def _adopt(release: Release) -> None:
    """Goes on with the last step that the percentage has reached; below all of them, with the
    first."""
    rollout = release.present_rollout
    if is_random(release.present, release.strategy_id):
        raise ConflictError(RANDOM)
    reached = [n for n, step in enumerate(release.plan.steps) if step.rollout <= rollout]
    step = reached[-1] if reached else 0
    release.rollout, release.content = rollout, release.present
    if step != release.step:
        release_progress.begin_step(release, step)


def _advance(command: _Command) -> None:
    release = command.release
    command.require("running", "held")
    if release.state == "held" and release.held_by not in ("step", "person"):
        raise ConflictError(describe_state(release))
    results = [guard.to_result(release.now) for guard in release.guards]
    obstacle = find_obstacle(release.to_situation(), results, release.now)
    if obstacle:
        raise ConflictError(obstacle)
    release_progress.advance(
        command.conn, release, command.by, command.journal, reason=command.reason
    )


def _roll_back(command: _Command) -> None:
    release = command.release
    command.require("running", "held")
    release_progress.roll_back(
        command.conn,
        release,
        release.start_rollout,
        command.by,
        command.journal,
        command.reason,
    )


def _stop(command: _Command) -> None:
    command.require(*releases.ACTIVE)
    release_progress.end(command.release, "stopped")
    command.journal.add(command.release, "stopped", by=command.by, reason=command.reason)


COMMANDS: dict[str, Callable[[_Command], None]] = {
    "start": _start,
    "hold": _hold,
    "resume": _resume,
    "advance": _advance,
    "rollback": _roll_back,
    "stop": _stop,
}


def _require_thawed(release: Release) -> None:
    if release.frozen_reason is not None:
        suffix = f": {release.frozen_reason}" if release.frozen_reason else "."
        raise ConflictError(f"Releases are frozen{suffix}")


def _require_quiet(release: Release) -> None:
    """Raises ConflictError if a guard fires, except of a dry run."""
    results = [guard.to_result(release.now) for guard in release.guards]
    for guard in list_active(results):
        if guard.state == "firing":
            message = f"A guard fires: {guard.reason} To go on, make it a dry run."
            raise ConflictError(message)


def describe_state(release: Release) -> str:
    names = {"rolledBack": "rolled back"}
    if release.state != "held":
        return f"The release is {names.get(release.state, release.state)}."
    return end_sentence(f"The release is held ({release.held_by})", release.held_reason or "")
