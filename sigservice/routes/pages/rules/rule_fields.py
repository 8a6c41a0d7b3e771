"""The fields of the condition of an alert rule, also those of a guard."""

from dataclasses import replace

from sigservice.routes.pages.signals.cron_field import CRON_HINT
from sigservice.web.forms import Field, Form, make_choices, read_whole_number

MEASURES = [
    ("rate", "Counter: per minute"),
    ("ratio", "Counter: ratio to another counter"),
    ("average", "Gauge or histogram: average"),
    ("p50", "Histogram: median (p50)"),
    ("p95", "Histogram: p95"),
    ("p99", "Histogram: p99"),
]
METRIC_FIELDS = [
    Field("source.metric", "Metric", is_required=True, attributes={"list": "metrics"}),
    Field("source.measure", "Measure", type="select", choices=MEASURES),
    Field(
        "source.per",
        "Per counter",
        hint="Only for a ratio, such as checkout_requests.",
        attributes={"list": "metrics"},
    ),
    Field("source.appName", "Application", hint="Empty: all applications."),
    Field(
        "source.labels",
        "Labels",
        type="textarea",
        hint="Optional. Only series that have them, one per line, such as region: eu",
    ),
]
QUERY_FIELD = Field(
    "source.query",
    "Query",
    type="textarea",
    hint="An instant query with one series as its result, such as sum(rate(errors[5m])).",
    is_required=True,
)
UNITS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400}
_UNIT_NAMES = {"source.everySeconds": "source.everyUnit", "source.graceSeconds": "source.graceUnit"}
SILENCE_FIELDS = [
    Field(
        "source.everySeconds",
        "Interval (seconds)",
        hint="A little longer than that of the sender. Or enter times.",
        attributes={"inputmode": "numeric"},
    ),
    Field("source.cron", "Times (cron expression)", hint=CRON_HINT),
    Field("source.timezone", "Time zone of the times", hint="Such as Europe/Berlin"),
    Field(
        "source.graceSeconds",
        "Grace (seconds)",
        hint="The rule fires so long after the time.",
        attributes={"inputmode": "numeric"},
    ),
]
LIMIT_FIELDS = [
    Field(
        "above", "Fires above", hint="One of the two limits.", attributes={"inputmode": "decimal"}
    ),
    Field("below", "Fires below", attributes={"inputmode": "decimal"}),
    Field(
        "windowMinutes",
        "Window (minutes)",
        type="number",
        hint="1 to 1440. A firing rule without a value is unknown after this time.",
        attributes={"min": 1, "max": 1440},
    ),
    Field(
        "minSamples",
        "Samples at least",
        type="number",
        hint="With fewer, the rule is unknown.",
        attributes={"min": 0},
    ),
    Field(
        "breaches",
        "Evaluations in a row",
        type="number",
        hint="So many beyond the limit fire, and so many within it resolve.",
        attributes={"min": 1},
    ),
    Field(
        "everySeconds",
        "Seconds between evaluations",
        type="number",
        hint="15 to 3600. SDKs report once a minute.",
        attributes={"min": 15, "max": 3600},
    ),
]


def make_unit_fields() -> list[Field]:
    """SILENCE_FIELDS with a unit beside each time."""
    fields: list[Field] = []
    for field in SILENCE_FIELDS:
        unit_name = _UNIT_NAMES.get(field.name)
        if unit_name is None:
            fields.append(field)
            continue
        label = field.label.removesuffix(" (seconds)")
        unit = Field(unit_name, f"Unit of the {label.lower()}", type="select")
        fields += [replace(field, label=label), replace(unit, choices=make_choices(UNITS))]
    return fields


def choose_units(form: Form) -> Form:
    """The form of a rule on silence with each time in the longest unit that it is a whole number
    of."""
    texts: Form = {}
    for name, unit_name in _UNIT_NAMES.items():
        seconds = read_whole_number(form.get(name, ""), 0)
        if seconds > 0:
            unit = next(unit for unit in reversed(UNITS) if seconds % UNITS[unit] == 0)
            texts |= {name: str(seconds // UNITS[unit]), unit_name: unit}
    return form | texts


def read_units(form: Form) -> Form:
    """The form with each time in seconds."""
    texts: Form = {}
    for name, unit_name in _UNIT_NAMES.items():
        number = read_whole_number(form.get(name, ""), 0)
        if number > 0:
            texts[name] = str(number * UNITS.get(form.get(unit_name, ""), 1))
    return form | texts
