"""Chats, mails and pagers by apprise, which is optional: pip install 'sigservice[notify]'."""

from __future__ import annotations

from sigservice.outgoing import apprise_service
from sigservice.outgoing.addresses import Reach, Refused
from sigservice.outgoing.apprise_service import Missing
from sigservice.outgoing.proxies import Proxies
from sigservice.outgoing.sender import Message, Sender
from sigservice.services.actions.notification_text import Text


def problem(url: str, reach: Reach) -> str:
    """What is wrong with an address, "" if nothing is. A name is not resolved."""
    try:
        apprise_service.make_service(url, reach)
    except (Missing, Refused) as error:
        return str(error)
    return ""


def send(url: str, text: Text, reach: Reach, proxies: Proxies, sender: Sender) -> None:
    """Returns when it was delivered. Raises Missing, Refused, Failed."""
    if not apprise_service.is_installed():
        raise Missing(apprise_service.MISSING)
    sender.send(
        Message(
            url=url,
            title=text.title,
            body=text.body,
            tone=text.tone,
            allow_private=reach.allow_private,
            allowed_hosts=reach.allowed_hosts,
            proxies=proxies,
        )
    )
