"""Back-channel logout (OpenID Connect Back-Channel Logout 1.0): the provider ends sessions."""

from contextlib import suppress
from dataclasses import replace

from sigservice.concurrency.workers import release_turn
from sigservice.config.oidc import is_enabled
from sigservice.errors import BadDataError, RateLimitError, UnavailableError
from sigservice.services.access.oidc import users
from sigservice.services.access.oidc.failures import OidcError
from sigservice.services.identity import SYSTEM
from sigservice.web import Context, HTTPResponse, Public, Router, request, respond
from sigservice.web.body import FORM_LIMIT, read_form
from sigservice.web.client_ip import find_client_ip, make_limit_key
from sigservice.web.guards import check_failed_auth, count_failed_auth
from sigservice.web.oidc_sign_in import get_provider

router = Router(Public, is_enabled=is_enabled)


@router.post("/auth/oidc/backchannel-logout", body_limit=FORM_LIMIT)
def end_sessions(context: Context) -> HTTPResponse:
    """Form: `logout_token`, from the provider. 200, also if no session ends; 400 with `error:
    "invalid_request"`; 503 if the provider can't be reached.

    The form has a `logout_token`. Invalid ones count as failed authentication.
    """
    ip = find_client_ip(request.environ, context.trusted_proxies)
    check_failed_auth(context, make_limit_key(ip))
    try:
        form = read_form(request.environ)
        release_turn()
        claims = get_provider(context).verify_logout_token(form.get("logout_token"))
    except OidcError as error:
        context.refusals.warn("back-channel logout from %s: %s", ip, error.reason)
        if error.status == 503:
            raise UnavailableError("The provider can't be reached.") from None
        with suppress(RateLimitError):  # the answer is the error that was raised
            count_failed_auth(context, make_limit_key(ip))
        raise _make_error("The logout token is invalid.") from None
    except BadDataError as error:
        raise _make_error(error.message) from None
    with context.database.transaction() as conn:
        users.end_provider_sessions(conn, claims, replace(SYSTEM, ip=ip))
    return respond.empty()


def _make_error(message: str) -> BadDataError:
    return BadDataError(message, path="logout_token", extra={"error": "invalid_request"})
