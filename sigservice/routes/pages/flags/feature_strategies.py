"""Strategies of a flag in an environment, pages: add, edit, remove."""

from __future__ import annotations

from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.errors import AppError, NotFoundError
from sigservice.repository.flags import segments as segments_repository
from sigservice.routes.pages.flags import strategy_fields
from sigservice.routes.pages.flags.feature_page import find, flag_path
from sigservice.routes.pages.flags.strategy_fields import Values
from sigservice.services.flags import strategies, strategy_summaries
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import EDIT, Identity
from sigservice.web import respond
from sigservice.web.growing_forms import GROWING_FORM
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

STRATEGIES = "/admin/features/<name>/environments/<environment>/strategies"


router = Router(PageGuard)


def form_page(
    context: Context,
    identity: Identity,
    place: FeatureEnvironment,
    offered: dict[str, Any],
    values: Values,
    *,
    number: int | None = None,
    error: AppError | None = None,
) -> HTTPResponse:
    what = f"Strategy {number}" if number else "New strategy"
    title = f"{what} of {place.feature} in {place.environment}"
    return respond.page(
        context,
        "flags/feature_strategies/form",
        identity,
        status=error.status if error else 200,
        title=f"Problem: {title}" if error else title,
        problems=strategy_fields.beside(error.details) if error else [],
        heading=what,
        place=place,
        path=flag_path(place.feature),
        action=context.prefix + request.environ["PATH_INFO"],
        values=values,
        constraints=values.constraints,
        parameters=strategy_fields.parameters_of(offered["types"], values.type),
        parameter_field=strategy_fields.parameter_field,
        segment_limit=context.config["strategySegmentsLimit"],
        segment_words=strategy_summaries.summarize_segment,
        **{name: value for name, value in offered.items() if name != "types"},
        types=_choices(offered["types"], values.type),
    )


@router.get(f"{STRATEGIES}/new", needs=EDIT)
def new(context: Context, identity: Identity, name: str, environment: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        place = _place(conn, name, environment)
        strategies.list_strategies(conn, place)
        offered = strategy_fields.offered(conn)
    parameters = {"rollout": "100", "stickiness": "default", "groupId": name}
    return form_page(context, identity, place, offered, Values(parameters=parameters))


@router.post(f"{STRATEGIES}/new", needs=EDIT, **GROWING_FORM)
def add(
    context: Context, identity: Identity, name: str, environment: str, form: dict[str, str]
) -> HTTPResponse:
    with context.database.transaction() as conn:
        place = _place(conn, name, environment)
        offered = strategy_fields.offered(conn)
    values = strategy_fields.read(form, offered["types"])
    if not _is_complete(form):
        values = strategy_fields.grown(values, form.get("do", ""))
        return form_page(context, identity, place, offered, values)
    try:
        new = strategy_fields.to_strategy(values, offered["types"])
        with context.database.transaction() as conn:
            strategies.add(
                conn, place, new, identity, most_segments=context.config["strategySegmentsLimit"]
            )
    except AppError as error:
        if error.status >= 500:
            raise
        return form_page(context, identity, place, offered, values, error=error)
    return respond.redirect(context, f"{flag_path(name)}?done=strategy-saved#in-{environment}")


@router.get(f"{STRATEGIES}/<strategy_id>", needs=EDIT)
def edit(
    context: Context, identity: Identity, name: str, environment: str, strategy_id: str
) -> HTTPResponse:
    with context.database.transaction() as conn:
        place = _place(conn, name, environment)
        stored, number = _find(conn, place, strategy_id)
        offered = strategy_fields.offered(conn)
    values = strategy_fields.show(stored, offered["types"])
    return form_page(context, identity, place, offered, values, number=number)


@router.post(f"{STRATEGIES}/<strategy_id>", needs=EDIT, **GROWING_FORM)
def save(
    context: Context,
    identity: Identity,
    name: str,
    environment: str,
    strategy_id: str,
    form: dict[str, str],
) -> HTTPResponse:
    with context.database.transaction() as conn:
        place = _place(conn, name, environment)
        stored, number = _find(conn, place, strategy_id)
        offered = strategy_fields.offered(conn)
    values = strategy_fields.read(form, offered["types"])
    if not _is_complete(form):
        values = strategy_fields.grown(values, form.get("do", ""))
        return form_page(context, identity, place, offered, values, number=number)
    try:
        new = strategy_fields.to_strategy(values, offered["types"], stored)
        with context.database.transaction() as conn:
            strategies.replace(
                conn,
                place,
                strategy_id,
                new,
                identity,
                most_segments=context.config["strategySegmentsLimit"],
            )
    except AppError as error:
        if error.status >= 500:
            raise
        return form_page(context, identity, place, offered, values, number=number, error=error)
    return respond.redirect(context, f"{flag_path(name)}?done=strategy-saved#in-{environment}")


@router.get(f"{STRATEGIES}/<strategy_id>/delete", needs=EDIT)
def confirm_delete(
    context: Context, identity: Identity, name: str, environment: str, strategy_id: str
) -> HTTPResponse:
    with context.database.transaction() as conn:
        place = _place(conn, name, environment)
        stored, number = _find(conn, place, strategy_id)
        others = [
            item
            for item in strategies.list_strategies(conn, place)
            if item["id"] != strategy_id and not item["disabled"]
        ]
        asked = segments_repository.list_by_id(conn, stored["segments"])
    return respond.page(
        context,
        "flags/feature_strategies/delete",
        identity,
        title=f"Remove strategy {number} of {name} in {environment}?",
        place=place,
        path=flag_path(name),
        action=context.prefix + request.environ["PATH_INFO"],
        number=number,
        words=strategy_summaries.summarize_strategy(
            stored, {row["id"]: row["name"] for row in asked}
        ),
        is_last=not others,
    )


@router.post(f"{STRATEGIES}/<strategy_id>/delete", needs=EDIT)
def delete(
    context: Context,
    identity: Identity,
    name: str,
    environment: str,
    strategy_id: str,
    form: dict[str, str],
) -> HTTPResponse:
    with context.database.transaction() as conn:
        strategies.remove(conn, _place(conn, name, environment), strategy_id, identity)
    return respond.redirect(context, f"{flag_path(name)}?done=strategy-removed#in-{environment}")


def _place(conn: Connection, name: str, environment: str) -> FeatureEnvironment:
    return FeatureEnvironment(find(conn, name)["project"], name, environment)


def _find(
    conn: Connection, place: FeatureEnvironment, strategy_id: str
) -> tuple[dict[str, Any], int]:
    """The strategy and which one it is, counted from 1."""
    for number, item in enumerate(strategies.list_strategies(conn, place), 1):
        if item["id"] == strategy_id:
            return item, number
    raise NotFoundError("There is no such strategy.")


def _is_complete(form: dict[str, str]) -> bool:
    """Not when a button asks for another field, nor when the type was changed: its parameters
    have not been seen yet."""
    return not form.get("do") and form.get("shown_type") == form.get("name")


def _choices(types: list[dict[str, Any]], chosen: str) -> list[tuple[str, str]]:
    """A type that somebody deleted stays to be seen where it is used."""
    found = [
        (row["name"], f"{row['title'] or row['name']}{' (outdated)' if row['deprecated'] else ''}")
        for row in types
        if row["name"] == chosen or not row["deprecated"]
    ]
    return found if chosen in dict(found) else [*found, (chosen, chosen)]
