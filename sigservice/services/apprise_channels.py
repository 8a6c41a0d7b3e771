"""Chats, emails and pagers by Apprise, which is optional: pip install '.[notify]'."""

from dataclasses import dataclass

from sigservice.outgoing import apprise_service
from sigservice.outgoing.addresses import AddressPolicy, DestinationError
from sigservice.outgoing.apprise_service import AppriseMissingError
from sigservice.outgoing.proxies import Proxies
from sigservice.outgoing.sender import Message, Sender


@dataclass(frozen=True)
class Text:
    """`severity` is success, warning, failure or info."""

    title: str
    body: str
    severity: str


def find_problem(url: str, policy: AddressPolicy) -> str:
    """The problem of a URL, "" if there is none. Doesn't resolve names."""
    try:
        apprise_service.make_service(url, policy)
    except (AppriseMissingError, DestinationError) as error:
        return str(error)
    return ""


def send(url: str, text: Text, policy: AddressPolicy, proxies: Proxies, sender: Sender) -> None:
    """Raises AppriseMissingError, DestinationError, DeliveryError."""
    if not apprise_service.is_installed():
        raise AppriseMissingError(apprise_service.MISSING)
    sender.send(Message(url, text.title, text.body, text.severity, policy, proxies))
