"""Tokens of a signal endpoint, pages: create, edit, rotate, end the grace period, delete."""

from sigservice.repository.signals import signal_endpoint_tokens as token_rows
from sigservice.repository.signals import signals
from sigservice.routes.admin.signals.signal_endpoint_tokens import (
    NewTokenBody,
    RotationBody,
    create_token_of,
    rotate_token_of,
)
from sigservice.routes.pages.signals import signal_token_form
from sigservice.routes.pages.signals.endpoint_setup import make_secret_page
from sigservice.routes.pages.signals.endpoint_tabs import (
    ONE,
    find_endpoint,
    make_breadcrumbs,
    make_tab_page,
)
from sigservice.routes.pages.signals.signal_token_form import BEARER, KINDS
from sigservice.routes.pages.signals.signal_token_list import make_token_table
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signal_endpoint_tokens, signal_endpoints
from sigservice.services.signals.signal_endpoint_tokens import (
    DEFAULT_GRACE_HOURS,
    MAX_GRACE_HOURS,
    TokenFields,
)
from sigservice.web import (
    Connection,
    Context,
    Page,
    PageGuard,
    Router,
    Row,
    ShownOnce,
    request,
)
from sigservice.web.form_pages import Confirmation, confirms, make_form_page, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, read
from sigservice.web.resource_limits import explain_reached_limit, make_limit_page

PATH = f"{ONE}/tokens"
TOKEN_PATH = f"{PATH}/<token_id:id>"
GRACE_FIELD = Field(
    "graceHours",
    "Grace period in hours",
    type="number",
    hint="The current secret is valid for this time too. 0 refuses it at once.",
    attributes={"min": 0, "max": MAX_GRACE_HOURS},
)
ROTATION = (
    "The next page shows the new secret. Give it to the sender within the grace period. A secret "
    "that was replaced before ends now."
)
NOTICES = {
    "saved": "Token saved.",
    "grace-ended": "The grace period has ended. Senders with the previous secret get 401.",
    "deleted": "Token deleted. Senders that use it get 401.",
}
NAME_FIELD = Field("name", "Token name", hint="e.g. alertmanager-eu", is_required=True)

router = Router(PageGuard, notices=NOTICES)


@router.get(PATH, needs=ADMIN)
def show_tokens(context: Context, identity: Identity, id: int, entry: Entry = NO_ENTRY) -> Page:
    with context.database.transaction() as conn:
        endpoint = find_endpoint(conn, id)
        tokens = token_rows.list_for_endpoint(conn, id)
        last_received = signals.find_last_received(conn)
    return make_tab_page(
        "signals/signal_endpoint_tokens/list",
        endpoint,
        "tokens",
        table=make_token_table(tokens, last_received, context.clock.now()),
        limit=context.config["signals"]["tokensPerEndpointLimit"],
        limit_text=_explain_limit(context, len(tokens)),
        fields=fill([NAME_FIELD], entry.form),
    )


@router.post(PATH, needs=ADMIN)
@shows_errors_in(show_tokens)
def create_token(context: Context, identity: Identity, id: int, form: Form) -> ShownOnce:
    with context.database.transaction() as conn:
        fields = TokenFields(form.get("name", ""))
        token, secret = create_token_of(context, conn, id, fields, identity)
    return make_secret_page(context, id, token, secret)


@router.get(f"{PATH}/new", needs=ADMIN)
def show_new_token(context: Context, identity: Identity, id: int, entry: Entry = NO_ENTRY) -> Page:
    """First the kind of the token, then its fields."""
    with context.database.transaction() as conn:
        endpoint = signal_endpoints.get(conn, id)
        count = len(token_rows.list_for_endpoint(conn, id))
    title = f"New token of {endpoint['name']}"
    if text := _explain_limit(context, count) if not entry.form else "":
        back = make_breadcrumbs(endpoint, "tokens")[-1]
        return make_limit_page(title, text, back)
    query = request.query
    kind = entry.form.get("signature.scheme", BEARER) if entry.form else query.get("kind", "")
    texts = entry.form or {"name": query.getunicode("name", ""), "signature.content": "{body}"}
    fields = signal_token_form.make_fields(kind, has_secret=True) if kind in KINDS else []
    return Page(
        "signals/signal_endpoint_tokens/new",
        breadcrumbs=make_breadcrumbs(endpoint, "tokens"),
        endpoint=endpoint,
        kind=Field("kind", "Type", kind or BEARER, "select", choices=tuple(KINDS.items())),
        kind_label=KINDS.get(kind, ""),
        is_signature=kind != BEARER,
        fields=fill(fields, texts),
        title=title,
    )


