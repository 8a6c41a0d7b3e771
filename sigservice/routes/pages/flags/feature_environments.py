"""Enabling and disabling a flag in an environment, pages."""

from sigservice.errors import AppError
from sigservice.repository.usage import client_metrics
from sigservice.routes.pages.flags.environment_cards import EVERYONE, summarize_defaults
from sigservice.routes.pages.flags.feature_page import card_path, find_target, list_path
from sigservice.routes.pages.flags.plan_fields import (
    REASON_FIELD,
    list_accounts,
    make_optional_fields,
    plan,
)
from sigservice.services.actions.action_kinds.table import KINDS
from sigservice.services.actions.action_sets import Action
from sigservice.services.flags import feature_switches, strategies
from sigservice.services.flags.feature_states import FeatureEnvironment, get_state
from sigservice.services.identity import EDIT, Identity
from sigservice.services.projects.project_settings import must_confirm
from sigservice.web import Context, Page, PageGuard, Router
from sigservice.web.form_pages import Confirmation, is_correctable, make_confirmation_page
from sigservice.web.forms import Field, Form, fill
from sigservice.web.helpers import join_path
from sigservice.web.links import flag_path

STATE = "/admin/features/<name>/environments/<environment>"
HOURS = 24
NOW, AT, STEPS = ("now", "Now"), ("at", "At"), ("steps", "In steps, with guards → New release")

router = Router(PageGuard)


@router.post(f"{STATE}/<is_enabled:switch>", needs=EDIT)
def switch_feature(
    context: Context, identity: Identity, name: str, environment: str, is_enabled: bool, form: Form
) -> Page | str:
    if form.get("when") == "steps":
        return join_path("/admin/features", name, "environments", environment, "releases", "new")
    if form.get("when") == "at":
        return _plan_switch(context, identity, name, environment, is_enabled, form)
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
        is_question = "confirmed" not in form and must_confirm(conn, environment, [target.project])
        if not is_question:
            reason = form.get("why", "").strip()[:500]
            feature_switches.switch(conn, target, is_enabled, identity, reason=reason)
    if is_question:
        return _ask_first(context, identity, target, form, is_enabled)
    done = {"done": "on" if is_enabled else "off", "done.flag": name, "done.in": environment}
    done |= {"done.undone": "yes"} if "undone" in form else {}
    if "back" in form:
        return f"{list_path(form['back'], **done)}#flag-{name}"
    return card_path(name, environment, form, **done)


def _plan_switch(
    context: Context, identity: Identity, name: str, environment: str, is_enabled: bool, form: Form
) -> Page | str:
    kind = "TOGGLE_FEATURE_ON" if is_enabled else "TOGGLE_FEATURE_OFF"
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
    params = {"project": target.project, "featureName": name, "environment": environment}
    try:
        with context.database.transaction() as conn:
            text = KINDS[kind].describe(params)
            action = Action(kind, 1, params)
            plan(context, conn, identity, target.project, form, action, text)
    except AppError as error:
        if not is_correctable(error):
            raise
        return _ask_first(context, identity, target, form, is_enabled, error)
    return card_path(name, environment, form, done="scheduled")


def _ask_first(
    context: Context,
    identity: Identity,
    target: FeatureEnvironment,
    form: Form,
    enabled: bool,
    error: AppError | None = None,
) -> Page:
    """The question in production; static/app.js shows it in a dialog."""
    name, environment = target.feature, target.environment
    with context.database.transaction() as conn:
        state, has_strategies = get_state(conn, target), strategies.list_strategies(conn, target)
        default = summarize_defaults(conn, target.project).get(environment, EVERYONE)
        usage = client_metrics.find_busiest_app(conn, name, environment, hours=HOURS)
        accounts = list_accounts(conn, identity)
    sentences = []
    if enabled and not state["is_active"]:
        noun = "active strategy" if has_strategies else "strategy"
        effect = ": all users get it at once"
        if default != EVERYONE:
            effect = f" and gets the default strategy of the project: {default}"
        sentences.append(f"It has no {noun}{effect}.")
    if usage:
        sentences.append(
            f"In the last {HOURS} h, {usage['app_name']} evaluated it {usage['count']:,} times."
        )
    choices = [NOW, *([AT] if accounts else []), *([STEPS] if enabled else [])]
    when = Field("when", "When", type="radio", choices=choices)
    fields = fill([when] if len(choices) > 1 else [], {"when": "now"} | form)
    if accounts:
        fields += make_optional_fields(form, accounts)
    verb = "Enable" if enabled else "Disable"
    confirmation = Confirmation(
        f"{verb} {name} in {environment}?",
        [" ".join(sentences) or "SDKs get the change at once."],
        f"{verb} in {environment}",
        list_path(form["back"]) if "back" in form else flag_path(name),
        hidden={"confirmed": "on", **{key: form[key] for key in ("back", "usage") if key in form}},
        fields=[*fields, *fill([REASON_FIELD], form)],
        is_dangerous=not enabled,
        breadcrumbs=[("Flags", "/admin/features"), (name, flag_path(name))],
    )
    return make_confirmation_page(confirmation, error, form=form)
