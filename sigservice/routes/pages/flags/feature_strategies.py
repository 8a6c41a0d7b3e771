"""Strategies of a flag in an environment, pages: add, edit, remove."""

from dataclasses import dataclass
from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.errors import AppError, NotFoundError
from sigservice.repository.flags import segments as segments_repository
from sigservice.routes.pages.flags import strategy_fields
from sigservice.routes.pages.flags.feature_page import find_feature
from sigservice.routes.pages.flags.strategy_draft import render_draft
from sigservice.routes.pages.flags.strategy_fields import StrategyChoices, StrategyValues
from sigservice.routes.pages.flags.strategy_form import (
    apply_change,
    changes_form,
    make_form_parts,
)
from sigservice.services import revisions
from sigservice.services.flags import strategies, strategy_summaries
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import EDIT, Identity
from sigservice.web import respond
from sigservice.web.forms import Form
from sigservice.web.growing_forms import GROWING_FORM
from sigservice.web.guards import PageGuard
from sigservice.web.links import flag_path
from sigservice.web.router import Router

STRATEGIES = "/admin/features/<name>/environments/<environment>/strategies"

router = Router(PageGuard)


@dataclass(frozen=True)
class FormSubject:
    """What a form edits: a strategy with its number, counted from 1, or a new one, number 0."""

    flag_environment: FeatureEnvironment
    choices: StrategyChoices
    strategy: dict[str, Any] | None = None
    number: int = 0


def _render_form(
    context: Context,
    identity: Identity,
    subject: FormSubject,
    values: StrategyValues | None = None,
    error: AppError | None = None,
    notice: str = "",
) -> HTTPResponse:
    """`values` are what was submitted."""
    flag_environment, choices = subject.flag_environment, subject.choices
    values = values or strategy_fields.to_values(
        subject.strategy, choices, flag_environment.feature
    )
    heading = f"Strategy {subject.number}" if subject.number else "New strategy"
    if error:
        error.details = strategy_fields.to_form_problems(error.details)
    return respond.page(
        context,
        "flags/feature_strategies/form",
        identity,
        form_error=error,
        title=f"{heading} of {flag_environment.feature} in {flag_environment.environment}",
        heading=heading,
        notice=notice,
        breadcrumbs=[("Flags", "/admin/features"), _make_crumb(flag_environment)],
        flag_environment=flag_environment,
        path=flag_path(flag_environment.feature),
        action=context.prefix + request.environ["PATH_INFO"],
        **make_form_parts(context, values, choices, flag_environment.project),
    )


@router.get(f"{STRATEGIES}/new", needs=EDIT)
def show_new_strategy(
    context: Context, identity: Identity, name: str, environment: str
) -> HTTPResponse:
    return _render_form(context, identity, _find_target(context, name, environment))


@router.post(f"{STRATEGIES}/new", needs=EDIT, **GROWING_FORM)
def add_strategy(
    context: Context, identity: Identity, name: str, environment: str, form: Form
) -> HTTPResponse:
    return _submit(context, identity, _find_target(context, name, environment), form)


@router.get(f"{STRATEGIES}/<strategy_id>", needs=EDIT)
def show_strategy(
    context: Context, identity: Identity, name: str, environment: str, strategy_id: str
) -> HTTPResponse:
    return _render_form(context, identity, _find_target(context, name, environment, strategy_id))


@router.post(f"{STRATEGIES}/<strategy_id>", needs=EDIT, **GROWING_FORM)
def save_strategy(
    context: Context, identity: Identity, name: str, environment: str, strategy_id: str, form: Form
) -> HTTPResponse:
    return _submit(context, identity, _find_target(context, name, environment, strategy_id), form)


