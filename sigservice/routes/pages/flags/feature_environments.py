"""Enabling and disabling a flag in an environment, pages."""

from urllib.parse import urlencode

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.routes.pages.flags.feature_page import find_feature, flag_path, list_path
from sigservice.services.flags import feature_switches
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import EDIT, Identity
from sigservice.web import respond
from sigservice.web.forms import Form
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

STATE = "/admin/features/<name>/environments/<environment>"

router = Router(PageGuard)


def _switch(
    context: Context, identity: Identity, name: str, environment: str, form: Form, enabled: bool
) -> HTTPResponse:
    with context.database.transaction() as conn:
        project = find_feature(conn, name)["project"]
        flag_environment = FeatureEnvironment(project, name, environment)
        feature_switches.switch(conn, flag_environment, enabled, identity)
    done = {"done": "on" if enabled else "off", "flag": name, "environment": environment}
    if "back" in form:
        return respond.redirect(context, f"{list_path(form['back'], **done)}#flag-{name}")
    return respond.redirect(context, f"{flag_path(name)}?{urlencode(done)}#in-{environment}")


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
