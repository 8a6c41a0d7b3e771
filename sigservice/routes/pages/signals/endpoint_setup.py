"""Setup of an endpoint, page: how its sender is configured, samples of what the sender sends, and
the secret of a new token."""

import shlex
from datetime import datetime
from typing import Any

import msgspec

from sigservice import senders
from sigservice.errors import NotFoundError
from sigservice.repository.actions import action_sets
from sigservice.repository.signals import signal_endpoint_tokens
from sigservice.routes.pages.signals.endpoint_tabs import ONE, PATH, find_endpoint, make_tab_page
from sigservice.routes.pages.signals.signal_token_form import INSTRUCTIONS, find_kind
from sigservice.senders import Sender
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signal_endpoints, signal_storage
from sigservice.web import Context, Page, PageGuard, Router, Row, ShownOnce, request
from sigservice.web.forms import Field, Form
from sigservice.web.guide import GUIDE_PATH
from sigservice.web.links import make_signal_url

NOTICES = {"created": "Signal endpoint created."}
SAMPLES = {"firing": "Firing", "resolved": "Resolved"}
PLACEHOLDER = "SIGNAL_TOKEN"

router = Router(PageGuard, notices=NOTICES)


@router.get(f"{ONE}/setup", needs=ADMIN)
def show_setup(context: Context, identity: Identity, id: int) -> Page:
    return _make_setup_page(context, id)


@router.post(f"{ONE}/samples/<sample>", needs=ADMIN)
def send_sample(context: Context, identity: Identity, id: int, sample: str, form: Form) -> str:
    limit = context.config["signals"]["payloadLimit"]
    with context.database.transaction() as conn:
        sender = find_sender(signal_endpoints.get(conn, id))
        if (payload := list_samples(sender).get(sample)) is None:
            raise NotFoundError("Sample not found.")
        row = signal_storage.send(conn, id, msgspec.json.encode(payload), identity, limit=limit)
    context.signals_waiting.set()
    return f"{PATH}/{id}/log/{row['id']}?done=sent"


def make_secret_page(
    context: Context,
    id: int,
    token: Row,
    secret: str,
    *,
    title: str = "",
    **more: Any,
) -> ShownOnce:
    """A new token with its secret. `secret` is "" if the sender generated it. `grace_ends_at` is
    the time until which the replaced secret is valid."""
    title = title or f"Token {token['name']} created"
    page = _make_setup_page(
        context,
        id,
        title=title,
        notice=f"{title}.",
        secret=secret,
        instructions=INSTRUCTIONS.get(find_kind(token), ""),
        **more,
    )
    return ShownOnce(page, f"{PATH}/{id}/tokens")


def find_sender(endpoint: Row) -> Sender:
    """The sender that the endpoint is for; Scripts and CI, which send any JSON, if it isn't listed
    or unknown."""
    name = endpoint["template"] if endpoint["template"] in senders.SENDERS else "generic"
    return senders.SENDERS[name]


def list_samples(sender: Sender) -> dict[str, dict[str, Any]]:
    """The payloads of the samples by name."""
    samples = {name: getattr(sender.samples, name) for name in SAMPLES}
    return {name: payload for name, payload in samples.items() if payload is not None}


def _make_setup_page(
    context: Context,
    id: int,
    *,
    secret: str = "",
    instructions: str = "",
    grace_ends_at: datetime | None = None,
    **values: Any,
) -> Page:
    with context.database.transaction() as conn:
        endpoint = find_endpoint(conn, id)
        tokens = signal_endpoint_tokens.list_for_endpoint(conn, id)
        triggered_sets = action_sets.list_of_endpoint(conn, id)
    sender = find_sender(endpoint)
    token = "" if instructions else secret  # a secret that signs is not sent
    call_url = make_signal_url(context, request.environ, endpoint["name"])
    return make_tab_page(
        "signals/endpoint_setup/show",
        endpoint,
        "setup",
        has_tokens=bool(tokens),
        triggered_sets=triggered_sets,
        sender=sender,
        guide_path=f"{GUIDE_PATH}/{sender.page.removeprefix('docs/').removesuffix('.md')}",
        scheme=sender.signature.scheme if sender.signature else "",
        call_url=Field("call-url", "Webhook URL", call_url),
        setup=sender.fill_setup(call_url, token),
        has_placeholder=not token and PLACEHOLDER in sender.setup,
        command=_make_command(call_url, token, sender.samples.firing),
        samples=[(name, SAMPLES[name]) for name in list_samples(sender)],
        secret=secret,
        instructions=instructions,
        grace_ends_at=grace_ends_at,
        **values,
    )


def _make_command(url: str, token: str, payload: Any) -> str:
    """A command that sends the payload as the sender does."""
    lines = (
        f"curl -X POST {shlex.quote(url)}",
        f"-H 'Authorization: Bearer {token or PLACEHOLDER}'",
        "-H 'Content-Type: application/json'",
        f"-d {shlex.quote(msgspec.json.encode(payload).decode())}",
    )
    return " \\\n  ".join(lines)