def _submit(context: Context, identity: Identity, subject: FormSubject, form: Form) -> HTTPResponse:
    """Adds a strategy, or replaces the existing one."""
    flag_environment, limit = subject.flag_environment, context.config["strategySegmentsLimit"]
    values = strategy_fields.read_values(form, subject.choices)
    if form.get("do") == "evaluate":
        return _evaluate(context, identity, subject, values)
    if changes_form(form):
        values, notice = apply_change(values, form)
        return _render_form(context, identity, subject, values, notice=notice)
    try:
        with context.database.transaction() as conn:
            revisions.lock(conn)  # parameters that the form has no fields for must not change
            existing = subject.strategy
            if existing is not None:
                existing = strategies.get(conn, flag_environment, existing["id"])
            new = strategy_fields.to_strategy(values, subject.choices, existing)
            if existing is None:
                strategies.add(conn, flag_environment, new, identity, max_segments=limit)
            else:
                id = existing["id"]
                strategies.replace(conn, flag_environment, id, new, identity, max_segments=limit)
    except AppError as error:
        if error.status >= 500:
            raise
        return _render_form(context, identity, subject, values, error)
    return _redirect(context, flag_environment, "strategy-saved")


def _evaluate(
    context: Context, identity: Identity, subject: FormSubject, values: StrategyValues
) -> HTTPResponse:
    id = subject.strategy["id"] if subject.strategy else None
    try:
        draft = strategy_fields.to_strategy(values, subject.choices, subject.strategy)
        return render_draft(context, identity, subject.flag_environment, draft, id, {})
    except AppError as error:
        if error.status >= 500:
            raise
        return _render_form(context, identity, subject, values, error)


def _make_crumb(flag_environment: FeatureEnvironment) -> tuple[str, str]:
    return flag_environment.feature, flag_path(flag_environment.feature)


def _find_target(
    context: Context, name: str, environment: str, strategy_id: str | None = None
) -> FormSubject:
    """Raises NotFoundError."""
    with context.database.transaction() as conn:
        flag_environment = _find_flag_environment(conn, name, environment)
        choices = strategy_fields.load_choices(conn)
        if strategy_id is not None:
            return FormSubject(
                flag_environment, choices, *_find_strategy(conn, flag_environment, strategy_id)
            )
        strategies.list_strategies(conn, flag_environment)
    return FormSubject(flag_environment, choices)


@router.get(f"{STRATEGIES}/<strategy_id>/delete", needs=EDIT)
def confirm_strategy_removal(
    context: Context, identity: Identity, name: str, environment: str, strategy_id: str
) -> HTTPResponse:
    with context.database.transaction() as conn:
        flag_environment = _find_flag_environment(conn, name, environment)
        strategy, number = _find_strategy(conn, flag_environment, strategy_id)
        others = [
            other
            for other in strategies.list_strategies(conn, flag_environment)
            if other["id"] != strategy_id and not other["disabled"]
        ]
        segments = segments_repository.list_by_id(conn, strategy["segments"])
    return respond.page(
        context,
        "flags/feature_strategies/delete",
        identity,
        title=f"Remove strategy {number} of {name} in {environment}?",
        flag_environment=flag_environment,
        path=flag_path(name),
        action=context.prefix + request.environ["PATH_INFO"],
        summary=strategy_summaries.summarize_strategy(
            strategy, {row["id"]: row["name"] for row in segments}
        ),
        is_last=not others,
    )


@router.post(f"{STRATEGIES}/<strategy_id>/delete", needs=EDIT)
def remove_strategy(
    context: Context, identity: Identity, name: str, environment: str, strategy_id: str, form: Form
) -> HTTPResponse:
    with context.database.transaction() as conn:
        flag_environment = _find_flag_environment(conn, name, environment)
        strategies.remove(conn, flag_environment, strategy_id, identity)
    return _redirect(context, flag_environment, "strategy-removed")


def _find_flag_environment(conn: Connection, name: str, environment: str) -> FeatureEnvironment:
    return FeatureEnvironment(find_feature(conn, name)["project"], name, environment)


def _find_strategy(
    conn: Connection, flag_environment: FeatureEnvironment, strategy_id: str
) -> tuple[dict[str, Any], int]:
    """The strategy and its number, counted from 1. Raises NotFoundError."""
    for number, strategy in enumerate(strategies.list_strategies(conn, flag_environment), 1):
        if strategy["id"] == strategy_id:
            return strategy, number
    raise NotFoundError("Strategy not found.")


def _redirect(context: Context, flag_environment: FeatureEnvironment, done: str) -> HTTPResponse:
    path = f"{flag_path(flag_environment.feature)}?done={done}#in-{flag_environment.environment}"
    return respond.redirect(context, path)
