"""The requests to the upstream: flags, and which tokens are valid."""

import math
import re
import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from sigservice import payload
from sigservice.clock import Clock
from sigservice.errors import AppError
from sigservice.outgoing.addresses import AddressPolicy, DestinationError
from sigservice.outgoing.post import DeliveryError, Response, get, parse_retry_after, post
from sigservice.outgoing.proxies import Proxies
from sigservice.relay.documents import Document, UnusableError, read_document
from sigservice.services.identity import DEFAULT_ENVIRONMENT
from sigservice.version import __version__

MAX_BYTES = 20 * 2**20
MAX_RETRY_AFTER = timedelta(seconds=600)
_TYPES = {"client": "client", "backend": "client", "frontend": "frontend", "admin": "admin"}


class UpstreamError(Exception):
    """The upstream gave no usable answer. The text is for the log; it has nothing of the answer.
    `retry_after` are seconds."""

    def __init__(self, reason: str, *, retry_after: float = 0.0, is_refused: bool = False) -> None:
        super().__init__(reason)
        self.retry_after, self.is_refused = retry_after, is_refused


class Scope(NamedTuple):
    """What the upstream says about a token. `projects` is ("*",) for all."""

    type: str
    environment: str
    projects: tuple[str, ...]

    @property
    def breadth(self) -> float:
        """The number of projects; `*` counts as the most."""
        return math.inf if "*" in self.projects else len(self.projects)

    def covers(self, other: "Scope") -> bool:
        """Whether a reader of this scope has all flags of the other."""
        return self.environment == other.environment and (
            "*" in self.projects or set(other.projects) <= set(self.projects)
        )

    def describe(self) -> str:
        """The scope for the log, without line breaks."""
        return ascii(f"{self.environment}, projects {', '.join(self.projects)}"[:200])[1:-1]


class _Token(msgspec.Struct):
    token: str
    type: str
    projects: list[str]
    environment: str | None = None


class _Tokens(msgspec.Struct):
    tokens: list[_Token]


class Upstream:
    """Each method makes one request. They raise UpstreamError and nothing else."""

    def __init__(self, config: Mapping[str, Any], clock: Clock) -> None:
        settings = config["relay"]
        self.url: str = settings["upstreamUrl"]
        self._clock, self._seconds = clock, settings["timeoutSeconds"]
        # The operator has chosen this address.
        host = (urlsplit(self.url).hostname or "").lower().rstrip(".")
        self._options = {
            "policy": AddressPolicy(True, (host, "0.0.0.0/0", "::/0")),
            "proxies": Proxies.from_config(config),
            "seconds": self._seconds,
            "max_bytes": MAX_BYTES,
            "ca_file": settings["caFile"],
        }
        self._headers = {
            "Accept-Encoding": "gzip",
            "Unleash-AppName": settings["name"],
            "Unleash-InstanceId": uuid.uuid4().hex,
            "Unleash-Connection-Id": str(uuid.uuid4()),
            "Unleash-Client-Spec": "5.2.0",
            "Unleash-Interval": str(settings["refreshSeconds"] * 1000),
            "User-Agent": f"sigservice-relay/{__version__}",
        }

    def read_flags(self, token: str, etag: str) -> tuple[Document, str] | None:
        """The flags that the token gives, with their ETag; None if they are still those with this
        `etag`."""
        headers = self._headers | {"Authorization": token}
        if etag:
            headers["If-None-Match"] = etag
        response = self._send("/api/client/features", None, headers)
        if response.status == 304 and etag:
            return None
        try:
            document = read_document(self._read_body(response))
        except UnusableError as error:
            raise UpstreamError(str(error)) from None
        is_etag = re.fullmatch(r"[!-~]{1,1000}", response.etag)
        return document, response.etag if is_etag else ""

    def validate(self, tokens: Sequence[str]) -> dict[str, Scope]:
        """The scopes of the valid ones of these tokens, at most 100."""
        body = msgspec.json.encode({"tokens": list(tokens)})
        headers = self._headers | {"Content-Type": "application/json"}
        response = self._send("/edge/validate", body, headers)
        try:
            answer = msgspec.json.decode(self._read_body(response), type=_Tokens)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise UpstreamError("the answer about tokens is unusable") from None
        return {
            item.token: _read_scope(item)
            for item in answer.tokens
            if item.token in tokens and item.type in _TYPES and item.projects
        }

    def _send(self, path: str, body: bytes | None, headers: Mapping[str, str]) -> Response:
        try:
            if body is None:
                return get(self.url + path, headers=headers, **self._options)
            return post(self.url + path, body, headers, **self._options)
        except (DeliveryError, DestinationError) as error:
            raise UpstreamError(str(error)) from None

    def _read_body(self, response: Response) -> bytes:
        """The decoded body of a usable response."""
        if response.status != 200:
            pause = parse_retry_after(response.retry_after, self._clock.now(), MAX_RETRY_AFTER)
            raise UpstreamError(
                f"the upstream answered {response.status}",
                retry_after=pause.total_seconds(),
                is_refused=response.status in (401, 403),
            )
        if not response.is_complete:
            raise UpstreamError("the answer is incomplete, or larger than 20 MiB")
        try:
            return payload.inflate(response.body, response.encoding, MAX_BYTES)
        except AppError:
            raise UpstreamError("the answer can't be decompressed") from None


def _read_scope(token: _Token) -> Scope:
    environment = token.environment or DEFAULT_ENVIRONMENT
    return Scope(
        _TYPES[token.type],
        DEFAULT_ENVIRONMENT if environment == "*" else environment,
        ("*",) if "*" in token.projects else tuple(sorted(set(token.projects))),
    )
