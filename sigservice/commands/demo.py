"""`sigservice demo`: a service with a shop whose checkout can be broken, to see an alert switch a
flag off and on again. All of it is deleted at the end."""

from __future__ import annotations

import argparse
import hmac
import secrets
import threading
import webbrowser
from collections.abc import Callable, Mapping
from typing import Any

import urllib3
from bottle import Bottle, HTTPResponse, request
from waitress.server import create_server

from sigservice.application.service import Service
from sigservice.application.start import start
from sigservice.commands.parsers import add_parser
from sigservice.db.data_directory import TEMPORARY
from sigservice.errors import StartError
from sigservice.repository.access import users
from sigservice.web import session

HOST, ADMIN, FLAG = "127.0.0.1", "demo", "new-checkout"
_PROJECT = "/api/admin/projects/default"
_PLACE = f"{_PROJECT}/features/{FLAG}/environments/production"
# Only what finds programs: the demo uses no configured database and calls nobody.
_VARIABLES = ("PATH", "HOME", "SERVICE_POSTGRES_BIN")

Call = Callable[[str, dict[str, Any]], Any]  # (path, body) -> the decoded answer of a POST


def add_arguments(commands: Any) -> None:
    """Adds the command to the parser."""
    parser = add_parser(
        commands,
        "demo",
        "start a service with a shop, in which an alert switches a flag off and on again",
        "Prints and opens a page of the shop and a link that signs you in. Listens on 127.0.0.1 "
        "only, sends nothing to other machines, and keeps nothing: Ctrl-C deletes everything.",
        "sigservice demo",
    )
    parser.add_argument("--no-browser", action="store_true", help="print the links only")


def run_command(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Returns 0 when the service has stopped."""
    admin_token, key = f"*:*.{secrets.token_urlsafe(32)}", secrets.token_urlsafe(32)
    variables = {name: environ[name] for name in _VARIABLES if name in environ}
    service = start(_make_options(), variables | {"INIT_ADMIN_API_TOKENS": admin_token})
    try:
        link = _run_shop(service, admin_token, key)
        print(
            f"A shop to break  {link}\n"
            f"The service      {link}sign-in/{key} signs you in\n"
            "Ctrl-C stops and deletes everything.",
            flush=True,
        )
        if not options.no_browser:
            webbrowser.open(link)
        service.wait()
    finally:
        service.stop()
    return 0


def _make_options() -> dict[str, Any]:
    return {
        "dataDir": TEMPORARY,
        "logLevel": "error",
        "server": {"host": HOST, "port": 0},
        "versionCheck": {"enable": False},
        "authentication": {
            "initialAdminUser": {"username": ADMIN, "password": secrets.token_urlsafe(24)}
        },
    }


def _run_shop(service: Service, admin_token: str, key: str) -> str:
    """Creates what the demo shows and serves the shop in a thread; returns its URL. `key` is the
    secret of the link that signs in. Raises StartError."""

    def call(path: str, body: dict[str, Any]) -> Any:
        headers = {"Authorization": admin_token}
        answer = urllib3.request("POST", service.url + path, json=body, headers=headers)
        if answer.status >= 400:
            raise StartError(f"The demo can't be set up: {answer.json()['message']}")
        return answer.json() if answer.data else None

    app = _make_shop(service, create_rows(call), key)
    server = create_server(app, host=HOST, port=0, threads=2)
    threading.Thread(target=server.run, name="shop", daemon=True).start()
    return f"http://{HOST}:{server.effective_port}/"


def create_rows(call: Call) -> str:
    """Creates the flag, the alert rule and the action set through the admin API; returns the
    secret of a frontend token. Raises what `call` raises."""
    description = "The checkout on one page. Goes off while more than 10% of its orders fail."
    call(f"{_PROJECT}/features", {"name": FLAG, "description": description})
    call(f"{_PLACE}/strategies", {"name": "flexibleRollout", "parameters": {"rollout": "100"}})
    call(f"{_PLACE}/on", {})
    endpoint = call("/api/admin/signal-endpoints", {"name": "shop", "description": "Alerts"})
    call("/api/admin/alert-rules", {
        "name": "orders-fail", "endpointId": endpoint["id"], "above": 0.1,
        "windowMinutes": 1, "minSamples": 5, "everySeconds": 15,
        "source": {
            "kind": "impactMetric", "metric": "failed_orders", "per": "orders",
            "measure": "ratio", "environment": "production",
        },
    })  # fmt: skip
    robot = {"username": "alert-robot", "name": "Alert robot", "rootRole": "Editor"}
    actor = call("/api/admin/service-account", robot)
    call(f"{_PROJECT}/actions", {
        "name": "Old checkout while orders fail", "actorId": actor["id"],
        "match": {
            "source": "signal-endpoint", "sourceId": endpoint["id"],
            "filters": [{"path": "status", "operator": "IN", "values": ["firing"]}],
        },
        "actions": [{
            "action": "TOGGLE_FEATURE_OFF", "sortOrder": 1,
            "executionParams": {"environment": "production", "featureName": FLAG},
        }],
        "options": {
            "restoreWhenResolved": {"path": "status", "values": ["resolved"], "key": "data.key"}
        },
    })  # fmt: skip
    token = {"tokenName": "shop", "type": "frontend", "environment": "production"}
    return str(call("/api/admin/api-tokens", token | {"projects": ["default"]})["secret"])


def _make_shop(service: Service, frontend_token: str, key: str) -> Bottle:
    """The WSGI application of the shop. Its browser part calls the frontend API as the official SDK
    for browsers does."""
    app, context = Bottle(), service.context

    @app.hook("before_request")
    def check_host() -> None:
        """The page has the key, which a site whose name leads to this machine mustn't read."""
        if request.environ.get("HTTP_HOST", "").rpartition(":")[0] != HOST:
            raise HTTPResponse("Open the printed link.", 421)

    @app.get("/")
    def show_shop() -> str:
        return context.render.render(
            "system/demo/shop",
            service_url=service.url,
            token=frontend_token,
            flag=FLAG,
            sign_in=f"/sign-in/{key}",
        )

    @app.get("/sign-in/<secret>")
    def sign_in(secret: str) -> HTTPResponse:
        """Cookies count for all ports of an address, so the service gets this one."""
        if not hmac.compare_digest(secret.encode(), key.encode()):
            return HTTPResponse("This link is not valid.", 404)
        with context.database.autocommit() as conn:
            user = users.find_by_login(conn, ADMIN)
        if user is None:
            return HTTPResponse("The user of the demo was deleted.", 404)
        path = f"/projects/default/features/{FLAG}" if "flag" in request.query else "/"
        answer = HTTPResponse(status=303, headers={"Location": service.url + path})
        session.set_cookie(
            context, answer, session.start_session(context, request.environ, user, "link")
        )
        return answer

    return app
