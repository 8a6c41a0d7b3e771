"""Environments of a project, JSON: link, unlink, the default strategy."""

from __future__ import annotations

from typing import Any

import msgspec
from bottle import Bottle, HTTPResponse

from sigservice.context import Context
from sigservice.services import project_environments
from sigservice.services.identity import EDIT, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.doors import AdminDoor

PATH = "/api/admin/projects/<id>/environments"


class LinkBody(msgspec.Struct):
    environment: str


class DefaultStrategyBody(msgspec.Struct):
    """What a flag is given when it is switched on without a strategy of its own."""

    name: str
    title: str | None = None
    disabled: bool = False
    constraints: list[dict[str, Any]] = []
    parameters: dict[str, str | int | float] = {}
    variants: list[dict[str, Any]] = []
    segments: list[int] = []

    def stored(self) -> dict[str, Any]:
        """Parameters are text, as SDKs expect them."""
        parameters = {name: str(value) for name, value in self.parameters.items()}
        return msgspec.structs.asdict(self) | {"parameters": parameters}


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))

    @area.post(PATH, needs=EDIT, takes=LinkBody)
    def link(identity: Identity, id: str, body: LinkBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            project_environments.link(conn, id, body.environment, identity)
        return respond.empty()

    @area.delete(f"{PATH}/<environment>", needs=EDIT)
    def unlink(identity: Identity, id: str, environment: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            project_environments.unlink(conn, id, environment, identity)
        return respond.empty()

    @area.post(f"{PATH}/<environment>/default-strategy", needs=EDIT, takes=DefaultStrategyBody)
    def set_default_strategy(
        identity: Identity, id: str, environment: str, body: DefaultStrategyBody
    ) -> HTTPResponse:
        strategy = body.stored()
        with context.database.transaction() as conn:
            project_environments.set_default_strategy(conn, id, environment, strategy, identity)
        return respond.json(strategy)

    return area