@router.post(f"{PATH}/new", needs=ADMIN)
@shows_errors_in(show_new_token)
def create_token_of_kind(context: Context, identity: Identity, id: int, form: Form) -> ShownOnce:
    body = read(form, NewTokenBody)
    with context.database.transaction() as conn:
        fields = body.make_fields()
        token, secret = create_token_of(context, conn, id, fields, identity, body.secret)
    return make_secret_page(context, id, token, "" if body.secret else secret)


@router.get(TOKEN_PATH, needs=ADMIN)
def show_token(
    context: Context, identity: Identity, id: int, token_id: int, entry: Entry = NO_ENTRY
) -> Page:
    endpoint, token = _find(context, id, token_id)
    kind = signal_token_form.find_kind(token)
    fields = signal_token_form.make_fields(kind, has_secret=False)
    return make_form_page(
        fill(fields, entry.form or signal_token_form.make_form(token)),
        title=f"Token {token['name']} of {endpoint['name']}",
        heading=f"Token {token['name']}",
        breadcrumbs=make_breadcrumbs(endpoint, "tokens"),
        intro=KINDS[kind],
        button="Save",
    )


@router.post(TOKEN_PATH, needs=ADMIN)
@shows_errors_in(show_token)
def update_token(context: Context, identity: Identity, id: int, token_id: int, form: Form) -> str:
    with context.database.transaction() as conn:
        before = signal_endpoint_tokens.lock(conn, id, token_id)
        fields = signal_token_form.read_changes(form, before)
        signal_endpoint_tokens.update(conn, id, token_id, fields, identity, now=context.clock.now())
    return f"/admin/signals/{id}/tokens?done=saved"


@router.get(f"{TOKEN_PATH}/rotate", needs=ADMIN)
def show_rotation(
    context: Context, identity: Identity, id: int, token_id: int, entry: Entry = NO_ENTRY
) -> Page:
    endpoint, token = _find(context, id, token_id)
    kind, fields = signal_token_form.find_kind(token), [GRACE_FIELD]
    if kind not in (BEARER, "aws-sns"):
        fields.insert(0, signal_token_form.make_secret_field(kind))
    return make_form_page(
        fill(fields, entry.form or {"graceHours": str(DEFAULT_GRACE_HOURS)}),
        title=f"Replace the secret of {token['name']} of {endpoint['name']}",
        heading=f"Replace the secret of {token['name']}",
        breadcrumbs=make_breadcrumbs(endpoint, "tokens"),
        intro=ROTATION,
        button="Replace secret",
    )


@router.post(f"{TOKEN_PATH}/rotate", needs=ADMIN)
@shows_errors_in(show_rotation)
def rotate_token(
    context: Context, identity: Identity, id: int, token_id: int, form: Form
) -> ShownOnce:
    hours = form.get("graceHours", "").strip() or "none"  # no default: a secret ends with it
    body = read(form | {"graceHours": hours}, RotationBody)
    with context.database.transaction() as conn:
        token, secret = rotate_token_of(context, conn, id, token_id, body, identity)
    return make_secret_page(
        context,
        id,
        token,
        "" if body.secret else secret,
        title=f"Secret of {token['name']} replaced",
        grace_ends_at=token["previous_expires_at"] if body.graceHours else None,
    )


@router.post(f"{TOKEN_PATH}/previous-secret/delete", needs=ADMIN)
def end_grace_period(
    conn: Connection, identity: Identity, id: int, token_id: int, form: Form
) -> str:
    signal_endpoint_tokens.delete_previous_secret(conn, id, token_id, identity)
    return f"/admin/signals/{id}/tokens?done=grace-ended"


@confirms(router, f"{TOKEN_PATH}/delete", needs=ADMIN)
def delete_token(conn: Connection, identity: Identity, id: int, token_id: int) -> Confirmation:
    endpoint = signal_endpoints.get(conn, id)
    token = signal_endpoint_tokens.get(conn, id, token_id)
    return Confirmation(
        f"Delete token {token['name']} of {endpoint['name']}?",
        [
            f"Senders that use this token ({token['secret_prefix']}…) for {endpoint['name']} will "
            "get 401. Existing signals are kept. This can't be undone."
        ],
        "Delete token",
        f"/admin/signals/{id}/tokens",
        lambda: signal_endpoint_tokens.delete(conn, id, token_id, identity),
        f"/admin/signals/{id}/tokens?done=deleted",
        breadcrumbs=make_breadcrumbs(endpoint, "tokens"),
    )


def _explain_limit(context: Context, count: int) -> str:
    limit = context.config["signals"]["tokensPerEndpointLimit"]
    return explain_reached_limit("token", count, limit, "signals.tokensPerEndpointLimit")


def _find(context: Context, id: int, token_id: int) -> tuple[Row, Row]:
    """The endpoint and the token. Raises NotFoundError."""
    with context.database.transaction() as conn:
        return signal_endpoints.get(conn, id), signal_endpoint_tokens.get(conn, id, token_id)
