"""`sigservice release`: starts and steers releases from scripts, through the admin API."""

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

import msgspec
from urllib3.exceptions import HTTPError
from urllib3.util import Retry, Timeout

from sigservice.commands.send import UsageError, print_error, read_token
from sigservice.commands.transfer.remote_client import open_pool
from sigservice.errors import StartError
from sigservice.log import escape_line
from sigservice.outgoing.proxies import Proxies

COMMANDS = ("start", "status", "hold", "resume", "advance", "rollback")
POLL_SECONDS = 2.0
EXIT_CODES = {"finished": 0, "stopped": 1, "rolledBack": 3, "held": 4}
_RETRIED_STATUSES = (429, 502, 503, 504)


class RefusedError(Exception):
    """The service refused the request, or didn't answer; the text is one line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command to its parser."""
    parser.description = "Start and steer the release of a flag through the admin API."
    parser.epilog = (
        "The token is in SIGNAL_TOKEN or --token-file: an admin token, or a personal token of an "
        "Editor. Exit codes: 0 success, 1 refused or stopped, 2 invalid usage, and with --wait "
        "3 rolled back, 4 held. "
        "Example: sigservice release start checkout --template careful --wait"
    )
    parser.add_argument("action", choices=COMMANDS)
    parser.add_argument("flag", metavar="FLAG")
    parser.add_argument("--project", default="default", help="default: default")
    parser.add_argument("--environment", default="production", help="default: production")
    parser.add_argument("--template", default="careful", help="of start; default: careful")
    parser.add_argument(
        "--guard-endpoint",
        action="append",
        default=[],
        metavar="NAME",
        help="of start: roll back when an alert fires at this endpoint, a name (needs ADMIN) or an "
        "ID; repeatable",
    )
    parser.add_argument("--reason", help="shown in the audit log")
    parser.add_argument(
        "--adopt",
        choices=("yes", "no"),
        help="of resume after an edit: keep the new percentage, or restore the step's",
    )
    parser.add_argument(
        "--wait", action="store_true", help="print each event until the release is held or ends"
    )
    parser.add_argument("--url", help="base URL of the service; default: SIGNAL_URL")
    parser.add_argument("--token-file", metavar="FILE", help="file that contains only the token")


def run_command(
    options: argparse.Namespace,
    environ: Mapping[str, str],
    *,
    sleep: Callable[[float], Any] = time.sleep,
) -> int:
    """Returns the exit code."""
    try:
        url = options.url or environ.get("SIGNAL_URL", "")
        if not url:
            raise UsageError("The URL of the service is missing: set SIGNAL_URL or --url.")
        token = read_token(options.token_file, environ)
        client = _Client(url, token, Proxies.from_environment(environ))
        return _run(client, options, sleep)
    except (UsageError, StartError) as error:
        print_error(str(error))
        return 2
    except RefusedError as error:
        print_error(str(error))
        return 1


class _Client:
    def __init__(self, url: str, token: str, proxies: Proxies) -> None:
        self._base_url = url.rstrip("/")
        retries = Retry(
            total=5,
            redirect=False,
            allowed_methods=("GET",),
            status_forcelist=_RETRIED_STATUSES,
            backoff_factor=0.5,
            raise_on_status=False,
        )
        settings: dict[str, Any] = {
            "headers": {"Authorization": token, "Content-Type": "application/json"},
            "timeout": Timeout(connect=10, read=60),
            "retries": retries,
        }
        self._pool = open_pool(self._base_url, proxies, settings)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The decoded answer. Raises RefusedError."""
        data = None if body is None else msgspec.json.encode(body)
        try:
            response = self._pool.request(method, self._base_url + path, body=data)
            answer = msgspec.json.decode(response.data) if response.data else None
        except HTTPError as error:
            raise RefusedError(f"The service can't be reached: {type(error).__name__}.") from None
        except msgspec.DecodeError:
            raise RefusedError(f"The service answered {response.status} without JSON.") from None
        if response.status >= 400:
            message = answer.get("message") if isinstance(answer, dict) else None
            raise RefusedError(message or f"The service answered {response.status}.")
        return answer


def _run(client: _Client, options: argparse.Namespace, sleep: Callable[[float], Any]) -> int:
    parts = (options.project, "features", options.flag, "environments", options.environment)
    place = "/api/admin/projects/" + "/".join(quote(part, safe="") for part in parts)
    if options.action == "start":
        body = {
            "template": options.template,
            "guards": [_make_guard(client, name) for name in options.guard_endpoint],
        }
        release = client.call("POST", f"{place}/releases", body)
    else:
        releases = client.call("GET", f"{place}/releases")["releases"]
        if not releases:
            raise RefusedError(f"{options.flag} has no release in {options.environment}.")
        release = releases[0]
        if options.action != "status":
            adopt = {} if options.adopt is None else {"adopt": options.adopt == "yes"}
            body = {"reason": options.reason, **adopt}
            path = f"{place}/releases/{release['id']}/{options.action}"
            release = client.call("POST", path, body)
    for warning in release["warnings"]:
        print_error(f"warning: {warning['message']}")
    if options.wait:
        return _wait(client, f"{place}/releases/{release['id']}", sleep)
    print(escape_line(_describe(release)))
    return 0


def _make_guard(client: _Client, endpoint: str) -> dict[str, Any]:
    id = int(endpoint) if endpoint.isdecimal() else _find_endpoint(client, endpoint)
    return {"kind": "signal", "endpointId": id, "effect": "rollBack"}


def _find_endpoint(client: _Client, name: str) -> int:
    for endpoint in client.call("GET", "/api/admin/signal-endpoints")["signalEndpoints"]:
        if endpoint["name"] == name:
            return int(endpoint["id"])
    raise RefusedError(f"There is no signal endpoint {name}.")


def _wait(client: _Client, path: str, sleep: Callable[[float], Any]) -> int:
    """Prints the events until the release is held or ends."""
    last_id = 0
    while True:
        release = client.call("GET", path)  # before its events, so that the last one is printed
        for event in client.call("GET", f"{path}/events")["events"]:
            if event["id"] > last_id:
                print(escape_line(f"{event['createdAt']} {event['text']}"), flush=True)
                last_id = event["id"]
        if release["state"] in EXIT_CODES:
            return EXIT_CODES[release["state"]]
        sys.stdout.flush()
        sleep(POLL_SECONDS)


def _describe(release: dict[str, Any]) -> str:
    text = f"release {release['id']}: {release['state']}"
    if release["heldBy"]:
        text += f" by {release['heldBy']}"
    text += f", {release['rollout']}%, step {release['step'] + 1} of {len(release['steps'])}"
    due_at = release["dueAt"] or release["watchUntil"]
    return f"{text}, due {due_at}" if due_at else text
