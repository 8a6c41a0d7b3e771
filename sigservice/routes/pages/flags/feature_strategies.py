"""Strategies of a flag in an environment, pages: add, edit, remove."""

from typing import Any

from sigservice.crypto import secrets
from sigservice.errors import ConflictError, NotFoundError
from sigservice.repository.flags import segments as segment_rows
from sigservice.repository.releases import releases
from sigservice.routes.pages.flags.environment_cards import describe_addition
from sigservice.routes.pages.flags.feature_page import find_target
from sigservice.routes.pages.flags.strategy_draft import render_draft
from sigservice.routes.pages.flags.strategy_form import (
    changes_form,
    load_choices,
    make_form,
    make_form_parts,
    read_strategy,
)
from sigservice.services import revisions, strategy_summaries
from sigservice.services.flags import strategies
from sigservice.services.flags.feature_states import FeatureEnvironment, get_state
from sigservice.services.identity import EDIT, Identity
from sigservice.services.projects.project_settings import must_confirm
from sigservice.web import Connection, Context, Page, PageGuard, Router
from sigservice.web.form_pages import (
    Confirmation,
    confirms,
    make_confirmation_page,
    shows_errors_in,
)
from sigservice.web.forms import NO_ENTRY, Entry, Form
from sigservice.web.growing_forms import GROWING_FORM
from sigservice.web.links import flag_path

STRATEGIES = "/admin/features/<name>/environments/<environment>/strategies"
ONE = f"{STRATEGIES}/<strategy_id>"
CHANGED = (
    "The strategy has changed since you opened this form. Save again to replace that change, or"
    " cancel to see it."
)

router = Router(PageGuard)


# The lower decorator comes first: "new" is no ID.
@router.get(ONE, needs=EDIT)
@router.get(f"{STRATEGIES}/new", needs=EDIT)
def show_strategy(
    context: Context,
    identity: Identity,
    name: str,
    environment: str,
    strategy_id: str = "",
    entry: Entry = NO_ENTRY,
) -> Page:
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
        choices = load_choices(conn)
        strategy, number = _find_strategy(conn, target, strategy_id)
        running = releases.list_newest(
            conn, feature=name, environment=environment, states=["running"], limit=1
        )
        effect = "" if strategy else _describe_addition(conn, target)
    heading = f"Strategy {number}" if number else "New strategy"
    existing_texts = make_form(strategy, choices, name)
    texts = {"version": _find_version(existing_texts)} | (entry.form or existing_texts)
    if isinstance(entry.error, ConflictError):
        texts["version"] = _find_version(existing_texts)
    parts = make_form_parts(context, texts, choices, target.project, entry.error)
    return Page(
        "flags/feature_strategies/form",
        title=f"{heading} of {name} in {environment}",
        heading=heading,
        question=f"Add a strategy to {name} in {environment}? {effect}" if effect else "",
        breadcrumbs=[("Flags", "/admin/features"), (name, flag_path(name))],
        flag_environment=target,
        release=next((row for row in running if row["strategy_id"] == strategy_id), None),
        stored_version=texts["version"],
        path=flag_path(name),
        **parts,
    )


@router.post(ONE, needs=EDIT, **GROWING_FORM)
@router.post(f"{STRATEGIES}/new", needs=EDIT, **GROWING_FORM)
@shows_errors_in(show_strategy)
def save_strategy(
    context: Context,
    identity: Identity,
    name: str,
    environment: str,
    form: Form,
    strategy_id: str = "",
) -> Page | str:
    """Adds a strategy, or replaces the existing one."""
    if form.get("do") == "evaluate":
        with context.database.transaction() as conn:
            target = find_target(conn, name, environment)
            strategy, _ = _find_strategy(conn, target, strategy_id)
            draft = read_strategy(form, load_choices(conn), strategy)
        return render_draft(context, target, draft, strategy_id or None, {})
    if changes_form(form):
        return show_strategy(context, identity, name, environment, strategy_id, Entry(form))
    limit = context.config["strategySegmentsLimit"]
    with context.database.transaction() as conn:
        revisions.lock(conn)  # parameters that the form has no fields for must not change
        target = find_target(conn, name, environment)
        existing, _ = _find_strategy(conn, target, strategy_id)
        question = None if existing else ask_for_addition(conn, target, form, "Add")
        if question:
            return make_confirmation_page(question)
        choices = load_choices(conn)
        version = _find_version(make_form(existing, choices, name))
        if existing and form.get("version", version) != version:
            raise ConflictError(CHANGED)
        new = read_strategy(form, choices, existing)
        if new.disabled and (question := ask_for_last_active(conn, target, strategy_id, form)):
            return make_confirmation_page(question)
        if existing is None:
            strategies.add(conn, target, new, identity, max_segments=limit)
        else:
            strategies.replace(conn, target, strategy_id, new, identity, max_segments=limit)
    return f"{flag_path(name)}?done=strategy-saved#in-{environment}"


