"""Queries of a metric source through the HTTP API of Prometheus."""

import base64
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
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
from sigservice.services.deliveries import DeliverySettings
from sigservice.services.rules.metric_sources import SourceAuth, read

MAX_BYTES = 1_000_000
MAX_AGE = timedelta(minutes=5)
MAX_LISTED = 5  # series that an error lists
_MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_NUL = rb"\u0000"
MAX_URL_QUERY = 1000  # bytes of the parameters in a URL; longer ones are sent as a form
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
# Thanos, Cortex and the remote reads of Prometheus say so in warnings, each in its own words.
_PARTIAL = re.compile(
    r"(?!promql )(?=.*(partial|storeapis|receive|fetch series|rpc error|remote|unavailable"
    r"|time-?(d )?out|deadline|fail))",
    re.IGNORECASE | re.DOTALL,
)
BUSY = "The source is busy with other queries."


class Answer(NamedTuple):
    """`reason` says why there is no value. `labels` are the labels of several series.
    `is_available` is false if no response came.
    `is_wrong` is true if the source refused the query, or the result isn't one number."""

    value: float | None = None
    reason: str | None = None
    warnings: Sequence[str] = ()
    labels: Sequence[str] = ()
    is_available: bool = True
    is_wrong: bool = False


class PrometheusClient:
    """Sends queries with the secrets of sources. `hold` keeps other threads from querying a source
    meanwhile; it yields False if they don't stop."""

    def __init__(
        self,
        settings: DeliverySettings,
        encryption: Encryption,
        hold: Callable[[Row], AbstractContextManager[bool]],
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
        options, parameters = read(source), urlencode(values)
        url = f"{options.url.rstrip('/')}/api/v1/{path}"
        is_long = len(parameters) > MAX_URL_QUERY
        try:
            headers = options.headers | self._authorize(source, options.auth)
            with self._hold(source) as is_free:
                if not is_free:
                    return None, Answer(reason=BUSY, is_available=False)
                with post.HttpConnection() as connection:
                    response = connection.request(
                        url if is_long else f"{url}?{parameters}",
                        parameters.encode() if is_long else None,
                        {"Accept": "application/json", **headers, **(_FORM if is_long else {})},
                        policy=self._settings.policy,
                        proxies=self._settings.proxies,
                        seconds=float(options.timeoutSeconds),
                        max_bytes=MAX_BYTES,
                    )
        except (DestinationError, DeliveryError, EncryptionError) as error:
            return None, Answer(reason=str(error), is_available=False)
        if response.status == 414:
            reason = f"The source answered 414: the query has {len(values['query']):,} characters."
            return None, Answer(reason=reason)
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
        body = msgspec.json.decode(response.body)
        if _NUL in response.body:
            body = _strip_nul(body)
        if body["status"].lower() != "success":
            text = str(body.get("error", ""))[:300]
            reason = f"The source answered {response.status}: {text}"
            return None, Answer(reason=reason, is_wrong=response.status == 400)
        data = body["data"]
        warnings = [str(text)[:300] for text in body.get("warnings") or ()]
        if response.status != 200 or not isinstance(data["result"], list):
            raise ValueError
        partial = next(filter(_PARTIAL.match, warnings), None)
        if body.get("isPartial") or partial is not None:  # isPartial is from VictoriaMetrics
            reason = f"The source answered with a part of its data: {partial or 'isPartial'}"
            return None, Answer(reason=reason, warnings=warnings[:MAX_LISTED])
        data = {"resultType": data["resultType"].lower(), "result": data["result"]}
        return data, Answer(warnings=warnings[:MAX_LISTED])
    except (msgspec.DecodeError, *_MALFORMED):
        return None, Answer(
            reason=f"The source answered {response.status} without a result of Prometheus."
        )


def _strip_nul(value: Any) -> Any:
    """The JSON value without NUL characters, which PostgreSQL can't store."""
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, list):
        return [_strip_nul(item) for item in value]
    if isinstance(value, dict):
        return {_strip_nul(name): _strip_nul(item) for name, item in value.items()}
    return value


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
