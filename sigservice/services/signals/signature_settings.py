"""Checks the settings of a signature token and its secret."""

import re

from sigservice.services.problems import Problems
from sigservice.services.signals.signature_schemes import SignatureSettings, find_scheme
from sigservice.services.signals.signatures import decode_key

MAX_TOLERANCE_SECONDS = 86_400
MAX_TOPICS = 20
MIN_SECRET_LENGTH, MAX_SECRET_LENGTH = 8, 500
MIN_KEY_BYTES = 16
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^`|~-]{1,100}")  # the listener drops those with _
_RESERVED_HEADERS = {"authorization", "cookie", "host", "content-length", "content-type"}
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_TOPIC = re.compile(
    # A region never looks like another host of Amazon, such as s3 or s3-us-west-2.
    r"arn:(?P<partition>aws|aws-cn|aws-eusc|aws-us-gov):sns:"
    r"(?P<region>[a-z]+(?:-[a-z]+)+-[0-9]{1,2}):[0-9]{12}:"
    r"[A-Za-z0-9_-]{1,256}(\.fifo)?"
)
_DOMAINS = {"aws-cn": "amazonaws.com.cn", "aws-eusc": "amazonaws.eu"}
_GENERIC = SignatureSettings("generic")
# The members that a scheme uses besides toleranceSeconds.
_MEMBERS = {
    "aws-sns": {"topics"},
    "grafana": {"header", "timestampHeader"},
    "stripe": {"header"},
    "generic": {"header", "timestampHeader", "algorithm", "encoding", "prefix", "content"},
}


def check_settings(settings: SignatureSettings, secret: str, problems: Problems) -> None:
    """Adds to `problems`, with paths below `signature`; problems of the secret have the path
    `secret`. `secret` is "" if the change has none."""
    members = _MEMBERS.get(settings.scheme, set())
    for name in sorted(set().union(*_MEMBERS.values()) - members):
        if getattr(settings, name) != getattr(_GENERIC, name):
            problems.add(f"signature.{name}", f"The scheme {settings.scheme} has no {name}.")
    seconds = settings.toleranceSeconds
    if seconds is not None and not 1 <= seconds <= MAX_TOLERANCE_SECONDS:
        limit = f"1 to {MAX_TOLERANCE_SECONDS} seconds"
        problems.add("signature.toleranceSeconds", f"The tolerance must be {limit}.")
    if settings.scheme == "aws-sns":
        _check_topics(settings, problems)
        if secret:
            problems.add("secret", "Amazon SNS signs with certificates, without a secret.")
        return
    for name in ("header", "timestampHeader"):
        if name in members and (header := getattr(settings, name)):
            _check_header(header, problems, f"signature.{name}")
    if settings.scheme == "generic":
        _check_generic(settings, problems)
    if secret:
        _check_secret(settings, secret, problems)


def find_sns_host(topic: str) -> str:
    """The host of SNS in the region of a topic's ARN, "" if the text is not such an ARN."""
    match = _TOPIC.fullmatch(topic)
    if match is None:
        return ""
    return f"sns.{match['region']}.{_DOMAINS.get(match['partition'], 'amazonaws.com')}"


def _check_topics(settings: SignatureSettings, problems: Problems) -> None:
    if not 1 <= len(settings.topics) <= MAX_TOPICS:
        problems.add("signature.topics", f"There must be 1 to {MAX_TOPICS} topics.")
    for index, topic in enumerate(settings.topics[:MAX_TOPICS]):
        if not find_sns_host(topic):
            text = "This is not the ARN of a topic, arn:aws:sns:<region>:<account>:<name>."
            problems.add(f"signature.topics[{index}]", text)


def _check_header(name: str, problems: Problems, path: str) -> None:
    if not _HEADER.fullmatch(name):
        problems.add(path, "This is not the name of a header.")
    elif name.lower() in _RESERVED_HEADERS:
        problems.add(path, f"The header {name} can't have this use.")


def _check_generic(settings: SignatureSettings, problems: Problems) -> None:
    if not settings.header:
        problems.add("signature.header", "The header of the signature is required.")
    elif settings.header.lower() == settings.timestampHeader.lower():
        problems.add("signature.timestampHeader", "It must not be the header of the signature.")
    prefix, content = settings.prefix, settings.content
    if len(prefix) > 50 or not (prefix.isascii() and prefix.isprintable()):
        problems.add("signature.prefix", "The prefix must have at most 50 ASCII characters.")
    placeholders = _PLACEHOLDER.findall(content)
    if len(content) > 200 or not content.isprintable() or placeholders.count("{body}") != 1:
        text = "The content must have {body} once, and at most 200 characters."
        problems.add("signature.content", text)
    elif set(placeholders) - {"{body}", "{timestamp}"}:
        problems.add("signature.content", "The content can have {body} and {timestamp} only.")
    elif ("{timestamp}" in placeholders) != bool(settings.timestampHeader):
        text = "{timestamp} and the header of the timestamp must be set together."
        problems.add("signature.content", text)


def _check_secret(settings: SignatureSettings, secret: str, problems: Problems) -> None:
    if not (MIN_SECRET_LENGTH <= len(secret) <= MAX_SECRET_LENGTH and secret.isprintable()):
        size = f"{MIN_SECRET_LENGTH} to {MAX_SECRET_LENGTH} printable characters"
        problems.add("secret", f"The secret must have {size}.")
    elif find_scheme(settings).has_base64_key:
        try:
            is_long = len(decode_key(secret)) >= MIN_KEY_BYTES
        except ValueError:
            is_long = False
        if not is_long:
            text = f"The secret must be whsec_ and at least {MIN_KEY_BYTES} bytes in base64."
            problems.add("secret", text)
