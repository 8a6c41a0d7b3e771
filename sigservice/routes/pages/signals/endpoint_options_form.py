"""The options of a signal endpoint as fields of its form. A field has the name of the option in
the JSON API, such as `options.rateLimit.burst`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from sigservice.services.signals.endpoint_options import (
    EndpointOptions,
    Idempotency,
    RateLimit,
    SummaryField,
)
from sigservice.web.forms import Field, Form, read_whole_number
from sigservice.web.growing_forms import split_lines

PREFIX = "options."
RATE = f"{PREFIX}rateLimit.perSecond"
BURST = f"{PREFIX}rateLimit.burst"
STATUS_ABOVE = f"{PREFIX}rateLimit.status"
PATHS = f"{PREFIX}idempotency.paths"
WINDOW = f"{PREFIX}idempotency.windowHours"
DIFFERENT_BODY = f"{PREFIX}idempotency.differentBody"
QUERY_TOKEN = f"{PREFIX}allowQueryToken"
SUMMARY = f"{PREFIX}summary"
STATUS_PATH = f"{PREFIX}statusPath"
SEVERITY_PATH = f"{PREFIX}severityPath"
_NUMERIC = {"inputmode": "decimal"}
_BETWEEN = " = "  # the label and the path of a line


@dataclass(frozen=True)
class FieldGroup:
    legend: str
    fields: Sequence[Field]


def read_values(form: Form) -> Form:
    """The submitted fields of options; {} if the form has none."""
    return {name: text for name, text in form.items() if name.startswith(PREFIX)}


def read_options(values: Form, existing: EndpointOptions) -> EndpointOptions | None:
    """None if the form has no fields of options. Options without a field stay as in `existing`. A
    number that can't be read becomes one that check_options rejects."""
    if STATUS_ABOVE not in values:
        return None
    rate = RateLimit(
        perSecond=_read_rate(values.get(RATE, "")),
        burst=read_whole_number(values.get(BURST, ""), None),
        status=503 if values[STATUS_ABOVE] == "503" else 429,
    )
    idempotency = Idempotency(
        paths=split_lines(values.get(PATHS, "")),
        windowHours=read_whole_number(values.get(WINDOW, ""), Idempotency().windowHours),
        differentBody="accept" if values.get(DIFFERENT_BODY) == "accept" else "reject",
    )
    default = EndpointOptions()  # msgspec omits only the same object
    return msgspec.structs.replace(
        existing,
        rateLimit=default.rateLimit if rate == default.rateLimit else rate,
        idempotency=default.idempotency if idempotency == default.idempotency else idempotency,
        allowQueryToken=values.get(QUERY_TOKEN) == "on",
        summary=[_read_summary_line(line) for line in split_lines(values.get(SUMMARY, ""))],
        statusPath=values.get(STATUS_PATH, "").strip(),
        severityPath=values.get(SEVERITY_PATH, "").strip(),
    )


def make_values(options: EndpointOptions) -> dict[str, Any]:
    """The values of the fields; `read_options` returns the same options."""
    rate, idempotency = options.rateLimit, options.idempotency
    return {
        RATE: "" if rate.perSecond is None else f"{rate.perSecond:.10g}",
        BURST: "" if rate.burst is None else str(rate.burst),
        STATUS_ABOVE: str(rate.status),
        PATHS: "\n".join(idempotency.paths),
        WINDOW: str(idempotency.windowHours),
        DIFFERENT_BODY: idempotency.differentBody,
        QUERY_TOKEN: "on" if options.allowQueryToken else "",
        SUMMARY: "\n".join(f"{field.label}{_BETWEEN}{field.path}" for field in options.summary),
        STATUS_PATH: options.statusPath,
        SEVERITY_PATH: options.severityPath,
    }