@confirms(router, f"{ONE}/delete", needs=EDIT)
def remove_strategy(
    conn: Connection,
    identity: Identity,
    name: str,
    environment: str,
    strategy_id: str,
) -> Confirmation:
    target = find_target(conn, name, environment)
    strategy, number = _find_strategy(conn, target, strategy_id)
    assert strategy is not None
    segments = segment_rows.list_by_id(conn, strategy["segments"])
    texts = [
        strategy_summaries.summarize_strategy(
            strategy, {row["id"]: row["name"] for row in segments}
        )
    ]
    texts += _describe_last_active(conn, target, strategy_id)
    return Confirmation(
        f"Remove strategy {number} of {name} in {environment}?",
        texts,
        "Remove strategy",
        flag_path(name),
        lambda: strategies.remove(conn, target, strategy_id, identity),
        f"{flag_path(name)}?done=strategy-removed#in-{environment}",
        breadcrumbs=[("Flags", "/admin/features"), (name, flag_path(name))],
    )


def ask_for_last_active(
    conn: Connection, target: FeatureEnvironment, strategy_id: str, form: Form
) -> Confirmation | None:
    """The question before a strategy is disabled, and with it the flag, in production. Its answer
    sends `form` again. None if there is nothing to ask."""
    effect = _describe_last_active(conn, target, strategy_id)
    if "confirmed" in form or not effect or not get_state(conn, target)["enabled"]:
        return None
    if not must_confirm(conn, target.environment, [target.project]):
        return None
    return Confirmation(
        f"Disable {target.feature} in {target.environment}?",
        effect,
        f"Disable in {target.environment}",
        flag_path(target.feature),
        hidden={**form, "confirmed": "on"},
        breadcrumbs=[("Flags", "/admin/features"), (target.feature, flag_path(target.feature))],
    )


def _describe_last_active(
    conn: Connection, target: FeatureEnvironment, strategy_id: str
) -> list[str]:
    """The effect on the flag if the strategy is removed or disabled; [] if others are active."""
    others = strategies.list_strategies(conn, target)
    if any(not other["disabled"] and other["id"] != strategy_id for other in others):
        return []
    return [f"This is the last active strategy; the flag will be disabled in {target.environment}."]


def ask_for_addition(
    conn: Connection, target: FeatureEnvironment, form: Form, verb: str
) -> Confirmation | None:
    """The question before a strategy is added, for browsers without JavaScript: its answer sends
    `form` again. static/app.js asks in a dialog instead. None if there is nothing to ask."""
    effect = _describe_addition(conn, target)
    if "confirmed" in form or not effect:
        return None
    return Confirmation(
        f"{verb} a strategy to {target.feature} in {target.environment}?",
        [f"This is a production environment. {effect}"],
        f"{verb} strategy",
        flag_path(target.feature),
        hidden={**form, "confirmed": "on"},
        is_dangerous=False,
        breadcrumbs=[("Flags", "/admin/features"), (target.feature, flag_path(target.feature))],
    )


def _describe_addition(conn: Connection, target: FeatureEnvironment) -> str:
    """What the addition changes; "" if the project doesn't ask in this environment, or if nothing
    changes for anyone."""
    if not must_confirm(conn, target.environment, [target.project]):
        return ""
    is_enabled = get_state(conn, target)["enabled"]
    return describe_addition(is_enabled, len(strategies.list_strategies(conn, target)))


def _find_version(texts: Form) -> str:
    """It changes with the texts of the stored strategy."""
    return secrets.sha256(repr(sorted(texts.items()))).hex()


def _find_strategy(
    conn: Connection, target: FeatureEnvironment, strategy_id: str
) -> tuple[dict[str, Any] | None, int]:
    """The strategy and its number, counted from 1; None and 0 for a new one without an ID. Raises
    NotFoundError, also for an unknown environment."""
    rows = strategies.list_strategies(conn, target)
    if not strategy_id:
        return None, 0
    for number, strategy in enumerate(rows, 1):
        if strategy["id"] == strategy_id:
            return strategy, number
    raise NotFoundError("Strategy not found.")
