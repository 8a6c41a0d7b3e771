"""Switching flags on and off, pages."""

from __future__ import annotations

from bottle import Bottle, HTTPResponse

from sigservice.context import Context
from sigservice.routes.pages.feature_page import find, flag_path, list_path
from sigservice.services import switching
from sigservice.services.feature_states import Place
from sigservice.services.identity import EDIT, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.doors import PageDoor

STATE = "/admin/features/<name>/environments/<environment>"


def build(context: Context) -> Bottle:
    area = new_area(context, PageDoor(context))

    def switch(
        identity: Identity, name: str, environment: str, form: dict[str, str], enabled: bool
    ) -> HTTPResponse:
        with context.database.transaction() as conn:
            place = Place(find(conn, name)["project"], name, environment)
            switching.switch(conn, place, enabled, identity)
        done = "on" if enabled else "off"
        if "back" in form:
            return respond.redirect(context, f"{list_path(form['back'], done)}#flag-{name}")
        return respond.redirect(context, f"{flag_path(name)}?done={done}#in-{environment}")

    @area.post(f"{STATE}/on", needs=EDIT)
    def on(identity: Identity, name: str, environment: str, form: dict[str, str]) -> HTTPResponse:
        return switch(identity, name, environment, form, True)

    @area.post(f"{STATE}/off", needs=EDIT)
    def off(identity: Identity, name: str, environment: str, form: dict[str, str]) -> HTTPResponse:
        return switch(identity, name, environment, form, False)

    return area
