"""Sign-in with the OpenID provider: to the provider, back, and what went wrong."""

from urllib.parse import quote

from sigservice.concurrency.workers import release_turn
from sigservice.config.oidc import is_enabled
from sigservice.crypto import secrets
from sigservice.errors import BadDataError
from sigservice.services.access.oidc.failures import OidcError
from sigservice.services.identity import Identity
from sigservice.web import (
    Context,
    HTTPResponse,
    Public,
    Router,
    oidc_flow,
    oidc_sign_in,
    read_query,
    request,
    request_identity,
    respond,
    session,
)
from sigservice.web.body import read_query_pairs
from sigservice.web.oidc_flow import CALLBACK, CONFIRM, LINK, SIGN_IN, TRY

_PARAMETERS = ("state", "code", "iss", "error", "error_description")

router = Router(Public, is_enabled=is_enabled)


@router.get("/auth/oidc", limit="oidc")
def begin_sign_in(context: Context) -> HTTPResponse:
    """Query: `next`. 303 to the provider; an error page with 403 or 503.

    `link`, `confirm` or `try` has the token of a signed-in user for this.
    """
    environ, query = request.environ, read_query(request.environ)
    next_path = oidc_flow.shorten_next_path(query.get("next", ""))
    purpose = next((name for name in (LINK, CONFIRM, TRY) if name in query), SIGN_IN)
    identity = request_identity.find_identity(context, environ)
    if identity and purpose == SIGN_IN:
        return respond.redirect(context, next_path)
    release_turn()
    try:
        if purpose != SIGN_IN:
            _check_token(identity, purpose, query[purpose])
        flow, cookie = oidc_flow.begin(context, environ, next_path, purpose, identity)
        prompt = "login" if purpose in (LINK, CONFIRM) else ""
        url = oidc_sign_in.get_provider(context).make_authorization_url(flow, prompt=prompt)
    except OidcError as error:
        return _render_failure(context, error, next_path if purpose == SIGN_IN else "/profile")
    answer = HTTPResponse(b"", 303, {"Location": url, "Content-Type": respond.HTML})
    session.set_flow_secret(context, answer, cookie)
    return answer


@router.get(CALLBACK, limit="oidc")
def end_sign_in(context: Context) -> HTTPResponse:
    """303 to `next` with a session, or an error page with 400, 403 or 503."""
    environ, next_path = request.environ, "/"
    try:
        query = _read_answer()
        state, flow = oidc_flow.read_state(context, environ, query["state"])
        next_path = state.next if state.purpose == SIGN_IN else "/profile"
        release_turn()
        claims, token = oidc_sign_in.get_provider(context).fetch_claims(query, flow)
        if state.purpose == SIGN_IN:
            session_id = oidc_sign_in.sign_in(context, environ, claims, token)
            answer = respond.redirect(context, next_path)
            session.set_cookie(context, answer, session_id)
        else:
            identity = _find_same_user(context, state)
            if state.purpose == TRY:
                trial = oidc_sign_in.try_sign_in(context, environ, claims)
                answer = respond.page(
                    context, "access/sign_in/trial", identity, title="Trial sign-in", trial=trial
                )
            elif state.purpose == LINK:
                oidc_sign_in.connect(context, environ, claims, identity)
                answer = respond.redirect(context, state.next)
            else:
                oidc_sign_in.confirm(context, claims, identity)
                answer = respond.redirect(context, state.next)
    except OidcError as error:
        is_second_tab = error.code == "oidc-state" and not session.find_flow_secret(
            context, environ
        )
        if is_second_tab and session.find_identity(context, environ):
            return respond.redirect(context, "/")
        return _render_failure(context, error, next_path)
    session.set_flow_secret(context, answer, "")
    return answer


@router.get("/auth/oidc/signed-out")
def end_sign_out(context: Context) -> HTTPResponse:
    """303 to `/sign-in`."""
    return respond.redirect(context, "/sign-in?done=signed-out")


def _check_token(identity: Identity | None, purpose: str, token: str) -> None:
    if not identity or not identity.session_hash:
        raise OidcError("oidc-link", "not signed in")
    if not secrets.is_equal(oidc_flow.derive_token(identity, purpose), token):
        raise OidcError("oidc-link", "a link of another session")


def _read_answer() -> dict[str, str]:
    """The parameters of the provider's answer, "" for one that is repeated. Raises OidcError."""
    try:
        pairs = read_query_pairs(request.environ)
    except BadDataError:
        raise OidcError("oidc-state", "the query can't be read") from None
    names = [name for name, _ in pairs]
    if names.count("state") != 1:
        raise OidcError("oidc-state", "no state, or several")
    values = dict(pairs)
    return {
        name: values[name] if names.count(name) == 1 else ""
        for name in _PARAMETERS
        if name in values
    }


def _find_same_user(context: Context, state: oidc_flow.State) -> Identity:
    """The user of the session in which the flow began. Raises OidcError."""
    identity = session.find_identity(context, request.environ)
    if not identity or not secrets.is_equal(state.session, oidc_flow.name_session(identity)):
        raise OidcError("oidc-link", "another session")
    return identity


def _render_failure(context: Context, error: OidcError, next_path: str) -> HTTPResponse:
    oidc_sign_in.record_failure(context, request.environ, error)
    provider = oidc_sign_in.get_provider(context)
    texts = error.describe(provider.name, context.public_url)
    answer = respond.page(
        context,
        "access/sign_in/failed",
        None,
        texts.status,
        title="Sign-in failed",
        texts=texts,
        code=error.code,
        next_query=quote(next_path, safe=""),
        has_password_form=context.authentication.has_password_form,
    )
    for name, text in error.headers.items():
        answer.set_header(name, text)
    return answer
