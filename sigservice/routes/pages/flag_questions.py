"""The questions before flags are turned on that firing alerts hold off, and before a change of who
gets a flag in production."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sigservice.db import Connection, Row
from sigservice.repository.flags import segments
from sigservice.repository.usage import client_metrics
from sigservice.services import strategy_summaries
from sigservice.services.actions import firing_alerts
from sigservice.services.actions.firing_alerts import DISABLE, IGNORE
from sigservice.services.flags import strategies
from sigservice.services.flags.feature_states import FeatureEnvironment, get_state
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.projects.project_settings import must_confirm
from sigservice.web.form_pages import Confirmation, ask_first
from sigservice.web.forms import Field, Form
from sigservice.web.links import flag_path
from sigservice.wording import spell_duration

HOURS = 24
LEAVE = "leave"
REASON_FIELD = Field("why", "Why?", attributes={"maxlength": "500"})
BREADCRUMBS = [("Flags", "/admin/features")]
EVERYONE, NOBODY = "100% of users", "nobody: it is turned off"


def add_reason(identity: Identity, form: Form) -> Identity:
    """The user with the answer to "Why?", which the events of the change contain."""
    return replace(identity, reason=form.get("why", "").strip()[:500])


def join_names(names: Sequence[str]) -> str:
    """Such as "a", "a and b", or "a, b and 7 more"."""
    if len(names) > 3:
        names = [*names[:2], f"{len(names) - 2} more"]
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])


def settle_alerts(
    conn: Connection,
    by: Identity,
    form: Form,
    targets: Sequence[FeatureEnvironment],
    now: datetime,
    cancel_path: str,
) -> bool:
    """Whether the flags are turned on: it asks first if alerts hold them off that would turn them
    off again, and does with these what the user chose. Raises Question, BadDataError."""
    rows = firing_alerts.list_firing(conn, by, targets)
    if not rows:
        return True
    if "alert" not in form:
        unanswered = {name: text for name, text in form.items() if name != "confirmed"}
        ask_first(unanswered, make_alert_question(by, rows, now, cancel_path))
    if form["alert"] == LEAVE:
        return False
    firing_alerts.settle(conn, targets, form["alert"], by, now)
    return True


def make_alert_question(
    by: Identity, rows: Sequence[Row], now: datetime, cancel_path: str
) -> Confirmation:
    flags, places = (sorted({row[name] for row in rows}) for name in ("feature", "environment"))
    duration = spell_duration(now - min(row["created_at"] for row in rows))
    them, are = ("them", "are") if flags[1:] else ("it", "is")
    return Confirmation(
        f"{name_alerts(rows)} still firing",
        [
            f"{join_names(flags)} {are} off in {join_names(places)} because of it, for {duration}."
            " What should happen?"
        ],
        "Confirm",
        cancel_path,
        fields=[make_alert_field(by, rows, them), REASON_FIELD],
        is_dangerous=False,
        breadcrumbs=BREADCRUMBS,
    )


def make_alert_field(by: Identity, rows: Sequence[Row], them: str) -> Field:
    """The three choices for the alerts of `rows`, which still fire."""
    sets = sorted({row["name"] for row in rows})
    names = join_names([f"“{name}”" for name in sets])
    plural = "s" if sets[1:] else ""
    return Field(
        "alert",
        "What should happen?",
        LEAVE,
        "radio",
        "" if by.has_permission(ADMIN) else "Only an admin can enable an automation again.",
        choices=[
            (LEAVE, f"Leave {them} off"),
            (IGNORE, f"Turn {them} on, and ignore this alert until it resolves"),
            (DISABLE, f"Turn {them} on, and disable the automation{plural} {names}"),
        ],
    )


def name_alerts(rows: Sequence[Row]) -> str:
    """Such as "InferenceDown is", for users with EDIT."""
    by_alert = {(row["action_set_id"], row["key"]): row for row in rows}
    if len(by_alert) > 1:
        return f"{len(by_alert)} alerts are"
    return f"{rows[0]['alert'] or 'An alert of ' + (rows[0]['endpoint'] or 'an endpoint')} is"


def ask_about_strategies(
    conn: Connection,
    target: FeatureEnvironment,
    form: Form,
    after: Sequence[Mapping[str, Any]],
) -> None:
    """Asks before the strategies `after` replace those of a flag that is on in production, if that
    changes who gets it. Raises Question."""
    if "confirmed" in form or not must_confirm(conn, target.environment, [target.project]):
        return
    if not get_state(conn, target)["enabled"]:
        return
    before = strategies.read_strategies(conn, target)
    changes = compare_strategies(conn, before, after)
    if not changes:
        return
    effect, moved = describe_usage(conn, target), _find_moved_rollout(before, after)
    if moved and len([mark for mark, _ in changes if mark]) == 2:
        old, new = moved
        changes = [("", f"{old}% → {new}% of users"), *[one for one in changes if not one[0]]]
        effect = describe_usage(conn, target, new - old)
    ask_first(form, make_change_question(target.feature, target.environment, effect, changes))


def make_change_question(
    name: str, environment: str, effect: str, changes: Sequence[tuple[str, str]]
) -> Confirmation:
    return Confirmation(
        f"Change who gets {name} in {environment}?",
        [effect or "SDKs get the change at once."],
        f"Save in {environment}",
        flag_path(name),
        fields=[REASON_FIELD],
        is_dangerous=False,
        breadcrumbs=[*BREADCRUMBS, (name, flag_path(name))],
        changes=changes,
    )


def compare_strategies(
    conn: Connection, before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> list[tuple[str, str]]:
    """The lines of `Confirmation.changes`; [] if the same users get the same."""
    ids = {id for strategy in (*before, *after) for id in strategy["segments"]}
    names = {row["id"]: row["name"] for row in segments.list_by_id(conn, [*ids])} if ids else {}

    def summarize(items: Sequence[Mapping[str, Any]]) -> list[str]:
        active = [one for one in items if not one.get("disabled")]
        return [strategy_summaries.summarize_strategy(one, names) for one in active]

    old, new = summarize(before) or [EVERYONE], summarize(after) or [NOBODY]
    has_variants = any(strategy["variants"] for strategy in after)
    if old == new or (sorted(old) == sorted(new) and not has_variants):
        return []
    lines = [("" if text in new else "del", text) for text in old]
    if sorted(old) == sorted(new):
        return [("", text) for text in new]
    return lines + [("ins", text) for text in new if text not in old]


def describe_usage(conn: Connection, target: FeatureEnvironment, points: int = 0) -> str:
    """How often the flag was evaluated, and for how many more of them it is on if the percentage
    rises by `points`; "" without evaluations."""
    usage = client_metrics.find_busiest_app(conn, target.feature, target.environment, hours=HOURS)
    if not usage:
        return ""
    app, count = usage["app_name"], usage["count"]
    if not points:
        return f"{app} evaluated it {count:,} times in {HOURS} h."
    more, share = "more" if points > 0 else "fewer", round(count * abs(points) / 100)
    return f"About {share:,} {more} of {count:,} evaluations in {HOURS} h get it ({app})."


def _find_moved_rollout(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> tuple[int, int] | None:
    """The old and the new percentage if one strategy differs, in nothing else."""
    former = {strategy["id"]: strategy for strategy in before}
    for strategy in after:
        old = former.get(strategy.get("id"))
        texts = [one["parameters"].get("rollout", "") for one in (old, strategy) if one]
        if old and len(set(texts)) == 2 and all(map(strategies.is_percentage, texts)):
            rest = [one["parameters"] | {"rollout": ""} for one in (old, strategy)]
            names = ("constraints", "segments", "variants", "disabled")
            same = all(old.get(name) == strategy.get(name) for name in names)
            return (int(texts[0]), int(texts[1])) if same and rest[0] == rest[1] else None
    return None
