"""Recipes of action sets, JSON: filters, options, samples and setup for well-known systems."""

from __future__ import annotations

from bottle import Bottle, HTTPResponse

from sigservice.context import Context
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.recipes import RECIPES, to_json
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.doors import AdminDoor


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))

    @area.get("/api/admin/action-recipes", needs=ADMIN)
    def list_all(identity: Identity) -> HTTPResponse:
        return respond.json({"recipes": [to_json(name, r) for name, r in RECIPES.items()]})

    return area
