"""Environments of a project, JSON: link, unlink, the default strategy."""

from __future__ import annotations

import msgspec
from bottle import Bottle, HTTPResponse

from sigservice.context import Context
from sigservice.services import project_environments
from sigservice.services.identity import EDIT, Identity
from sigservice.services.strategies import Strategy
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.doors import AdminDoor

PATH = "/api/admin/projects/<project>/environments"


class LinkBody(msgspec.Struct):
    environment: str


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))
    most_segments = context.config["strategySegmentsLimit"]

    @area.post(PATH, needs=EDIT, takes=LinkBody)
    def link(identity: Identity, project: str, body: LinkBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            project_environments.link(conn, project, body.environment, identity)
        return respond.empty()

    @area.delete(f"{PATH}/<environment>", needs=EDIT)
    def unlink(identity: Identity, project: str, environment: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            project_environments.unlink(conn, project, environment, identity)
        return respond.empty()

    @area.post(f"{PATH}/<environment>/default-strategy", needs=EDIT, takes=Strategy)
    def set_default_strategy(
        identity: Identity, project: str, environment: str, body: Strategy
    ) -> HTTPResponse:
        with context.database.transaction() as conn:
            stored = project_environments.set_default_strategy(
                conn, project, environment, body, identity, most_segments=most_segments
            )
        return respond.json(stored)

    return area
