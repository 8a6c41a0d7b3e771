"""The form of an alert rule, with what would have happened in the last 48 hours beside it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import groupby
from typing import Any

from sigservice.clock import parse_iso
from sigservice.db import Connection, Row
from sigservice.repository.projects import environments
from sigservice.repository.rules import metric_sources
from sigservice.repository.signals import signal_endpoints
from sigservice.repository.usage import impact_metrics
from sigservice.routes.admin.rules.alert_rules import check_query, preview_condition
from sigservice.routes.pages.rules.alert_rules import (
    BREADCRUMBS,
    NOTICES,
    ONE,
    PATH,
    STATES,
    describe_state,
)
from sigservice.routes.pages.rules.rule_fields import (
    LIMIT_FIELDS,
    METRIC_FIELDS,
    QUERY_FIELD,
    choose_units,
    make_unit_fields,
    read_units,
)
from sigservice.routes.pages.signals.cron_field import add_next_times
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.rules import alert_rules
from sigservice.services.rules.alert_rules import AlertRule
from sigservice.services.rules.rule_conditions import Condition, PrometheusQuery
from sigservice.services.rules.rule_preview import HOURS, preview_stored
from sigservice.web import Context, Page, PageGuard, Router, read_query, request
from sigservice.web.form_pages import shows_errors_in
from sigservice.web.forms import (
    NO_ENTRY,
    Entry,
    Field,
    Form,
    fill,
    format_pairs,
    make_choices,
    read,
    read_pairs,
    to_form,
)
from sigservice.web.sparkline import Point, build_line
from sigservice.wording import format_measure, plural, spell_duration

KIND, SHOWN_KIND = "source.kind", "shown_kind"
KINDS = {
    "impactMetric": "A metric of an application",
    "prometheus": "A Prometheus query",
    "silence": "Silence of an endpoint",
}
LIMITS = ("above", "below")
MORE = ("source.appName", "source.labels", "windowMinutes", "minSamples", "everySeconds", "enabled")
LIMIT_HINT = "One of the two limits, such as 5% of a ratio."
MAX_NAMES, MAX_PERIODS = 500, 10
CHART_LABEL = "Values of the last 48 hours, and the limit"
CHART_WIDTH, CHART_HEIGHT = 320, 96
BLANK = {
    "enabled": "on",
    KIND: "impactMetric",
    "source.measure": "ratio",
    "windowMinutes": "5",
    "minSamples": "50",
    "breaches": "2",
    "everySeconds": "30",
    "source.timezone": "UTC",
    "source.everyUnit": "hours",
    "source.graceSeconds": "0",
    "source.graceUnit": "minutes",
}

router = Router(PageGuard, notices=NOTICES)


@router.get(f"{PATH}/new", needs=ADMIN)
@router.get(ONE, needs=ADMIN)
def show_alert_rule(
    context: Context,
    identity: Identity,
    rule_id: int | None = None,
    entry: Entry = NO_ENTRY,
    preview: Mapping[str, Any] | None = None,
) -> Page:
    now = context.clock.now()
    with context.database.transaction() as conn:
        row = None if rule_id is None else alert_rules.get(conn, rule_id)
        choices = _list_choices(conn)
        names = impact_metrics.list_names(conn, limit=MAX_NAMES)
        if row and not entry.form:
            condition = alert_rules.read_condition(row)
            is_query = isinstance(condition.source, PrometheusQuery)
            preview = None if is_query else preview_stored(conn, condition, now)
    form = entry.form or (_to_form(row) if row else _make_new_form(choices))
    heading = f"Alert rule {row['name']}" if row else "New alert rule"
    return Page(
        "rules/alert_rules/form",
        title=heading,
        breadcrumbs=BREADCRUMBS,
        row=row,
        badge=describe_state(row) if row else None,
        has_endpoints=bool(choices["endpoints"]),
        kind=_make_kind_field(form),
        fields=fill(_make_fields(form, choices), form),
        has_sources=bool(choices["sources"]),
        is_query=_is_query(form),
        names=names,
        preview=_describe_preview(preview, form, now) if preview else None,
    )


@router.post(f"{PATH}/new", needs=ADMIN)
@router.post(ONE, needs=ADMIN)
@shows_errors_in(show_alert_rule)
def save_alert_rule(
    context: Context, identity: Identity, form: Form, rule_id: int | None = None
) -> Page | str:
    if form.get("do") == "source" or form.get(SHOWN_KIND) != form.get(KIND):
        return show_alert_rule(context, identity, rule_id, Entry(form))
    source: dict[str, Any] = {} if _find_kind(form) == "silence" else {"source": _read_source(form)}
    texts = _read_percentages(read_units(form))
    if form.get("do") == "preview":
        preview = preview_condition(context, read(texts, Condition, **source))
        return show_alert_rule(context, identity, rule_id, Entry(form), preview)
    body, now = read(texts, AlertRule, **source), context.clock.now()
    check_query(context, body)
    with context.database.transaction() as conn:
        if rule_id is None:
            limit = context.config["signals"]["alertRulesLimit"]
            row = alert_rules.create(conn, body, identity, limit=limit, now=now)
        else:
            row = alert_rules.update(conn, rule_id, body, identity, now=now)
    context.signals_waiting.set()
    done = "created" if rule_id is None else "saved"
    return f"{PATH}/{row['id']}?done={done}"


def _list_choices(conn: Connection) -> dict[str, Any]:
    return {
        "endpoints": [(str(row["id"]), row["name"]) for row in signal_endpoints.list_all(conn)],
        "environments": make_choices(row["name"] for row in environments.list_all(conn)),
        "sources": make_choices(row["name"] for row in metric_sources.list_all(conn)),
    }


def _make_new_form(choices: Mapping[str, Any]) -> Form:
    """The query may name an endpoint, or one whose silence fires the rule."""
    silent = read_query(request.environ).get("silence", "")
    if silent in dict(choices["endpoints"]):
        name = f"{dict(choices['endpoints'])[silent]}-silence"
        return BLANK | {KIND: "silence", "source.endpointId": silent, "name": name}
    return BLANK | {
        "endpointId": read_query(request.environ).get("endpoint", "")
        or (choices["endpoints"][0][0] if len(choices["endpoints"]) == 1 else "")
    }


def _to_form(row: Row) -> Form:
    rule = alert_rules.describe_settings(row)
    labels = rule["source"].pop("labels", {})
    form = to_form(rule) | {"source.labels": format_pairs(labels)}
    if rule["source"].get("measure") == "ratio":
        limits = {name: Decimal(form[name]) * 100 for name in LIMITS if form.get(name)}
        form |= {name: f"{limit.normalize():f}%" for name, limit in limits.items()}
    return choose_units(form) if rule["source"]["kind"] == "silence" else form


def _read_percentages(form: Form) -> Form:
    """The form with `5%` as `0.05`. What isn't a number stays: its field is wrong."""
    texts: Form = {}
    for name in LIMITS:
        number, sign, rest = form.get(name, "").strip().partition("%")
        if sign and not rest:
            with suppress(ArithmeticError):
                texts[name] = str(Decimal(number.replace(",", ".")) / 100)
    return form | texts


