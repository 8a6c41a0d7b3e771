"""Strategies of a flag in an environment, pages: add, edit, remove."""

from dataclasses import replace
from typing import Any

from sigservice.crypto import secrets
from sigservice.errors import ConflictError, NotFoundError
from sigservice.repository.releases import releases
from sigservice.routes.pages.flag_questions import (
    REASON_FIELD,
    add_reason,
    ask_about_strategies,
    compare_strategies,
    make_change_question,
)
from sigservice.routes.pages.flags.feature_page import find_target
from sigservice.routes.pages.flags.strategy_draft import render_draft
from sigservice.routes.pages.flags.strategy_form import (
    changes_form,
    load_choices,
    make_form,
    make_form_parts,
    read_strategy,
)
from sigservice.services import revisions
from sigservice.services.flags import strategies
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import EDIT, Identity
from sigservice.web import Connection, Context, Page, PageGuard, Router
from sigservice.web.form_pages import Confirmation, confirms, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Form, fill
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
        choices = load_choices(conn)
        version = _find_version(make_form(existing, choices, name))
        if existing and form.get("version", version) != version:
            raise ConflictError(CHANGED)
        new = read_strategy(form, choices, existing)
        fields = strategies.validate(conn, new, name, max_segments=limit, project=target.project)
        after = {"id": strategy_id, **fields, "disabled": bool(new.disabled)}
        others = strategies.read_strategies(conn, target)
        changed = [after if one["id"] == strategy_id else one for one in others]
        ask_about_strategies(conn, target, form, changed if existing else [*others, after])
        by = add_reason(identity, form)
        if existing is None:
            strategies.add(conn, target, new, by, max_segments=limit)
        else:
            strategies.replace(conn, target, strategy_id, new, by, max_segments=limit)
    return f"{flag_path(name)}?env={environment}&done=strategy-saved#in-{environment}"


@confirms(router, f"{ONE}/delete", needs=EDIT, has_form=True)
def remove_strategy(
    conn: Connection,
    identity: Identity,
    name: str,
    environment: str,
    strategy_id: str,
    form: Form,
) -> Confirmation:
    target = find_target(conn, name, environment)
    strategy, number = _find_strategy(conn, target, strategy_id)
    assert strategy is not None
    before = strategies.read_strategies(conn, target)
    after = [one for one in before if one["id"] != strategy_id]
    by, done = (
        add_reason(identity, form),
        f"{flag_path(name)}?env={environment}&done=strategy-removed#in-{environment}",
    )
    question = make_change_question(
        name, environment, f"Strategy {number} is removed.", compare_strategies(conn, before, after)
    )
    return replace(
        question,
        title=f"Remove strategy {number} of {name} in {environment}?",
        button="Remove strategy",
        is_dangerous=True,
        fields=fill([REASON_FIELD], form),
        perform=lambda: strategies.remove(conn, target, strategy_id, by),
        done=done,
    )


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
