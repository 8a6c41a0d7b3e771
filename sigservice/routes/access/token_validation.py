"""POST /edge/validate: a relay asks which of its clients' tokens are valid."""

from typing import Annotated

import msgspec

from sigservice.crypto import secrets
from sigservice.repository.access import api_tokens
from sigservice.web import Context, HTTPResponse, Public, Router, request, respond
from sigservice.web.client_ip import find_client_ip, make_limit_key
from sigservice.web.guards import check_failed_auth, count_failed_auth


class TokensBody(msgspec.Struct):
    tokens: Annotated[list[str], msgspec.Meta(max_length=100)]


router = Router(Public)


# A wrong token counts as failed authentication, because the answer confirms a guess. The answer has
# no admin tokens, because relays don't need them.
@router.post("/edge/validate", takes=TokensBody, limit="edge_validate")
def validate_tokens(context: Context, body: TokensBody) -> HTTPResponse:
    address = make_limit_key(find_client_ip(request.environ, context.trusted_proxies))
    tokens = {secrets.sha256(token): token for token in body.tokens}
    if any(key not in context.recent_credentials for key in tokens):
        check_failed_auth(context, address)
    with context.database.autocommit() as conn:
        valid = {
            bytes(row["secret_hash"]): row for row in api_tokens.list_valid(conn, list(tokens))
        }
    for key in tokens:
        if key in valid:
            context.recent_credentials.add(key)
        else:
            count_failed_auth(context, address)
    members = ("type", "projects", "environment")
    answer = [
        {"token": tokens[key]} | {name: row[name] for name in members} for key, row in valid.items()
    ]
    return respond.json({"tokens": answer})