def _find_kind(form: Form) -> str:
    kind = form.get(KIND, "")
    return kind if kind in KINDS else "impactMetric"


def _is_query(form: Form) -> bool:
    return _find_kind(form) == "prometheus"


def _make_kind_field(form: Form) -> Field:
    attributes = {"data-press": "change-source"}
    choices = list(KINDS.items())
    return Field(
        KIND, "Measures", _find_kind(form), "select", choices=choices, attributes=attributes
    )


def _make_general_fields(endpoints: Sequence[tuple[str, str]], kind: str) -> list[Field]:
    is_silence = kind == "silence"
    hint = "Stores the signals of the rule; action sets match them there."
    return [
        Field("name", "Name", is_required=True, hint="Letters, digits, and - . _ ~"),
        Field(
            "endpointId",
            "Signal endpoint",
            type="select",
            choices=[("", "–"), *endpoints],
            hint="Empty: the silent one. It stores the signals of the rule."
            if is_silence
            else hint,
            is_required=not is_silence,
        ),
        Field("enabled", "Enabled", type="checkbox"),
    ]


def _make_fields(form: Form, choices: Mapping[str, Any]) -> list[Field]:
    """What is measured, when it fires, and the name; what is set rarely is folded."""
    kind = _find_kind(form)
    fields = [
        *_make_source_fields(form, choices),
        *([] if kind == "silence" else LIMIT_FIELDS),
        *_make_general_fields(choices["endpoints"], kind),
    ]
    return [
        replace(field, is_more=field.name in MORE, hint=LIMIT_HINT)
        if field.name == "above"
        else replace(field, is_more=field.name in MORE)
        for field in fields
    ]


