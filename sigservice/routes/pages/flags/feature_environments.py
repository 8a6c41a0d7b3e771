"""Enabling and disabling a flag in an environment, pages."""

from urllib.parse import urlencode

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.repository.projects import projects
from sigservice.routes.pages.flags.feature_page import find_feature, list_path
from sigservice.services.flags import feature_switches
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import EDIT, Identity
from sigservice.services.projects import environments
from sigservice.web import respond
from sigservice.web.forms import Form
from sigservice.web.guards import PageGuard
from sigservice.web.helpers import join_path
from sigservice.web.links import flag_path
from sigservice.web.router import Router

STATE = "/admin/features/<name>/environments/<environment>"

router = Router(PageGuard)


def _switch(
    context: Context, identity: Identity, name: str, environment: str, form: Form, enabled: bool
) -> HTTPResponse:
    with context.database.transaction() as conn:
        project = find_feature(conn, name)["project"]
        if "confirmed" not in form and _asks_first(conn, project, environment):
            return _ask_first(context, identity, name, environment, form, enabled)
        flag_environment = FeatureEnvironment(project, name, environment)
        feature_switches.switch(conn, flag_environment, enabled, identity)
    done = {"done": "on" if enabled else "off", "flag": name, "in": environment}
    done |= {"undone": "yes"} if "undone" in form else {}
    if "back" in form:
        return respond.redirect(context, f"{list_path(form['back'], **done)}#flag-{name}")
    return respond.redirect(context, f"{flag_path(name)}?{urlencode(done)}#in-{environment}")


def _asks_first(conn: Connection, project: str, environment: str) -> bool:
    is_production = environments.get(conn, environment)["type"] == "production"
    return is_production and project in projects.list_confirming(conn)


def _ask_first(
    context: Context, identity: Identity, name: str, environment: str, form: Form, enabled: bool
) -> HTTPResponse:
    """The question of browsers without JavaScript; static/app.js asks in a dialog."""
    state = "on" if enabled else "off"
    return respond.page(
        context,
        "flags/features/confirm_switch",
        identity,
        title=f"{'Enable' if enabled else 'Disable'} {name} in {environment}?",
        path=join_path("/admin/features", name, "environments", environment, state),
        back=form.get("back"),
        cancel_path=list_path(form["back"]) if "back" in form else flag_path(name),
        breadcrumbs=[("Flags", "/admin/features"), (name, flag_path(name))],
        button="Enable" if enabled else "Disable",
    )


@router.post(f"{STATE}/on", needs=EDIT)
def enable_feature(
    context: Context, identity: Identity, name: str, environment: str, form: Form
) -> HTTPResponse:
    return _switch(context, identity, name, environment, form, True)


@router.post(f"{STATE}/off", needs=EDIT)
def disable_feature(
    context: Context, identity: Identity, name: str, environment: str, form: Form
) -> HTTPResponse:
    return _switch(context, identity, name, environment, form, False)
