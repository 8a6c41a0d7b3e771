"""POST /edge/validate: a relay asks which of its clients' tokens are valid."""

from contextlib import suppress

import msgspec

from sigservice.crypto import secrets
from sigservice.errors import RateLimitError
from sigservice.repository.access import api_tokens
from sigservice.web import Context, HTTPResponse, Public, Router, request, respond
from sigservice.web.client_ip import find_client_ip, make_limit_key
from sigservice.web.guards import check_failed_auth, count_failed_auth


class TokensBody(msgspec.Struct):
    tokens: list[str]


router = Router(Public)


# A wrong token counts as failed authentication, because the answer confirms a guess. But Edge keeps
# a revoked token if its request is refused, so the limit doesn't apply to a caller that also sends
# a recently valid client token, which isn't public. The answer has no admin tokens, because relays
# don't need them.
@router.post("/edge/validate", takes=TokensBody, limit="edge_validate")
def validate_tokens(context: Context, body: TokensBody) -> HTTPResponse:
    """Body: `{tokens: [text]}`. `{"tokens": [{token, type, projects, environment}]}`, the valid
    client and frontend tokens; 60 calls a minute. Each other token counts as a failed
    authentication (`FAILED_AUTH_LIMIT_PER_MINUTE`, then 429, except for a caller that also sends a
    client token that was valid recently)."""
    address = make_limit_key(find_client_ip(request.environ, context.trusted_proxies))
    tokens = {secrets.sha256(token): token for token in body.tokens}
    with context.database.autocommit() as conn:
        rows = api_tokens.list_valid(conn, list(tokens))
    valid = {bytes(row["secret_hash"]): row for row in rows}
    recent = [key for key in valid if key in context.recent_credentials]
    is_relay = any(valid[key]["type"] == "client" for key in recent)
    if len(recent) < len(tokens) and not is_relay:
        check_failed_auth(context, address)
    for key in valid:
        context.recent_credentials.add(key)
    with suppress(RateLimitError):
        for _ in range(len(tokens) - len(valid)):
            count_failed_auth(context, address)
    members = ("type", "projects", "environment")
    answer = [
        {"token": tokens[key]} | {name: row[name] for name in members} for key, row in valid.items()
    ]
    return respond.json({"tokens": answer})
