"""`sigservice send`: reports a signal from a script. Needs no database and no configuration, and
imports little, because scripts call it often."""

import argparse
import ssl
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from sigservice import payload
from sigservice.clock import Clock
from sigservice.errors import BadDataError
from sigservice.log import escape_line
from sigservice.outgoing.addresses import DestinationError
from sigservice.outgoing.post import DeliveryError
from sigservice.outgoing.proxies import Proxies
from sigservice.outgoing.signal_delivery import Delivery, Limits, Signal

MAX_SECONDS, MAX_RETRIES = 86_400, 1000
_DEFAULTS = Limits()


class UsageError(Exception):
    """Invalid arguments, variables or input; the text is one line."""


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """The command without the other ones; see run_command."""
    parser = argparse.ArgumentParser(prog="sigservice send")
    add_arguments(parser)
    try:
        return run_command(parser.parse_args(arguments), environ)
    except KeyboardInterrupt:
        return 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command to its parser."""
    parser.description = "Send a signal. Needs neither a database nor a configuration."
    parser.epilog = (
        "The token is in SIGNAL_TOKEN or --token-file. Exit codes: 0 the signal is stored, "
        "1 it was rejected or all attempts failed, 2 invalid usage. "
        "Example: sigservice send deploys --field version=1.2.3"
    )
    parser.add_argument("endpoint", metavar="ENDPOINT", help="name of the endpoint, or its URL")
    content = parser.add_mutually_exclusive_group()
    content.add_argument(
        "--json", metavar="JSON", help="the payload; @FILE reads a file, - standard input"
    )
    content.add_argument(
        "--field",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a string of the payload, in place of --json; data.host=db-1 is in the object data; "
        "repeatable",
    )
    parser.add_argument("--url", help="base URL of the service; default: SIGNAL_URL")
    parser.add_argument("--token-file", metavar="FILE", help="file that contains only the token")
    parser.add_argument(
        "--idempotency-key",
        metavar="KEY",
        help="signals with the same key are stored once; default: a random one",
    )
    for name, type, default, text in (
        ("--timeout", float, _DEFAULTS.timeout_seconds, "seconds for one attempt"),
        ("--retries", int, _DEFAULTS.retries, "attempts after the first one"),
        ("--max-time", float, _DEFAULTS.max_seconds, "seconds for all attempts"),
    ):
        parser.add_argument(
            name, type=type, default=default, metavar="N", help=f"{text}; default: {default:g}"
        )
    parser.add_argument(
        "--ca-file", metavar="FILE", help="certificate authorities of the service, as PEM"
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="of the output; default: text"
    )
    parser.add_argument("--quiet", action="store_true", help="print only errors")


def run_command(
    options: argparse.Namespace,
    environ: Mapping[str, str],
    *,
    clock: Clock | None = None,
    sleep: Callable[[float], Any] = time.sleep,
) -> int:
    """The exit code: 0 stored, 1 rejected or given up, 2 usage. Prints the signal's ID."""
    try:
        limits = _check_limits(options)
        signal = Signal(
            _find_url(options.endpoint, options.url or environ.get("SIGNAL_URL", "")),
            read_token(options.token_file, environ),
            _build_payload(options.json, options.field),
            _find_key(options.idempotency_key),
        )
        delivery = Delivery(
            report=(lambda _: None) if options.quiet else print_error,
            limits=limits,
            proxies=Proxies.from_environment(environ),
            ca_file=_check_ca_file(options.ca_file),
            clock=clock,
            sleep=sleep,
        )
        result = delivery.send(signal)
    except (UsageError, DestinationError) as error:
        print_error(str(error))
        return 2
    except DeliveryError as error:
        print_error(str(error))
        return 1
    if options.format == "json" and not options.quiet:
        sys.stdout.buffer.write(result.response + b"\n")
    elif not options.quiet:
        print(result.id)
    return 0


def print_error(text: str) -> None:
    """One line on standard error."""
    print(escape_line(f"sigservice: {text}"), file=sys.stderr, flush=True)


def _check_limits(options: argparse.Namespace) -> Limits:
    for name, seconds in (("--timeout", options.timeout), ("--max-time", options.max_time)):
        if not 0 < seconds <= MAX_SECONDS:
            raise UsageError(f"{name} must be above 0 and at most {MAX_SECONDS} seconds.")
    if not 0 <= options.retries <= MAX_RETRIES:
        raise UsageError(f"--retries must be between 0 and {MAX_RETRIES}.")
    return Limits(options.timeout, options.max_time, options.retries)


def _find_url(endpoint: str, base_url: str) -> str:
    if endpoint.startswith(("http://", "https://")):
        return endpoint
    if not base_url:
        raise UsageError("The URL of the service is missing: set SIGNAL_URL or --url.")
    return f"{base_url.rstrip('/')}/api/signal-endpoint/{quote(endpoint, safe='')}"


def read_token(file: str | None, environ: Mapping[str, str], variable: str = "SIGNAL_TOKEN") -> str:
    """Raises UsageError."""
    text = _read_file(file).decode(errors="replace") if file else environ.get(variable, "")
    token = text.strip()
    if not token:
        raise UsageError(f"The token is missing: set {variable} or --token-file.")
    if not token.isascii() or not token.isprintable():
        raise UsageError("The token must be one line of ASCII characters.")
    return token


def _find_key(key: str | None) -> str:
    if key is None:
        return str(uuid.uuid4())
    if not key.strip() or not key.isascii() or not key.isprintable():
        raise UsageError("--idempotency-key must consist of printable ASCII characters.")
    return key


def _build_payload(text: str | None, fields: Sequence[str]) -> bytes:
    """The JSON to send, unchanged, checked with the rules of the service."""
    try:
        if text is None:
            data = msgspec.json.encode(_build_object(fields))
        elif text == "-":
            data = sys.stdin.buffer.read()
        else:
            data = _read_file(text[1:]) if text.startswith("@") else text.encode()
        payload.parse(data)
    except BadDataError as error:
        raise UsageError(f"--json: {error}") from None
    except UnicodeEncodeError:
        raise UsageError("The arguments are not UTF-8.") from None
    return data


def _build_object(fields: Sequence[str]) -> dict[str, Any]:
    """`data.host=db-1` becomes {"data": {"host": "db-1"}}."""
    result: dict[str, Any] = {}
    for field in fields:
        name, equals, value = field.partition("=")
        *parents, last = name.split(".")
        target: Any = result
        for parent in parents:
            target = target.setdefault(parent, {}) if isinstance(target, dict) else None
        if not equals or not all((*parents, last)) or not isinstance(target, dict):
            raise UsageError(f"--field {field}: expected NAME=VALUE, such as data.host=db-1.")
        if last in target:
            raise UsageError(f"--field {name} occurs twice.")
        target[last] = value
    return result


def _read_file(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{name} could not be read: {error.strerror}") from None


def _check_ca_file(name: str | None) -> str | None:
    try:
        if name:
            ssl.create_default_context(cafile=name)
    except OSError as error:
        raise UsageError(f"--ca-file {name} could not be read: {error.strerror or error}") from None
    return name
