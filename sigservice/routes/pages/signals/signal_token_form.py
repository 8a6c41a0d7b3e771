"""The form of a signal token: the fields of each kind, and what they mean."""

from sigservice.db import Row
from sigservice.routes.admin.signals.signal_endpoint_tokens import SignalTokenBody
from sigservice.services.signals.signal_endpoint_tokens import (
    MAX_ADDRESSES,
    TokenFields,
    parse_signature,
    to_event,
)
from sigservice.services.signals.signature_schemes import (
    SNS_TOLERANCE_SECONDS,
    TOLERANCE_SECONDS,
    SignatureSettings,
    find_scheme,
)
from sigservice.web.forms import Field, Form, make_choices, read, to_form

BEARER = "bearer"
KINDS = {
    BEARER: "Bearer token",
    "github": "GitHub signature",
    "grafana": "Grafana signature",
    "standard-webhooks": "Standard Webhooks",
    "slack": "Slack signature",
    "sentry": "Sentry signature",
    "pagerduty": "PagerDuty signature",
    "stripe": "Stripe signature",
    "gitlab": "GitLab signing token",
    "aws-sns": "Amazon SNS",
    "generic": "Another signature (HMAC)",
}
# Where the sender has the secret, or what else connects it.
INSTRUCTIONS = {
    "github": "Settings → Webhooks → Add webhook: enter the URL, the content type "
    "application/json, and this secret as Secret. GitHub signs in the header X-Hub-Signature-256.",
    "grafana": "Alerting → Contact points → Webhook: enter the URL, and this secret under HMAC "
    "Signature, with the headers of this token.",
    "standard-webhooks": "Enter the URL and this signing secret where the sender has its webhooks. "
    "It signs in the headers webhook-id, webhook-timestamp and webhook-signature, or svix-…",
    "slack": "The secret is the Signing Secret of the app, under Basic Information. Enter the URL "
    "as its request URL.",
    "sentry": "The secret is the Client Secret of the integration. Enter the URL as its Webhook "
    "URL.",
    "pagerduty": "The secret is the one that PagerDuty shows once, when the webhook subscription "
    "with the URL is added.",
    "stripe": "Workbench → Webhooks → Add destination: enter the URL. The secret is the signing "
    "secret of the destination.",
    "gitlab": "Settings → Webhooks → Add new webhook: enter the URL, and this secret as the "
    "signing token.",
    "aws-sns": "Create a subscription of the topic with the protocol HTTPS and the URL as its "
    "endpoint. The service confirms it.",
    "generic": "Configure the sender to sign the body with this secret, in the header of this "
    "token.",
}
_DATE_TIME = "%Y-%m-%dT%H:%M"
_ALGORITHMS, _ENCODINGS = (
    make_choices(("sha256", "sha1", "sha512")),
    make_choices(("hex", "base64")),
)
_AT = "signature."
_FIELDS = {
    "topics": Field(
        f"{_AT}topics",
        "Topics",
        type="textarea",
        hint="Only messages of these topics are accepted. One ARN per line.",
        is_required=True,
    ),
    "grafana header": Field(
        f"{_AT}header",
        "Header of the signature",
        hint="Optional. The default is X-Grafana-Alerting-Signature.",
    ),
    "stripe header": Field(
        f"{_AT}header", "Header of the signature", hint="Optional. The default is Stripe-Signature."
    ),
    "header": Field(
        f"{_AT}header", "Header of the signature", hint="Such as X-Signature.", is_required=True
    ),
    "algorithm": Field(f"{_AT}algorithm", "Algorithm", type="select", choices=_ALGORITHMS),
    "encoding": Field(f"{_AT}encoding", "Encoding", type="select", choices=_ENCODINGS),
    "prefix": Field(
        f"{_AT}prefix",
        "Prefix",
        hint="Optional. The text before the signature in its header, such as sha256=",
    ),
    "content": Field(
        f"{_AT}content",
        "Signed content",
        "{body}",
        hint="{body} is the body as it was sent, {timestamp} the header of the timestamp.",
        is_required=True,
    ),
    "timestampHeader": Field(
        f"{_AT}timestampHeader",
        "Header of the timestamp",
        hint="Optional. With it, old signatures can't be used again.",
    ),
}
_FIELDS_OF = {
    "aws-sns": ("topics",),
    "grafana": ("grafana header", "timestampHeader"),
    "stripe": ("stripe header",),
    "generic": ("header", "algorithm", "encoding", "prefix", "content", "timestampHeader"),
}
_RESTRICTIONS = [
    Field(
        "expiresAt",
        "Expires at (UTC)",
        type="datetime-local",
        hint="Optional. From then on the token is refused.",
    ),
    Field(
        "allowedAddresses",
        "Allowed addresses",
        type="textarea",
        hint="Optional. IP addresses and networks such as 10.0.0.0/8, one per line, "
        f"at most {MAX_ADDRESSES}.",
    ),
]


def find_kind(token: Row) -> str:
    signature = parse_signature(token)
    return BEARER if signature is None else signature.scheme


def make_form(token: Row) -> Form:
    """The input that leaves the token as it is."""
    return to_form(to_event(token)) | {"expiresAt": _format_expiry(token)}


def read_changes(form: Form, before: Row) -> TokenFields:
    """The new fields of the token. The form has no seconds: an unchanged time of expiry stays.
    Raises BadDataError."""
    texts = {name: text for name, text in form.items() if name != f"{_AT}scheme"}
    if texts.get("expiresAt") == _format_expiry(before):
        del texts["expiresAt"]
    if before["signature"] is not None:
        texts[f"{_AT}scheme"] = find_kind(before)
    return read(texts, SignalTokenBody).make_fields(before)


def make_fields(kind: str, *, has_secret: bool) -> list[Field]:
    """The fields of a kind of token, in their order."""
    fields = [Field("name", "Token name", hint="e.g. alertmanager-eu", is_required=True)]
    if has_secret and kind not in (BEARER, "aws-sns"):
        fields.append(make_secret_field(kind))
    fields += [_FIELDS[name] for name in _FIELDS_OF.get(kind, ())]
    if kind not in (BEARER, "github", "sentry", "pagerduty"):
        seconds = SNS_TOLERANCE_SECONDS if kind == "aws-sns" else TOLERANCE_SECONDS
        fields.append(
            Field(
                f"{_AT}toleranceSeconds",
                "Maximum age of a timestamp in seconds",
                hint=f"Optional. The default is {seconds} seconds.",
                attributes={"inputmode": "numeric"},
            )
        )
    return fields + _RESTRICTIONS


def make_secret_field(kind: str) -> Field:
    is_required = find_scheme(SignatureSettings(kind)).is_secret_of_sender  # type: ignore[arg-type]
    hint = (
        "The sender generates it. Copy it from there."
        if is_required
        else "Optional, if the sender has one already. Otherwise the service generates it."
    )
    attributes = {"autocomplete": "new-password"}
    return Field("secret", "Secret", "", "password", hint, is_required, attributes=attributes)


def _format_expiry(token: Row) -> str:
    return token["expires_at"].strftime(_DATE_TIME) if token["expires_at"] else ""
