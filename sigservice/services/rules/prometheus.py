"""Queries of a metric source through the HTTP API of Prometheus."""

import base64
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta
from math import isfinite
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec

from sigservice.crypto.encryption import Encryption, EncryptionError
from sigservice.db import Row
from sigservice.outgoing import post
from sigservice.outgoing.addresses import DestinationError
from sigservice.outgoing.post import DeliveryError
from sigservice.services.channel_delivery import DeliverySettings
from sigservice.services.rules.metric_sources import SourceAuth, read

MAX_BYTES = 1_000_000
MAX_AGE = timedelta(minutes=5)
MAX_LISTED = 5  # series that an error lists
_MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_NUL = rb"\u0000"  # PostgreSQL can't store it
BUSY = "The source is busy with other queries."


class Answer(NamedTuple):
    """`reason` says why there is no value. `labels` are the labels of several series.
    `is_available` is false if the source didn't answer, so further queries would fail too.
    `is_wrong` is true if the source refused the query, or the result isn't one number."""

    value: float | None = None
    reason: str | None = None
    warnings: Sequence[str] = ()
    labels: Sequence[str] = ()
    is_available: bool = True
    is_wrong: bool = False


class PrometheusClient:
    """Sends queries with the secrets of sources. `hold` keeps others from querying a source
    meanwhile; it yields False if they don't stop. A caller without `hold` has claimed the
    source."""

    def __init__(
        self,
        settings: DeliverySettings,
        encryption: Encryption,
        hold: Callable[[Row], AbstractContextManager[bool]] = lambda _source: nullcontext(True),
    ) -> None:
        self._settings, self._encryption, self._hold = settings, encryption, hold

    def query(self, source: Row, text: str, now: datetime) -> Answer:
        """The value of an instant query. Takes at most the timeout of the source."""
        data, answer = self._ask(source, "query", {"query": text})
        return answer if data is None else _read_value(data, answer.warnings, now)

    def query_range(
        self, source: Row, text: str, start: datetime, stop: datetime, seconds: int
    ) -> tuple[dict[float, float], Answer]:
        """The values by timestamp, and the reason if there are none."""
        values = {"start": start.timestamp(), "end": stop.timestamp(), "step": seconds}
        data, answer = self._ask(source, "query_range", {"query": text, **values})
        if data is None:
            return {}, answer
        result = data["result"]
        if data["resultType"] != "matrix" or len(result) != 1:
            return {}, _refuse_series(result if data["resultType"] == "matrix" else [])
        try:
            points = [(float(at), float(value)) for at, value in result[0]["values"]]
        except _MALFORMED:
            return {}, Answer(reason="The result is no series of numbers.")
        return {at: value for at, value in points if isfinite(at) and isfinite(value)}, answer

    def _ask(self, source: Row, path: str, values: dict[str, Any]) -> tuple[Any, Answer]:
        """(data, answer with the warnings), or (None, answer with the reason)."""
        options = read(source)
        url = f"{options.url.rstrip('/')}/api/v1/{path}?{urlencode(values)}"
        try:
            headers = options.headers | self._authorize(source, options.auth)
            with self._hold(source) as is_free:
                if not is_free:
                    return None, Answer(reason=BUSY, is_available=False)
                response = post.get(
                    url,
                    headers={"Accept": "application/json", **headers},
                    policy=self._settings.policy,
                    proxies=self._settings.proxies,
                    seconds=float(options.timeoutSeconds),
                    max_bytes=MAX_BYTES,
                )
        except (DestinationError, DeliveryError, EncryptionError) as error:
            return None, Answer(reason=str(error), is_available=False)
        return _read_response(response)

    def _authorize(self, source: Row, auth: SourceAuth) -> dict[str, str]:
        """Raises EncryptionError."""
        encrypted = source["encrypted_secret"]
        secret = self._encryption.decrypt(bytes(encrypted)) if encrypted is not None else ""
        if auth.type == "basic":
            pair = base64.b64encode(f"{auth.username}:{secret}".encode()).decode()
            return {"Authorization": f"Basic {pair}"}
        return {"Authorization": f"Bearer {secret}"} if auth.type == "bearer" else {}


def _read_response(response: post.Response) -> tuple[Any, Answer]:
    if not response.is_complete:
        text = "is larger than 1 MB" if len(response.body) >= MAX_BYTES else "was cut off"
        return None, Answer(reason=f"The response {text}.")
    try:
        body = msgspec.json.decode(response.body.replace(_NUL, b""))
        if body["status"] != "success":
            text = str(body.get("error", ""))[:300]
            reason = f"The source answered {response.status}: {text}"
            return None, Answer(reason=reason, is_wrong=response.status == 400)
        data = body["data"]
        warnings = [str(text)[:300] for text in body.get("warnings") or ()][:MAX_LISTED]
        if response.status != 200 or not isinstance(data["result"], list):
            raise ValueError
        return {"resultType": data["resultType"], "result": data["result"]}, Answer(
            warnings=warnings
        )
    except (msgspec.DecodeError, *_MALFORMED):
        reason = f"The source answered {response.status} without a result of Prometheus."
        return None, Answer(reason=reason, is_available=response.status < 500)


def _read_value(data: Any, warnings: Sequence[str], now: datetime) -> Answer:
    """The value of a scalar, or of a vector with one sample."""
    kind, result = data["resultType"], data["result"]
    if kind not in ("vector", "scalar"):
        reason = f"The result is a {kind!s:.20}, no number."
        return Answer(reason=reason, warnings=warnings, is_wrong=True)
    try:
        if kind == "vector" and len(result) != 1:
            return _refuse_series(result)._replace(warnings=warnings)
        at, text = result[0]["value"] if kind == "vector" else result
        value, at = float(text), float(at)
    except _MALFORMED:
        return Answer(reason="The result is neither a number nor one sample.", warnings=warnings)
    if not isfinite(value):
        return Answer(reason="The value isn't a finite number.", warnings=warnings)
    if not (isfinite(at) and now.timestamp() - at <= MAX_AGE.total_seconds()):
        return Answer(reason="The sample is more than five minutes old.", warnings=warnings)
    return Answer(value, warnings=warnings)


def _refuse_series(result: Sequence[Any]) -> Answer:
    if not result:
        return Answer(reason="The query has no result.")
    if not all(isinstance(item, dict) for item in result):
        return Answer(reason="The result is no list of series.")
    labels = [str(item.get("metric"))[:200] for item in result[:MAX_LISTED]]
    return Answer(
        reason=f"The query has {len(result)} series, not one: {', '.join(labels)}",
        labels=labels,
        is_wrong=True,
    )
