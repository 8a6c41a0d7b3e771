"""Checks of an integration before it is saved. Nothing is resolved or connected."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from sigservice.outgoing import post
from sigservice.outgoing.addresses import AddressPolicy, DestinationError
from sigservice.outgoing.smtp import MailError
from sigservice.services.deliveries import MAX_URL_LENGTH
from sigservice.services.integrations import mustache
from sigservice.services.integrations.integration_providers import Parameter
from sigservice.services.problems import Problems
from sigservice.services.system.mails import parse_recipient

MAX_LENGTH = 10_000  # of a parameter
MAX_RECIPIENTS = 20
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_OWN_HEADERS = ("host", "content-length", "content-encoding", "transfer-encoding", "connection")


def check_parameter(
    parameter: Parameter, value: str, problems: Problems, policy: AddressPolicy
) -> None:
    path = f"parameters.{parameter.name}"
    if len(value) > (MAX_URL_LENGTH if parameter.type == "url" else MAX_LENGTH):
        problems.add(path, f"The {parameter.label} is too long.")
    elif parameter.type == "url":
        try:
            post.parse_target(value, policy)
        except DestinationError as error:
            problems.add(path, str(error))
    elif parameter.name == "bodyTemplate":
        try:
            mustache.parse(value)
        except mustache.TemplateError as error:
            problems.add(path, str(error))
    elif parameter.name == "customHeaders":
        if problem := find_header_problem(value):
            problems.add(path, problem)
    elif parameter.name == "to":
        if problem := _find_recipient_problem(value):
            problems.add(path, problem)
    elif parameter.name == "secret" and not _is_valid_secret(value):
        problems.add(path, "The secret must be whsec_ followed by 24 to 64 bytes in base64.")
    elif not _is_header_value(value):
        problems.add(path, f"The {parameter.label} must be one line of printable characters.")


def find_header_problem(text: str) -> str:
    """The problem of a text of additional headers, "" if there is none."""
    try:
        headers = msgspec.json.decode(text, type=dict[str, str])
    except msgspec.DecodeError:
        return "The headers must be a JSON object with a text for each name."
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            return f"{name[:50]!r} is not a valid name of a header."
        if name.lower() in _OWN_HEADERS or name.lower().startswith("webhook-"):
            return f"The header {name} can't be set."
        if not _is_header_value(value):
            return f"The value of the header {name} must be one line of printable characters."
    return ""


def list_recipients(text: str) -> list[str]:
    """The addresses in a text, each once. Raises MailError for one that isn't valid."""
    return list(dict.fromkeys(parse_recipient(one.strip()) for one in text.split(",")))


def _find_recipient_problem(text: str) -> str:
    try:
        count = len(list_recipients(text))
    except MailError:
        return "The recipients must be email addresses, separated by commas."
    return f"At most {MAX_RECIPIENTS} recipients are allowed." if count > MAX_RECIPIENTS else ""


def to_texts(parameters: Mapping[str, Any], problems: Problems) -> dict[str, str]:
    """The parameters that aren't empty, as texts."""
    texts = {}
    for name, value in parameters.items():
        if isinstance(value, str):
            texts[name] = value.strip()
        elif isinstance(value, int | float):
            texts[name] = msgspec.json.encode(value).decode()
        else:
            problems.add(f"parameters.{name}", "Must be a text.")
    return {name: text for name, text in texts.items() if text}


def _is_header_value(text: str) -> bool:
    """Whether the text is printable Latin-1, the encoding of urllib3."""
    return text.isprintable() and all(ord(letter) < 256 for letter in text)


def _is_valid_secret(secret: str) -> bool:
    prefix, encoded = secret[:6], secret[6:]
    try:
        return prefix == "whsec_" and 24 <= len(base64.b64decode(encoded, validate=True)) <= 64
    except (binascii.Error, ValueError):
        return False