def name_fields(problems: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The problems with the names of the fields: an item of a list is a line of its textarea."""
    result = []
    for problem in problems:
        name, bracket, rest = str(problem.get("path", "")).partition("[")
        number = rest.partition("]")[0]
        if bracket and name in (PATHS, SUMMARY) and number.isdigit():
            message = f"Line {int(number) + 1}: {problem['message']}"
            result.append({**problem, "path": name, "message": message})
        else:
            result.append(dict(problem))
    return result


def has_problems(problems: Sequence[Mapping[str, Any]]) -> bool:
    return any(str(problem.get("path", "")).startswith(PREFIX) for problem in problems)


def make_groups(values: Mapping[str, Any], limits: Mapping[str, Any]) -> list[FieldGroup]:
    """`limits` are the limits of the configuration."""
    return [
        FieldGroup("Rate limit, for each token", _make_rate_fields(values, limits)),
        FieldGroup("Repeated deliveries", _make_idempotency_fields(values)),
        FieldGroup("What lists show", _make_summary_fields(values)),
        FieldGroup("Credentials", _make_credential_fields(values)),
    ]


def _make_rate_fields(values: Mapping[str, Any], limits: Mapping[str, Any]) -> list[Field]:
    burst = f"{limits['burst']}, or the rate above" if limits["burst"] else "the rate"
    return [
        Field(
            RATE,
            "Signals per second",
            values.get(RATE, ""),
            hint=f"Empty: {limits['maxPerSecond']:g}, from the configuration.",
            attributes=_NUMERIC,
        ),
        Field(
            BURST,
            "Signals at once",
            values.get(BURST, ""),
            hint=f"Empty: {burst}. Alerts that fire together arrive together.",
            attributes=_NUMERIC,
        ),
        Field(
            STATUS_ABOVE,
            "Response above the limit",
            values.get(STATUS_ABOVE, ""),
            "select",
            "Alertmanager and Datadog retry 503 but not 429.",
            choices=[("429", "429 Too Many Requests"), ("503", "503 Service Unavailable")],
        ),
    ]


def _make_idempotency_fields(values: Mapping[str, Any]) -> list[Field]:
    return [
        Field(
            PATHS,
            "Paths of the key",
            values.get(PATHS, ""),
            "textarea",
            "One per line, such as data.id. Their values identify a signal: a repeat is stored "
            "once. Empty: the headers Idempotency-Key, webhook-id and X-GitHub-Delivery.",
        ),
        Field(
            WINDOW,
            "Hours",
            values.get(WINDOW, ""),
            hint="A signal with the same key after this time is a new one.",
            attributes=_NUMERIC,
        ),
        Field(
            DIFFERENT_BODY,
            "Same key, different body",
            values.get(DIFFERENT_BODY, ""),
            "select",
            choices=[
                ("reject", "Reject with 409"),
                ("accept", "Accept as a repeat of the first signal"),
            ],
        ),
    ]


def _make_summary_fields(values: Mapping[str, Any]) -> list[Field]:
    return [
        Field(
            SUMMARY,
            "Summary",
            values.get(SUMMARY, ""),
            "textarea",
            "A label and a path per line, such as: Team = alerts[*].labels.team. Empty: the "
            "service chooses what matters. Also the columns of a CSV export.",
        ),
        Field(
            STATUS_PATH,
            "Status path",
            values.get(STATUS_PATH, ""),
            hint="Where firing or resolved is. Empty: recognised automatically.",
        ),
        Field(
            SEVERITY_PATH,
            "Severity path",
            values.get(SEVERITY_PATH, ""),
            hint="Where critical, error, warning or info is. Empty: recognised automatically.",
        ),
    ]


def _make_credential_fields(values: Mapping[str, Any]) -> list[Field]:
    return [
        Field(
            QUERY_TOKEN,
            "Allow the token in the URL (?token=…)",
            values.get(QUERY_TOKEN, ""),
            "checkbox",
            "For senders that can't set a header. Proxies may log URLs.",
        )
    ]


def _read_rate(text: str) -> float | None:
    if not text.strip():
        return None
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return math.nan


def _read_summary_line(line: str) -> SummaryField:
    """The path is after the last " = ", or after the first "=" if the line has none."""
    if _BETWEEN in line:
        label, _, path = line.rpartition(_BETWEEN)
    else:
        label, _, path = line.partition("=")
    return SummaryField(label=label.strip(), path=path.strip())
