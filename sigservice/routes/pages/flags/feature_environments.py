"""Enabling and disabling a flag in an environment, pages."""

from urllib.parse import urlencode

from sigservice.routes.pages.flags.environment_cards import NO_STRATEGY
from sigservice.routes.pages.flags.feature_page import find_feature, list_path
from sigservice.services.flags import feature_switches, strategies
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import ADMIN, EDIT, Identity
from sigservice.services.projects.project_settings import must_confirm
from sigservice.web import Context, HTTPResponse, PageGuard, Router, respond
from sigservice.web.form_pages import Confirmation, render_confirmation
from sigservice.web.forms import Form
from sigservice.web.links import flag_path

STATE = "/admin/features/<name>/environments/<environment>"

router = Router(PageGuard)


@router.post(f"{STATE}/<is_enabled:switch>", needs=EDIT)
def switch_feature(
    context: Context, identity: Identity, name: str, environment: str, is_enabled: bool, form: Form
) -> HTTPResponse:
    with context.database.transaction() as conn:
        project = find_feature(conn, name)["project"]
        if "confirmed" not in form and must_confirm(conn, environment, [project]):
            target = FeatureEnvironment(project, name, environment)
            has_strategies = bool(strategies.list_strategies(conn, target))
            effect = NO_STRATEGY if is_enabled and not has_strategies else ""
            return _ask_first(context, identity, name, environment, form, is_enabled, effect)
        flag_environment = FeatureEnvironment(project, name, environment)
        feature_switches.switch(conn, flag_environment, is_enabled, identity)
    done = {"done": "on" if is_enabled else "off", "flag": name, "in": environment}
    done |= {"undone": "yes"} if "undone" in form else {}
    if "back" in form:
        return respond.redirect(context, f"{list_path(form['back'], **done)}#flag-{name}")
    return respond.redirect(context, f"{flag_path(name)}?{urlencode(done)}#in-{environment}")


def _ask_first(
    context: Context,
    identity: Identity,
    name: str,
    environment: str,
    form: Form,
    enabled: bool,
    effect: str,
) -> HTTPResponse:
    """The question of browsers without JavaScript; static/app.js asks in a dialog."""
    verb = "Enable" if enabled else "Disable"
    body: list[str | list[tuple[str, str]]] = [
        f"This is a production environment. SDKs get the change at once. {effect}".strip()
    ]
    if identity.has_permission(ADMIN):
        query = urlencode({"environment": environment, "change": "on" if enabled else "off"})
        body.append([("Schedule it instead", f"{flag_path(name)}/schedule?{query}")])
    confirmation = Confirmation(
        f"{verb} {name} in {environment}?",
        body,
        verb,
        list_path(form["back"]) if "back" in form else flag_path(name),
        hidden={"confirmed": "on", **{key: form[key] for key in ("back",) if key in form}},
        is_dangerous=not enabled,
        breadcrumbs=[("Flags", "/admin/features"), (name, flag_path(name))],
    )
    return render_confirmation(context, identity, confirmation)
