"""Strategies of a flag, on its page: order, disable, copy to another environment."""

from sigservice.errors import BadDataError
from sigservice.routes.pages.flags.feature_page import card_path, find_target
from sigservice.routes.pages.flags.feature_strategies import ask_for_addition, ask_for_last_active
from sigservice.services import revisions
from sigservice.services.flags import strategies
from sigservice.services.identity import EDIT, Identity
from sigservice.web import Context, Page, PageGuard, Router
from sigservice.web.form_pages import make_confirmation_page
from sigservice.web.forms import Form

STRATEGY = "/admin/features/<name>/environments/<environment>/strategies/<strategy_id>"
STEPS = {"up": -1, "down": 1}

router = Router(PageGuard)


@router.post(f"{STRATEGY}/move", needs=EDIT)
def move_strategy(
    context: Context, identity: Identity, name: str, environment: str, strategy_id: str, form: Form
) -> str:
    """Does nothing to the first strategy that moves up, nor to the last that moves down."""
    if form.get("to") not in STEPS:
        raise BadDataError("to must be up or down.", path="to")
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
        strategies.move(conn, target, strategy_id, STEPS[form["to"]], identity)
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
) -> Page | str:
    """Asks first where that disables the flag in a production environment."""
    limit = context.config["strategySegmentsLimit"]
    with context.database.transaction() as conn:
        revisions.lock(conn)  # no other change between reading and writing
        target = find_target(conn, name, environment)
        question = None if is_enabled else ask_for_last_active(conn, target, strategy_id, form)
        if question:
            return make_confirmation_page(question)
        changed = strategies.to_strategy(strategies.get(conn, target, strategy_id))
        changed.disabled = not is_enabled
        strategies.replace(conn, target, strategy_id, changed, identity, max_segments=limit)
    done = "strategy-enabled" if is_enabled else "strategy-disabled"
    return card_path(name, environment, form, done=done)


@router.post(f"{STRATEGY}/copy", needs=EDIT)
def copy_strategy(
    context: Context, identity: Identity, name: str, environment: str, strategy_id: str, form: Form
) -> Page | str:
    """Asks first where that changes who gets the flag in a production environment."""
    to, limit = form.get("environment", ""), context.config["strategySegmentsLimit"]
    with context.database.transaction() as conn:
        revisions.lock(conn)  # no other change between reading and writing
        target = find_target(conn, name, environment)
        copied = strategies.to_strategy(strategies.get(conn, target, strategy_id))
        there = find_target(conn, name, to)
        if question := ask_for_addition(conn, there, form, "Copy"):
            return make_confirmation_page(question)
        strategies.add(conn, there, copied, identity, max_segments=limit)
    return card_path(name, to, form, done="strategy-copied")
