"""The form of a signal token: the fields of each kind, and what they mean."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from sigservice.clock import parse_iso
from sigservice.db.statements import Row
from sigservice.errors import AppError, BadDataError
from sigservice.services.signals.signal_endpoint_tokens import (
    MAX_ADDRESSES,
    TokenFields,
    parse_signature,
)
from sigservice.services.signals.signature_schemes import (
    SNS_TOLERANCE_SECONDS,
    TOLERANCE_SECONDS,
    SignatureSettings,
    find_scheme,
)
from sigservice.web.forms import Field, make_choices, read_whole_number
from sigservice.web.growing_forms import split_lines

BEARER = "bearer"
KINDS = {
    BEARER: "Bearer token",
    "github": "GitHub signature",
    "grafana": "Grafana signature",
    "standard-webhooks": "Standard Webhooks",
    "slack": "Slack signature",
    "sentry": "Sentry signature",
    "pagerduty": "PagerDuty signature",
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
    "It signs in the headers webhook-id, webhook-timestamp and webhook-signature.",
    "slack": "The secret is the Signing Secret of the app, under Basic Information. Enter the URL "
    "as its request URL.",
    "sentry": "The secret is the Client Secret of the integration. Enter the URL as its Webhook "
    "URL.",
    "pagerduty": "The secret is the one that PagerDuty shows once, when the webhook subscription "
    "with the URL is added.",
    "gitlab": "Settings → Webhooks → Add new webhook: enter the URL, and this secret as the "
    "signing token.",
    "aws-sns": "Create a subscription of the topic with the protocol HTTPS and the URL as its "
    "endpoint. The service confirms it.",
    "generic": "Configure the sender to sign the body with this secret, in the header of this "
    "token.",
}
_DATE_TIME = "%Y-%m-%dT%H:%M"
_SETTINGS = ("header", "timestampHeader", "algorithm", "encoding", "prefix", "content")
NAMES = ("kind", "token_name", "expiresAt", "allowedAddresses", "topics", "toleranceSeconds")


def find_kind(token: Row) -> str:
    signature = parse_signature(token)
    return BEARER if signature is None else signature.scheme


def read_values(form: Mapping[str, str]) -> dict[str, str]:
    """What was submitted, without the secret, which no page may contain."""
    return {name: form.get(name, "").strip() for name in (*NAMES, *_SETTINGS)}


def make_values(token: Row) -> dict[str, str]:
    """The input that leaves the token as it is."""
    signature = parse_signature(token)
    values = {
        "kind": find_kind(token),
        "token_name": token["name"],
        "expiresAt": _format_expiry(token["expires_at"]),
        "allowedAddresses": "\n".join(token["allowed_addresses"]),
    }
    if signature is not None:
        tolerance = signature.toleranceSeconds
        values |= {name: getattr(signature, name) for name in _SETTINGS}
        values["topics"] = "\n".join(signature.topics)
        values["toleranceSeconds"] = "" if tolerance is None else str(tolerance)
    return values


def parse_values(values: Mapping[str, str], before: Row | None = None) -> TokenFields:
    """The fields of the token. The form has no seconds: an unchanged time of expiry is that of
    `before`. Raises BadDataError."""
    return TokenFields(
        values["token_name"],
        _parse_expiry(values["expiresAt"], before),
        split_lines(values["allowedAddresses"]),
        None if values["kind"] == BEARER else _parse_signature_values(values),
    )


def list_problems(error: AppError, values: Mapping[str, str]) -> list[dict[str, Any]]:
    """The problems of a form. The path of each is the name of its field; the message begins with
    the line of the field that it is about."""
    return [_make_problem(detail, values) for detail in error.details]


def make_fields(values: Mapping[str, str], *, has_secret: bool) -> list[Field]:
    """The fields of a kind of token, in their order."""
    kind = values["kind"]
    name = values.get("token_name", "")
    name_hint = "e.g. alertmanager-eu"
    fields = [Field("token_name", "Token name", name, hint=name_hint, is_required=True)]
    if has_secret and kind not in (BEARER, "aws-sns"):
        fields.append(make_secret_field(kind))
    return fields + _make_signature_fields(kind, values) + _make_restriction_fields(values)


def make_secret_field(kind: str) -> Field:
    """It is always empty: a page never contains a secret that was submitted."""
    is_required = find_scheme(SignatureSettings(kind)).is_secret_of_sender  # type: ignore[arg-type]
    hint = (
        "The sender generates it. Copy it from there."
        if is_required
        else "Optional, if the sender has one already. Otherwise the service generates it."
    )
    attributes = {"autocomplete": "new-password"}
    return Field("secret", "Secret", "", "password", hint, is_required, attributes=attributes)


def _make_signature_fields(kind: str, values: Mapping[str, str]) -> list[Field]:
    def field(name: str, label: str, hint: str = "", **more: Any) -> Field:
        return Field(name, label, values.get(name, ""), hint=hint, **more)

    fields = []
    if kind == "aws-sns":
        hint = "Only messages of these topics are accepted. One ARN per line."
        fields.append(field("topics", "Topics", hint, type="textarea", is_required=True))
    if kind == "grafana":
        hint = "Optional. The default is X-Grafana-Alerting-Signature."
        fields.append(field("header", "Header of the signature", hint))
    if kind == "generic":
        hint = "Such as X-Signature."
        fields.append(field("header", "Header of the signature", hint, is_required=True))
        choices = make_choices(("sha256", "sha1", "sha512"))
        fields.append(field("algorithm", "Algorithm", type="select", choices=choices))
        choices = make_choices(("hex", "base64"))
        fields.append(field("encoding", "Encoding", type="select", choices=choices))
        hint = "Optional. The text before the signature in its header, such as sha256="
        fields.append(field("prefix", "Prefix", hint))
        hint = "{body} is the body as it was sent, {timestamp} the header of the timestamp."
        fields.append(field("content", "Signed content", hint, is_required=True))
    if kind in ("grafana", "generic"):
        hint = "Optional. With it, old signatures can't be used again."
        fields.append(field("timestampHeader", "Header of the timestamp", hint))
    if kind not in (BEARER, "github", "sentry", "pagerduty"):
        seconds = SNS_TOLERANCE_SECONDS if kind == "aws-sns" else TOLERANCE_SECONDS
        hint = f"Optional. The default is {seconds} seconds."
        label = "Maximum age of a timestamp in seconds"
        fields.append(field("toleranceSeconds", label, hint, attributes={"inputmode": "numeric"}))
    return fields


def _make_restriction_fields(values: Mapping[str, str]) -> list[Field]:
    addresses = (
        "Optional. IP addresses and networks such as 10.0.0.0/8, one per line, "
        f"at most {MAX_ADDRESSES}."
    )
    return [
        Field(
            "expiresAt",
            "Expires at (UTC)",
            values.get("expiresAt", ""),
            "datetime-local",
            "Optional. From then on the token is refused.",
        ),
        Field(
            "allowedAddresses",
            "Allowed addresses",
            values.get("allowedAddresses", ""),
            "textarea",
            addresses,
        ),
    ]


def _parse_signature_values(values: Mapping[str, str]) -> SignatureSettings:
    """Empty fields have the default of the scheme. Raises BadDataError."""
    members: dict[str, Any] = {name: values[name] for name in _SETTINGS if values.get(name)}
    members["scheme"] = values["kind"]
    members["topics"] = split_lines(values["topics"])
    members["toleranceSeconds"] = read_whole_number(values["toleranceSeconds"], None)
    try:
        return msgspec.convert(members, SignatureSettings)
    except msgspec.ValidationError as error:
        raise BadDataError(f"The settings of the signature are invalid: {error}.") from None


def _parse_expiry(text: str, before: Row | None) -> datetime | None:
    if before is not None and text == _format_expiry(before["expires_at"]):
        expires_at: datetime | None = before["expires_at"]
        return expires_at
    if not text:
        return None
    moment = parse_iso(text)
    if moment is None:
        raise BadDataError("The time of expiry must be a date and a time.", path="expiresAt")
    return moment


def _format_expiry(moment: datetime | None) -> str:
    return moment.strftime(_DATE_TIME) if moment else ""


def _make_problem(detail: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    path, message = str(detail.get("path") or ""), detail["message"]
    name, _, index = path.removeprefix("signature.").partition("[")
    if not name:
        return {"message": message}
    if index:
        line = split_lines(values[name])[int(index.removesuffix("]"))]
        message = f"{line[:100]}: {message}"
    return {"message": message, "path": "token_name" if name == "name" else name}
