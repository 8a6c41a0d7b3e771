"""Sends one email to a mail server: over TLS where available, and no password without it."""

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

REPLY_SECONDS = 10.0
TOTAL_SECONDS = 60.0
MAX_BYTES = 65_536  # of all replies
SMTPS_PORT = 465


class MailError(Exception):
    """The email was not sent; the text has the reason, without any address. `is_final`: a retry is
    useless. `is_unavailable`: other emails would fail too at the moment."""

    def __init__(self, text: str, *, is_final: bool = False, is_unavailable: bool = False) -> None:
        super().__init__(text)
        self.text, self.is_final, self.is_unavailable = text, is_final, is_unavailable


@dataclass(frozen=True)
class MailServer:
    """The operator's configuration. `secure` means TLS from the first byte."""

    host: str
    port: int
    secure: bool
    user: str
    password: str
    sender: str

    @classmethod
    def from_config(cls, config: Mapping[str, Any], public_host: str) -> MailServer | None:
        """None without a mail server. The default sender is the user, if that is an address, else
        noreply at `public_host`."""
        email = config["email"]
        if not email["host"]:
            return None
        user, secure = email["smtpuser"] or "", email["secure"]
        default_sender = user if "@" in user else f"noreply@{public_host}"
        return cls(
            email["host"],
            email["port"],
            email["port"] == SMTPS_PORT if secure is None else secure,
            user,
            email["smtppass"] or "",
            email["sender"] or default_sender,
        )

    @property
    def domain(self) -> str:
        """The sender's domain, for EHLO. The lookup of this machine's own name may take long."""
        return parseaddr(self.sender)[1].rpartition("@")[2]


def send(
    server: MailServer, message: EmailMessage, recipient: str, seconds: float | None = None
) -> None:
    """Takes at most about `seconds`, by default TOTAL_SECONDS. Raises MailError."""
    try:
        smtp = _connect(server, time.monotonic() + (seconds or TOTAL_SECONDS))
    except (smtplib.SMTPException, OSError, ValueError) as error:
        raise MailError(_describe_error(error), is_unavailable=True) from None
    try:
        _prepare(smtp, server)
        smtp.send_message(message, parseaddr(server.sender)[1], [recipient])
    except MailError:
        raise
    except (smtplib.SMTPException, OSError, ValueError) as error:
        raise _make_error(error) from None
    finally:
        with contextlib.suppress(smtplib.SMTPException, OSError):
            smtp.quit()  # any reply: the outcome is decided
        smtp.close()


class _Replies:
    """The lines of the server, bounded in size and time. Replaces smtplib's file, whose timeout
    starts again with each byte and which accepts any number of lines."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock, self._deadline = sock, deadline
        self._buffer, self._budget = b"", MAX_BYTES

    def readline(self, limit: int) -> bytes:
        """Raises OSError."""
        while b"\n" not in self._buffer and len(self._buffer) < limit:
            remaining = self._deadline - time.monotonic()
            if remaining <= 0 or self._budget <= 0:
                raise TimeoutError
            self._sock.settimeout(min(REPLY_SECONDS, remaining))
            data = self._sock.recv(4096)
            if not data:
                break
            self._buffer, self._budget = self._buffer + data, self._budget - len(data)
        end = min(self._buffer.find(b"\n") + 1 or len(self._buffer), limit)
        line, self._buffer = self._buffer[:end], self._buffer[end:]
        return line

    def close(self) -> None:
        """Does nothing: the socket has an owner."""


class _Bounded:
    """smtplib with bounds on the replies of the server, from its greeting on."""

    file: Any
    sock: socket.socket | None

    def __init__(self, *args: Any, deadline: float, **options: Any) -> None:
        self._deadline = deadline
        super().__init__(*args, **options)

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock is not None:
            self.file = _Replies(self.sock, self._deadline)
        reply: tuple[int, bytes] = super().getreply()  # type: ignore[misc]
        return reply


class _Plain(_Bounded, smtplib.SMTP):
    pass


class _Secure(_Bounded, smtplib.SMTP_SSL):
    pass


def _connect(server: MailServer, deadline: float) -> smtplib.SMTP:
    options: dict[str, Any] = {
        "local_hostname": server.domain,
        "timeout": REPLY_SECONDS,
        "deadline": deadline,
    }
    if server.secure:
        context = ssl.create_default_context()
        return _Secure(server.host, server.port, context=context, **options)
    return _Plain(server.host, server.port, **options)


def _prepare(smtp: smtplib.SMTP, server: MailServer) -> None:
    """Starts TLS if the server offers it, signs in if a user is configured."""
    try:
        smtp.ehlo_or_helo_if_needed()
        is_encrypted = server.secure
        if not is_encrypted and smtp.has_extn("starttls"):
            smtp.starttls(context=ssl.create_default_context())
            smtp.ehlo()
            is_encrypted = True
        if not server.user:
            return
        if not is_encrypted and not _is_local(smtp):
            raise MailError(
                "The server offers no encryption; the password is not sent without it.",
                is_unavailable=True,
            )
        smtp.login(server.user, server.password)
    except (smtplib.SMTPException, OSError, ValueError) as error:
        raise MailError(_describe_error(error), is_unavailable=True) from None


def _is_local(smtp: smtplib.SMTP) -> bool:
    """Whether the peer is this machine, whatever its name."""
    assert smtp.sock is not None
    peer = ipaddress.ip_address(smtp.sock.getpeername()[0].partition("%")[0])
    mapped = getattr(peer, "ipv4_mapped", None)
    return bool((mapped or peer).is_loopback)


def _make_error(error: Exception) -> MailError:
    """The error of one email, for a server that accepts the connection."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code = next(iter(error.recipients.values()))[0]
        return MailError(f"The server refuses the recipient ({code}).", is_final=code >= 500)
    if isinstance(error, smtplib.SMTPSenderRefused):  # the operator can fix it
        return MailError(f"The server refuses the sender ({error.smtp_code}).")
    if isinstance(error, smtplib.SMTPDataError):
        code = error.smtp_code
        return MailError(f"The server refuses the email ({code}).", is_final=code >= 500)
    return MailError(_describe_error(error))


def _describe_error(error: Exception) -> str:
    """Not the server's own text: it may contain the address."""
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return f"The server refuses username and password ({error.smtp_code})."
    if isinstance(error, smtplib.SMTPResponseException):
        return f"The server replied {error.smtp_code}."
    if type(error) in (smtplib.SMTPNotSupportedError, smtplib.SMTPException):
        return "The server doesn't support sign-in with username and password."
    if isinstance(error, smtplib.SMTPServerDisconnected):
        return "The server closed the connection."
    if isinstance(error, ssl.SSLCertVerificationError):
        return escape_line(f"TLS failed: {error.verify_message}.")
    if isinstance(error, ssl.SSLError):
        return "TLS failed: the port may expect the other kind of encryption (EMAIL_SECURE)."
    if isinstance(error, socket.gaierror):
        return "The hostname can't be resolved."
    if isinstance(error, TimeoutError):
        return f"No reply within {REPLY_SECONDS:.0f} s."
    if isinstance(error, UnicodeError):
        return "Username and password must be ASCII."
    if isinstance(error, OSError) and error.strerror:
        return escape_line(f"Connection failed: {error.strerror}.")
    return "The server doesn't speak SMTP."
