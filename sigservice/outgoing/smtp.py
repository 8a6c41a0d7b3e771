"""One mail to a mail server: over TLS where there is any, and no password without it."""

from __future__ import annotations

import contextlib
import ipaddress
import smtplib
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import parseaddr
from typing import Any

from sigservice.log import escape_line

TIMEOUT = 10.0  # seconds for each answer
TOTAL_SECONDS = 60.0  # for all of them
MOST_BYTES = 65_536  # of all of them
SMTPS_PORT = 465


class Failed(Exception):
    """Not sent; the text says why, without any address. `is_final`: it will not go better the
    next time. `is_away`: nor will other mails just now."""

    def __init__(self, text: str, *, is_final: bool = False, is_away: bool = False) -> None:
        super().__init__(text)
        self.text, self.is_final, self.is_away = text, is_final, is_away


@dataclass(frozen=True)
class MailServer:
    """What the operator has configured. `secure`: TLS from the first byte."""

    host: str
    port: int
    secure: bool
    user: str
    password: str
    sender: str

    @classmethod
    def of(cls, config: Mapping[str, Any], public_host: str) -> MailServer | None:
        """None when there is no mail server. Without a sender it is the user, if that is an
        address, or noreply at `public_host`."""
        found = config["email"]
        if not found["host"]:
            return None
        user, secure = found["smtpuser"] or "", found["secure"]
        other = user if "@" in user else f"noreply@{public_host}"
        return cls(
            found["host"],
            found["port"],
            found["port"] == SMTPS_PORT if secure is None else secure,
            user,
            found["smtppass"] or "",
            found["sender"] or other,
        )

    @property
    def domain(self) -> str:
        """The sender's, by which we say hello; asking the system for our own name may take long."""
        return parseaddr(self.sender)[1].rpartition("@")[2]


def send(server: MailServer, message: EmailMessage, recipient: str) -> None:
    """Raises Failed."""
    try:
        smtp = _connect(server)
    except (smtplib.SMTPException, OSError, ValueError) as error:
        raise Failed(_reason(error), is_away=True) from None
    try:
        _prepare(smtp, server)
        smtp.send_message(message, parseaddr(server.sender)[1], [recipient])
    except Failed:
        raise
    except (smtplib.SMTPException, OSError, ValueError) as error:
        raise _failed(error) from None
    finally:
        with contextlib.suppress(smtplib.SMTPException, OSError):
            smtp.quit()  # whatever it answers: the mail is sent, or not
        smtp.close()


class _Replies:
    """The lines that the server sends, no more and for no longer than we care to listen. In place
    of a file, which waits anew for each byte and whose user keeps each line."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock, self._deadline = sock, deadline
        self._buffer, self._room = b"", MOST_BYTES

    def readline(self, most: int) -> bytes:
        """Raises OSError."""
        while b"\n" not in self._buffer and len(self._buffer) < most:
            left = self._deadline - time.monotonic()
            if left <= 0 or self._room <= 0:
                raise TimeoutError
            self._sock.settimeout(min(TIMEOUT, left))
            data = self._sock.recv(4096)
            if not data:
                break
            self._buffer, self._room = self._buffer + data, self._room - len(data)
        end = min(self._buffer.find(b"\n") + 1 or len(self._buffer), most)
        line, self._buffer = self._buffer[:end], self._buffer[end:]
        return line

    def close(self) -> None:
        """The socket has an owner."""


class _Bounded:
    """smtplib with bounds on what the server says, from its greeting on."""

    _deadline = 0.0
    file: Any
    sock: socket.socket | None

    def getreply(self) -> tuple[int, bytes]:
        self._deadline = self._deadline or time.monotonic() + TOTAL_SECONDS
        if self.file is None and self.sock is not None:
            self.file = _Replies(self.sock, self._deadline)
        reply: tuple[int, bytes] = super().getreply()  # type: ignore[misc]
        return reply


class _Plain(_Bounded, smtplib.SMTP):
    pass


class _Secure(_Bounded, smtplib.SMTP_SSL):
    pass


def _connect(server: MailServer) -> smtplib.SMTP:
    if server.secure:
        return _Secure(
            server.host,
            server.port,
            local_hostname=server.domain,
            timeout=TIMEOUT,
            context=ssl.create_default_context(),
        )
    return _Plain(server.host, server.port, local_hostname=server.domain, timeout=TIMEOUT)


def _prepare(smtp: smtplib.SMTP, server: MailServer) -> None:
    """Encrypts where the server offers it, signs in where a user is set."""
    try:
        smtp.ehlo_or_helo_if_needed()
        is_encrypted = server.secure
        if not is_encrypted and smtp.has_extn("starttls"):
            smtp.starttls(context=ssl.create_default_context())
            smtp.ehlo()
            is_encrypted = True
        if not server.user:
            return
        if not is_encrypted and not _is_here(smtp):
            raise Failed(
                "The server offers no encryption, and without it no password is sent.",
                is_away=True,
            )
        smtp.login(server.user, server.password)
    except (smtplib.SMTPException, OSError, ValueError) as error:
        raise Failed(_reason(error), is_away=True) from None


def _is_here(smtp: smtplib.SMTP) -> bool:
    """Whether the peer is this machine, whatever it is called."""
    assert smtp.sock is not None
    peer = ipaddress.ip_address(smtp.sock.getpeername()[0].partition("%")[0])
    mapped = getattr(peer, "ipv4_mapped", None)
    return bool((mapped or peer).is_loopback)


def _failed(error: Exception) -> Failed:
    """What a server that listens to us says of one mail."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code = next(iter(error.recipients.values()))[0]
        return Failed(f"The server refuses the recipient ({code}).", is_final=code >= 500)
    if isinstance(error, smtplib.SMTPSenderRefused):  # mended by the operator: not for ever
        return Failed(f"The server refuses the sender ({error.smtp_code}).")
    if isinstance(error, smtplib.SMTPDataError):
        code = error.smtp_code
        return Failed(f"The server refuses the mail ({code}).", is_final=code >= 500)
    return Failed(_reason(error))


def _reason(error: Exception) -> str:
    """Nothing of the server's own words: they may hold the address."""
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return f"The server refuses user name and password ({error.smtp_code})."
    if isinstance(error, smtplib.SMTPResponseException):
        return f"The server answers {error.smtp_code}."
    if type(error) in (smtplib.SMTPNotSupportedError, smtplib.SMTPException):
        return "The server takes no user name and password."
    if isinstance(error, smtplib.SMTPServerDisconnected):
        return "The server closed the connection."
    if isinstance(error, ssl.SSLCertVerificationError):
        return escape_line(f"TLS failed: {error.verify_message}.")
    if isinstance(error, ssl.SSLError):
        return "TLS failed: the port may be for the other kind of encryption (EMAIL_SECURE)."
    if isinstance(error, socket.gaierror):
        return "Its name can't be resolved."
    if isinstance(error, TimeoutError):
        return f"There was no answer within {TIMEOUT:.0f} s."
    if isinstance(error, UnicodeError):
        return "User name and password must be ASCII."
    if isinstance(error, OSError) and error.strerror:
        return escape_line(f"There is no connection: {error.strerror}.")
    return "The server does not speak SMTP."
