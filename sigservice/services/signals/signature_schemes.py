"""How senders sign: the settings of a signature token, and what they mean for verification."""

from dataclasses import dataclass
from typing import Literal

import msgspec

SchemeName = Literal[
    "github",
    "gitlab",
    "grafana",
    "standard-webhooks",
    "slack",
    "sentry",
    "pagerduty",
    "stripe",
    "aws-sns",
    "generic",
]
TOLERANCE_SECONDS = 300
SNS_TOLERANCE_SECONDS = 3600


class SignatureSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """`header` also overrides the name of the schemes grafana and stripe, `timestampHeader` that of
    grafana; the members after them belong to the scheme generic. `content` is the signed text, such
    as `{timestamp}.{body}`. `toleranceSeconds` is the maximum age of a timestamp; None is the
    default of the scheme. `topics` are the ARNs that the scheme aws-sns accepts."""

    scheme: SchemeName
    header: str = ""
    timestampHeader: str = ""
    algorithm: Literal["sha256", "sha1", "sha512"] = "sha256"
    encoding: Literal["hex", "base64"] = "hex"
    prefix: str = ""
    content: str = "{body}"
    toleranceSeconds: int | None = None
    topics: list[str] = []


@dataclass(frozen=True)
class Scheme:
    """An HMAC in a header. With `has_several`, the header can have several signatures, separated by
    commas or spaces; those without the prefix are ignored: they have other versions. The timestamp
    is in `timestamp_header`, behind `timestamp_prefix` if that is the header of the signature. The
    key is the secret itself, or its base64 part if it `has_base64_key`."""

    header: str
    prefix: str = ""
    has_several: bool = False
    algorithm: str = "sha256"
    encoding: str = "hex"
    content: str = "{body}"
    timestamp_header: str = ""
    timestamp_prefix: str = ""
    id_header: str = ""
    has_base64_key: bool = False
    is_secret_of_sender: bool = False


_STANDARD_WEBHOOKS = Scheme(
    "webhook-signature",
    prefix="v1,",
    has_several=True,
    encoding="base64",
    content="{id}.{timestamp}.{body}",
    timestamp_header="webhook-timestamp",
    id_header="webhook-id",
    has_base64_key=True,
)
_SCHEMES: dict[str, Scheme] = {
    "github": Scheme("X-Hub-Signature-256", prefix="sha256="),
    "gitlab": _STANDARD_WEBHOOKS,  # of its signing tokens; not X-Gitlab-Token
    "standard-webhooks": _STANDARD_WEBHOOKS,
    "slack": Scheme(
        "X-Slack-Signature",
        prefix="v0=",
        content="v0:{timestamp}:{body}",
        timestamp_header="X-Slack-Request-Timestamp",
        is_secret_of_sender=True,
    ),
    "sentry": Scheme("Sentry-Hook-Signature", is_secret_of_sender=True),
    "pagerduty": Scheme(
        "X-PagerDuty-Signature", prefix="v1=", has_several=True, is_secret_of_sender=True
    ),
}
SNS_HEADER = "x-amz-sns-message-type"


def find_scheme(settings: SignatureSettings) -> Scheme:
    """The scheme of the settings. Not for aws-sns, which has certificates (sns.py)."""
    if settings.scheme == "grafana":
        return Scheme(
            settings.header or "X-Grafana-Alerting-Signature",
            content="{timestamp}:{body}" if settings.timestampHeader else "{body}",
            timestamp_header=settings.timestampHeader,
        )
    if settings.scheme == "stripe":
        header = settings.header or "Stripe-Signature"
        return Scheme(
            header,
            prefix="v1=",
            has_several=True,
            content="{timestamp}.{body}",
            timestamp_header=header,
            timestamp_prefix="t=",
            is_secret_of_sender=True,
        )
    if settings.scheme == "generic":
        return Scheme(
            settings.header,
            prefix=settings.prefix,
            has_several=True,
            algorithm=settings.algorithm,
            encoding=settings.encoding,
            content=settings.content,
            timestamp_header=settings.timestampHeader,
        )
    return _SCHEMES[settings.scheme]


def find_id_header(settings: SignatureSettings | None) -> str:
    """The lower-case name of the header with an ID that the sender signs, "" if there is none."""
    if settings is None or settings.scheme == "aws-sns":
        return ""
    return find_scheme(settings).id_header


def find_header(settings: SignatureSettings) -> str:
    """The lower-case name of the header that carries the credential."""
    return SNS_HEADER if settings.scheme == "aws-sns" else find_scheme(settings).header.lower()
