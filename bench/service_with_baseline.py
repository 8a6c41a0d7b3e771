"""The service with three more routes for comparison: same framework and body reader, no row."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bottle import HTTPResponse, request

import sigservice
from sigservice.services.signals import signals
from sigservice.web import respond
from sigservice.web.body import read_json
from sigservice.web.guards import read_bearer_token

running = {}


def add_routes(app):
    @app.get("/bench/two")
    def answer_two_bytes():
        return HTTPResponse(b"ok", 200, {"Content-Type": "text/plain"})

    @app.post("/bench/parses")
    def parse_body():
        value, _ = read_json(request.environ)
        return respond.json({"signals": [{"id": 1, "payload": value}]})

    @app.post("/bench/authenticates")
    def authenticate():
        value, _ = read_json(request.environ)
        with running["service"].context.database.autocommit() as conn:
            signals.check_token(conn, "bench", read_bearer_token(request.environ))
        return respond.json({"signals": [{"id": 1, "payload": value}]})


running["service"] = sigservice.start({"preRouterHook": add_routes})
print("\n".join(running["service"].describe()), flush=True)
running["service"].wait()