def _make_source_fields(form: Form, choices: Mapping[str, Any]) -> list[Field]:
    if _find_kind(form) == "silence":
        name, label, values = "source.endpointId", "Endpoint", choices["endpoints"]
        others = add_next_times(make_unit_fields(), form, "source.")
    elif _is_query(form):
        name, label, others = "source.source", "Metric source", [QUERY_FIELD]
        values = choices["sources"]
    else:
        name, label, others = "source.environment", "Environment", METRIC_FIELDS
        values = choices["environments"]
    current = form.get(name, "")
    if current and current not in dict(values):  # it was deleted
        values = [(current, current), *values]
    return [Field(name, label, type="select", choices=values), *others]


def _read_source(form: Form) -> dict[str, Any]:
    """The member `source` of the API. Raises BadDataError."""
    names = ("source", "query") if _is_query(form) else ("metric", "measure", "environment")
    source: dict[str, Any] = {name: form.get(f"source.{name}", "").strip() for name in names}
    if not _is_query(form):
        optional = {
            name: form.get(f"source.{name}", "").strip() or None for name in ("per", "appName")
        }
        source |= optional | {"labels": read_pairs(form, "source.labels")}
    return source | {"kind": _find_kind(form)}


def _describe_preview(preview: Mapping[str, Any], form: Form, now: datetime) -> dict[str, Any]:
    """The preview with a `chart`, the `points` of its table and the `periods` in which it fires."""
    source = {name: form.get(f"source.{name}", "") for name in ("measure", "metric")}
    source = source if _find_kind(form) == "impactMetric" else {}
    start = now - timedelta(hours=HOURS)
    points = [
        point
        | {
            "time": parse_iso(point["at"]),
            "text": "" if point["value"] is None else format_measure(point["value"], source),
        }
        for point in preview["series"]
    ]
    line = [Point((p["time"] - start) / timedelta(hours=HOURS), p["value"]) for p in points]
    periods = _list_periods(points)
    count = sum(point["value"] is not None for point in points)
    return {
        **preview,
        "state_text": STATES[preview["state"]][0],
        "points": points[::-1],
        "sentence": _say_periods(periods),
        "limit_text": format_measure(preview["limit"] or 0, source),
        "periods": periods[: -MAX_PERIODS - 1 : -1],
        "has_values": count > 0 and preview["limit"] is not None,
        "gaps": len(points) - count,
        "chart": build_line(
            CHART_LABEL,
            line,
            preview["limit"] or 0.0,
            bands=[
                tuple((period[end] - start) / timedelta(hours=HOURS) for end in ("start", "stop"))
                for period in periods
            ],
            width=CHART_WIDTH,
            height=CHART_HEIGHT,
        ),
    }


def _say_periods(periods: Sequence[Mapping[str, Any]]) -> str:
    """Such as `It would have fired 2 times, 1 h 12 min in all.`"""
    total = sum((period["stop"] - period["start"] for period in periods), timedelta())
    end = f", {spell_duration(total)} in all" if periods else ""
    return f"It would have fired {plural(len(periods), 'time')}{end}."


def _list_periods(points: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """{start, stop} of each time in which the rule fires. A point of an hour is about the hour
    before it; another one counts until the next."""
    last, periods = len(points) - 1, []
    for is_firing, group in groupby(range(len(points)), lambda n: bool(points[n]["firing"])):
        if is_firing:
            numbers = [*group]
            first, final = numbers[0], numbers[-1]
            start = points[first - 1 if _is_of_hour(points, first) else first]["time"]
            stop = points[final if _is_of_hour(points, final) else min(final + 1, last)]["time"]
            periods.append({"start": start, "stop": stop, "is_present": final == last})
    return periods


def _is_of_hour(points: Sequence[Mapping[str, Any]], number: int) -> bool:
    gap = points[number]["time"] - points[max(0, number - 1)]["time"]
    return bool(gap >= timedelta(hours=1))
