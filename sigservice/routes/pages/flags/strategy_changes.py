"""Strategies of a flag, on its page: order, disable, copy to another environment."""

from typing import Any

from sigservice.errors import BadDataError, NotFoundError
from sigservice.routes.pages.flag_questions import (
    BREADCRUMBS,
    REASON_FIELD,
    add_reason,
    ask_about_strategies,
    settle_alerts,
)
from sigservice.routes.pages.flags.feature_page import card_path, find_target
from sigservice.services import revisions
from sigservice.services.flags import feature_switches, strategies
from sigservice.services.identity import EDIT, Identity
from sigservice.web import Context, PageGuard, Router
from sigservice.web.form_pages import Confirmation, ask_first
from sigservice.web.forms import Form
from sigservice.web.links import flag_path

ENVIRONMENT = "/admin/features/<name>/environments/<environment>"
STRATEGY = f"{ENVIRONMENT}/strategies/<strategy_id>"
STEPS = {"up": -1, "down": 1}

router = Router(PageGuard)


@router.post(f"{ENVIRONMENT}/start/<rollout>", needs=EDIT)
def start_with_strategy(
    context: Context, identity: Identity, name: str, environment: str, rollout: str, form: Form
) -> str:
    """Gives a flag its first strategy in the environment, and turns it on."""
    limit, now = context.config["strategySegmentsLimit"], context.clock.now()
    if rollout not in ("10", "100"):
        raise NotFoundError("A flag starts with 10 or 100%.")
    users = "Everyone gets" if rollout == "100" else f"{rollout}% of users get"
    by, cancel_path = add_reason(identity, form), card_path(name, environment, form)
    parameters: dict[str, Any] = {"rollout": rollout, "stickiness": "default", "groupId": name}
    first = strategies.Strategy(name="flexibleRollout", parameters=parameters)
    question = Confirmation(
        f"Turn on {name} in {environment}?",
        [f"{users} it at once."],
        f"Turn on in {environment}",
        cancel_path,
        fields=[REASON_FIELD],
        is_dangerous=False,
        breadcrumbs=[*BREADCRUMBS, (name, flag_path(name))],
    )
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
        if not settle_alerts(conn, by, form, [target], now, cancel_path):
            return cancel_path
        ask_first(form, question)
        revisions.lock(conn)
        strategies.add(conn, target, first, by, max_segments=limit)
        feature_switches.switch(conn, target, True, by)
    return card_path(name, environment, form, done="on")


@router.post(f"{STRATEGY}/move", needs=EDIT)
def move_strategy(
    context: Context, identity: Identity, name: str, environment: str, strategy_id: str, form: Form
) -> str:
    """Does nothing to the first strategy that moves up, nor to the last that moves down."""
    if form.get("to") not in STEPS:
        raise BadDataError("to must be up or down.", path="to")
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
        revisions.lock(conn)
        after = strategies.read_strategies(conn, target)
        at = after.index(strategies.get(conn, target, strategy_id))
        if 0 <= at + STEPS[form["to"]] < len(after):
            after.insert(at + STEPS[form["to"]], after.pop(at))
            ask_about_strategies(conn, target, form, after)
        strategies.move(conn, target, strategy_id, STEPS[form["to"]], add_reason(identity, form))
    return card_path(name, environment, form, done="strategy-moved")


@router.post(f"{STRATEGY}/<is_enabled:switch>", needs=EDIT)
def switch_strategy(
    context: Context,
    identity: Identity,
    name: str,
    environment: str,
    strategy_id: str,
    is_enabled: bool,
    form: Form,
) -> str:
    limit = context.config["strategySegmentsLimit"]
    with context.database.transaction() as conn:
        revisions.lock(conn)  # no other change between reading and writing
        target = find_target(conn, name, environment)
        changed = strategies.to_strategy(strategies.get(conn, target, strategy_id))
        changed.disabled = not is_enabled
        after = [
            one | {"disabled": changed.disabled} if one["id"] == strategy_id else one
            for one in strategies.read_strategies(conn, target)
        ]
        ask_about_strategies(conn, target, form, after)
        by = add_reason(identity, form)
        strategies.replace(conn, target, strategy_id, changed, by, max_segments=limit)
    done = "strategy-enabled" if is_enabled else "strategy-disabled"
    return card_path(name, environment, form, done=done)


@router.post(f"{STRATEGY}/copy", needs=EDIT)
def copy_strategy(
    context: Context, identity: Identity, name: str, environment: str, strategy_id: str, form: Form
) -> str:
    """Asks first where that changes who gets the flag in a production environment."""
    to, limit = form.get("environment", ""), context.config["strategySegmentsLimit"]
    with context.database.transaction() as conn:
        revisions.lock(conn)  # no other change between reading and writing
        target = find_target(conn, name, environment)
        there = find_target(conn, name, to)
        body = strategies.get(conn, target, strategy_id)
        after = [*strategies.list_strategies(conn, there), body | {"id": ""}]
        ask_about_strategies(conn, there, form, after)
        copied, by = strategies.to_strategy(body), add_reason(identity, form)
        strategies.add(conn, there, copied, by, max_segments=limit)
    return card_path(name, to, form, done="strategy-copied")
