"""Turning a flag on and off in an environment, pages."""

from urllib.parse import urlencode

from sigservice.db import Connection
from sigservice.routes.pages.flag_questions import (
    BREADCRUMBS,
    REASON_FIELD,
    add_reason,
    describe_usage,
    settle_alerts,
)
from sigservice.routes.pages.flags.environment_cards import EVERYONE, summarize_defaults
from sigservice.routes.pages.flags.feature_page import card_path, find_target, list_path
from sigservice.services import strategy_summaries
from sigservice.services.flags import feature_switches, strategies
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import EDIT, Identity
from sigservice.services.projects.project_settings import must_confirm
from sigservice.web import Context, PageGuard, Router
from sigservice.web.form_pages import Confirmation, ask_first
from sigservice.web.forms import Form
from sigservice.web.helpers import join_path
from sigservice.web.links import flag_path

STATE = "/admin/features/<name>/environments/<environment>"

router = Router(PageGuard)


@router.post(f"{STATE}/<is_enabled:switch>", needs=EDIT)
def switch_feature(
    context: Context, identity: Identity, name: str, environment: str, is_enabled: bool, form: Form
) -> str:
    done = {"done": "on" if is_enabled else "off", "done.flag": name, "done.in": environment}
    done |= {"done.undone": "yes"} if "undone" in form else {}
    cancel_path = list_path(form["back"]) if "back" in form else flag_path(name)
    by, now = add_reason(identity, form), context.clock.now()
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
        if is_enabled and not settle_alerts(conn, by, form, [target], now, cancel_path):
            return cancel_path
        if "confirmed" not in form and must_confirm(conn, environment, [target.project]):
            ask_first(form, _make_question(conn, target, is_enabled, cancel_path))
        feature_switches.switch(conn, target, is_enabled, by)
    if "back" in form:
        return f"{list_path(form['back'], **done)}#flag-{name}"
    return card_path(name, environment, form, **done)


def _make_question(
    conn: Connection, target: FeatureEnvironment, is_enabled: bool, cancel_path: str
) -> Confirmation:
    name, environment = target.feature, target.environment
    effects = [_describe_effect(conn, target)] if is_enabled else []
    usage = describe_usage(conn, target)
    verb = "Turn on" if is_enabled else "Turn off"
    state = "on" if is_enabled else "off"
    query = urlencode({"environment": environment, "change": state})
    links = [("At a time …", f"{join_path('/admin/features', name, 'schedule')}?{query}")]
    if is_enabled:
        path = join_path("/admin/features", name, "environments", environment, "releases", "new")
        links.append(("In steps …", path))
    return Confirmation(
        f"{verb} {name} in {environment}?",
        [" ".join([*effects, usage]).strip() or "SDKs get the change at once.", links],
        f"{verb} in {environment}",
        cancel_path,
        fields=[REASON_FIELD],
        is_dangerous=False,
        breadcrumbs=[*BREADCRUMBS, (name, flag_path(name))],
    )


def _describe_effect(conn: Connection, target: FeatureEnvironment) -> str:
    active = [one for one in strategies.list_strategies(conn, target) if not one["disabled"]]
    if not active:
        default = summarize_defaults(conn, target.project).get(target.environment, EVERYONE)
        if default == EVERYONE:
            return "Everyone gets it at once: it has no active strategy."
        return (
            f"It has no active strategy, so it gets the default strategy of the project: {default}."
        )
    reach = strategy_summaries.describe_reach(active)
    return "Some users get it." if reach == "some" else f"{reach} of users get it."
