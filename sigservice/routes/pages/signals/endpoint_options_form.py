"""The options of a signal endpoint as fields of its form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from sigservice.services.signals.endpoint_options import EndpointOptions
from sigservice.web.forms import Field, Form, ProblemDetails, fill, read, split_lines, to_form

AT = "options."
_NUMERIC = {"inputmode": "decimal"}
_BETWEEN = " = "  # the label and the path of a line
_STATUSES = [("429", "429 Too Many Requests"), ("503", "503 Service Unavailable")]
_DIFFERENT_BODY = [
    ("reject", "Reject with 409"),
    ("accept", "Accept as a repeat of the first signal"),
]


@dataclass(frozen=True)
class FieldGroup:
    legend: str
    fields: Sequence[Field]


def read_options(form: Form) -> EndpointOptions | None:
    """None if the form has no fields of options. Raises BadDataError."""
    if f"{AT}summary" not in form:
        return None
    summary = [_read_summary_line(line) for line in split_lines(form[f"{AT}summary"])]
    options = read(form, EndpointOptions, AT, summary=summary)
    default = EndpointOptions()
    for name in ("rateLimit", "idempotency"):  # msgspec omits only the same object
        if getattr(options, name) == getattr(default, name):
            setattr(options, name, getattr(default, name))
    return options


def make_form(options: EndpointOptions) -> Form:
    """The texts of the fields; `read_options` returns the same options."""
    lines = [f"{field.label}{_BETWEEN}{field.path}" for field in options.summary]
    plain = msgspec.structs.replace(options, summary=[])
    return to_form({"options": plain}) | {f"{AT}summary": "\n".join(lines)}


def has_problems(problems: ProblemDetails) -> bool:
    return any(str(problem.get("path", "")).startswith(AT) for problem in problems)


def make_groups(form: Form, limits: Mapping[str, Any]) -> list[FieldGroup]:
    """`limits` are from the configuration."""
    groups = {
        "Rate limit, for each token": _make_rate_fields(limits),
        "Repeated deliveries": _IDEMPOTENCY_FIELDS,
        "What lists show": _SUMMARY_FIELDS,
        "Credentials": _CREDENTIAL_FIELDS,
    }
    return [FieldGroup(legend, fill(fields, form)) for legend, fields in groups.items()]


def _make_rate_fields(limits: Mapping[str, Any]) -> list[Field]:
    burst = f"{limits['burst']}, or the rate above" if limits["burst"] else "the rate"
    return [
        Field(
            f"{AT}rateLimit.perSecond",
            "Signals per second",
            hint=f"Empty: {limits['maxPerSecond']:g}, from the configuration.",
            attributes=_NUMERIC,
        ),
        Field(
            f"{AT}rateLimit.burst",
            "Signals at once",
            hint=f"Empty: {burst}. Alerts that fire together arrive together.",
            attributes=_NUMERIC,
        ),
        Field(
            f"{AT}rateLimit.status",
            "Response above the limit",
            type="select",
            hint="Alertmanager and Datadog retry 503 but not 429.",
            choices=_STATUSES,
        ),
    ]


_IDEMPOTENCY_FIELDS = [
    Field(
        f"{AT}idempotency.paths",
        "Paths of the key",
        type="textarea",
        hint="One per line, such as data.id. Their values identify a signal: a repeat is stored "
        "once. Empty: the headers Idempotency-Key, webhook-id and X-GitHub-Delivery.",
    ),
    Field(
        f"{AT}idempotency.windowHours",
        "Hours",
        hint="A signal with the same key after this time is a new one.",
        attributes=_NUMERIC,
    ),
    Field(
        f"{AT}idempotency.differentBody",
        "Same key, different body",
        type="select",
        choices=_DIFFERENT_BODY,
    ),
]
_SUMMARY_FIELDS = [
    Field(
        f"{AT}summary",
        "Summary",
        type="textarea",
        hint="A label and a path per line, such as: Team = alerts[*].labels.team. Empty: the "
        "service chooses what matters. Also the columns of a CSV export.",
    ),
    Field(
        f"{AT}statusPath",
        "Status path",
        hint="Where firing or resolved is. Empty: recognised automatically.",
    ),
    Field(
        f"{AT}guardPaths",
        "Paths for guards",
        type="textarea",
        hint="One per line. Guards of releases that Editors create may filter by their values, and "
        "as the sender's template does. Admins may use all paths.",
    ),
    Field(
        f"{AT}severityPath",
        "Severity path",
        hint="Where critical, error, warning or info is. Empty: recognised automatically.",
    ),
]
_CREDENTIAL_FIELDS = [
    Field(
        f"{AT}allowQueryToken",
        "Allow the token in the URL (?token=…)",
        type="checkbox",
        hint="For senders that can't set a header. Proxies may log URLs.",
    )
]


def _read_summary_line(line: str) -> dict[str, str]:
    """The path is after the last " = ", or after the first "=" if the line has none."""
    if _BETWEEN in line:
        label, _, path = line.rpartition(_BETWEEN)
    else:
        label, _, path = line.partition("=")
    return {"label": label.strip(), "path": path.strip()}
