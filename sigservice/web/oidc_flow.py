"""The state of sign-ins with the provider, without storage: it travels through the browser.

A cookie has a random text. `state` contains the data for the callback, with an HMAC whose key is
that text; nonce and code verifier are HMACs of the same content. So any process can end a flow, and
only in the browser where it began.
"""

import base64
import binascii
import secrets as random
from typing import Any

import msgspec

from sigservice.context import Context
from sigservice.crypto import secrets
from sigservice.services.access.oidc.failures import OidcError
from sigservice.services.access.oidc.id_token import SKEW_SECONDS
from sigservice.services.access.oidc.provider import Flow
from sigservice.services.identity import Identity
from sigservice.web import session
from sigservice.web.guards import make_next_path

CALLBACK = "/auth/oidc/callback"
SIGN_IN, LINK, CONFIRM, TRY = "sign-in", "link", "confirm", "try"
MAX_STATE, MAX_NEXT = 4000, 1000


class State(msgspec.Struct, frozen=True):
    """`session` identifies the session of a user who connects or confirms."""

    random: str
    at: int
    next: str
    purpose: str
    session: str


def shorten_next_path(text: str) -> str:
    path = make_next_path(text)
    return path if len(path) <= MAX_NEXT else "/"


def derive_token(identity: Identity, purpose: str) -> str:
    """The token of a link that connects, confirms or tries, for this session alone."""
    return secrets.derive(identity.csrf, f"oidc {purpose}")


def begin(
    context: Context,
    environ: dict[str, Any],
    next_path: str,
    purpose: str,
    identity: Identity | None,
) -> tuple[Flow, str]:
    """A new flow and the text of the cookie. An existing cookie is kept, so that several tabs
    work."""
    cookie = session.find_flow_secret(context, environ) or secrets.generate_secret()
    now = int(context.clock.now().timestamp())
    session_name = name_session(identity) if identity else ""
    state = State(random.token_urlsafe(16), now, next_path, purpose, session_name)
    content = base64.urlsafe_b64encode(msgspec.json.encode(state)).rstrip(b"=").decode()
    return _derive_flow(context, cookie, content), cookie


def read_state(context: Context, environ: dict[str, Any], text: str) -> tuple[State, Flow]:
    """The state of a callback. Raises OidcError unless this browser began it recently."""
    cookie = session.find_flow_secret(context, environ)
    content, _, signature = text.partition(".")
    if not cookie or not 0 < len(text) <= MAX_STATE:
        raise OidcError("oidc-state", "no cookie" if text else "no state")
    flow = _derive_flow(context, cookie, content)
    if not secrets.is_equal(flow.state, f"{content}.{signature}"):
        raise OidcError("oidc-state", "another browser or a forged state")
    try:
        padding = "=" * (-len(content) % 4)
        state = msgspec.json.decode(base64.urlsafe_b64decode(content + padding), type=State)
    except (msgspec.DecodeError, binascii.Error, ValueError):
        raise OidcError("oidc-state", "not readable") from None
    age = context.clock.now().timestamp() - state.at  # another process may have begun it
    if not -SKEW_SECONDS <= age <= session.FLOW_SECONDS:
        raise OidcError("oidc-state", "expired")
    return state, flow


def name_session(identity: Identity) -> str:
    return secrets.derive(identity.csrf, "oidc session")


def _derive_flow(context: Context, cookie: str, content: str) -> Flow:
    return Flow(
        f"{content}.{secrets.derive(cookie, f'oidc-state {content}')}",
        secrets.derive(cookie, f"oidc-nonce {content}"),
        secrets.derive(cookie, f"oidc-verifier {content}"),
        context.public_url + CALLBACK,
    )
