"""The export of signals: both formats, filters, parts, and what spreadsheets must not run."""

from __future__ import annotations

import csv
import io
import json
import threading

import pytest

from sigservice.errors import UnavailableError
from sigservice.services.signals import signal_export
from sigservice.web import streamed_files
from tests.conftest import ADMIN
from tests.routes.admin.signals.test_signal_endpoints import PATH
from tests.table_tests import each

FORMULAS = ("=1+1", "+1-cmd|", "-2+3", "@SUM(1)", '=HYPERLINK("x")')


@pytest.fixture
def endpoint(admin):
    return admin.post(PATH, {"name": "alerts"}, 201)


@pytest.fixture
def send(admin, endpoint):
    """`send(payload)` returns the ID of the signal."""

    def post(payload):
        path = f"{PATH}/{endpoint['id']}/test-signal"
        return admin.post(path, {"payload": payload}, 201)["id"]

    return post


@pytest.fixture
def export(web, endpoint):
    """`export(**query)` returns the response."""

    def get(expected_status=200, **query):
        path = f"{PATH}/{endpoint['id']}/export"
        return web.get(path, query, headers=ADMIN, status=expected_status)

    return get


def read_lines(answer):
    return [json.loads(line) for line in answer.text.splitlines()]


def read_csv(answer):
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


def configure(admin, endpoint, *fields, **more):
    summary = [{"label": label, "path": path} for label, path in fields]
    body = {"name": "alerts", "options": {"summary": summary} | more}
    admin.put(f"{PATH}/{endpoint['id']}", body)


def test_ndjson_has_the_signals_of_the_list(admin, clock, endpoint, send, export):
    for n in range(3):
        send({"n": n})
    answer = export()
    assert answer.content_type == "application/x-ndjson"
    name = f"signals-alerts-{clock.now():%Y-%m-%d}.ndjson"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}"'
    signals = admin.get(f"{PATH}/{endpoint['id']}/signals")["signalEndpointSignals"]
    assert read_lines(answer) == signals


def test_csv_has_a_column_for_each_field_of_the_summary(admin, endpoint, send, export):
    configure(admin, endpoint, ("Team", "team"), ("Host", "host"))
    send({"team": 'a "b", c', "status": "firing", "severity": "page"})
    send(["é", None])
    answer = export(format="csv")
    assert answer.content_type == "text/csv"
    assert answer.headers["Content-Disposition"].endswith('.csv"')
    newest, oldest = read_csv(answer)
    header = "id createdAt token sentBy status severity Team Host payload"
    assert list(newest) == header.split()
    assert (oldest["Team"], oldest["Host"], oldest["status"]) == ('a "b", c', "", "firing")
    assert (oldest["severity"], oldest["token"]) == ("critical", "")
    assert json.loads(newest["payload"]) == ["é", None]
    assert answer.body.count(b"\r\n") == 3


def test_payload_with_line_breaks_is_one_line(web, make, export, endpoint, admin):
    token = admin.post(f"{PATH}/{endpoint['id']}/tokens", {"name": "ci"}, 201)
    web.post(
        "/api/signal-endpoint/alerts",
        '{\r\n  "a": "x\\n"\n}',
        headers={"Authorization": token["token"]},
        content_type="application/json",
    )
    assert [line["payload"] for line in read_lines(export())] == [{"a": "x\n"}]


@each("text", FORMULAS)
def test_no_cell_is_a_formula(admin, endpoint, send, export, text):
    configure(admin, endpoint, (text, "cell"))
    send({"cell": text})
    row = read_csv(export(format="csv"))[0]
    assert row["'" + text] == "'" + text


def test_negative_number_is_not_changed(admin, endpoint, send, export):
    configure(admin, endpoint, ("N", "n"))
    send({"n": -5.5})
    send(-5)
    newest, oldest = read_csv(export(format="csv"))
    assert (oldest["N"], newest["payload"]) == ("-5.5", "-5")


@pytest.mark.parametrize("format", signal_export.FORMATS)
def test_export_has_every_part_and_all_that_match(send, export, monkeypatch, format):
    monkeypatch.setattr(signal_export, "PART", signal_export.PART._replace(rows=2))
    ids = [send({"n": n, "odd": bool(n % 2)}) for n in range(9)]
    read = read_csv if format == "csv" else read_lines
    assert [int(row["id"]) for row in read(export(format=format))] == ids[::-1]
    rows = read(export(format=format, path="odd", value="true", query="n"))
    assert [int(row["id"]) for row in rows] == ids[1::2][::-1]
    assert read(export(format=format, status="firing")) == []


def test_export_waits_while_the_database_is_busy(service, send, export, monkeypatch):
    monkeypatch.setattr(signal_export, "PART", signal_export.PART._replace(rows=1))
    monkeypatch.setattr(streamed_files, "RETRY_SECONDS", 0.01)
    ids = [send(n) for n in range(3)]
    failures = iter([True, True, False, True, False])
    transaction = service.context.database.transaction
    first = threading.Event()

    def busy(**options):
        if first.is_set() and next(failures, False):
            raise UnavailableError("The service is busy. Try again.")
        if options.get("is_slow"):
            first.set()
        return transaction(**options)

    monkeypatch.setattr(service.context.database, "transaction", busy)
    assert [line["id"] for line in read_lines(export())] == ids[::-1]


@each("query", [{"format": "xml"}, {"path": "a..b"}, {"tokenId": "x"}, {"from": "2026"}])
def test_invalid_parameter_is_named(export, query):
    answer = export(400, **query)
    assert answer.json["details"][0]["path"] == next(iter(query))


def test_export_of_an_unknown_endpoint_is_not_found(admin):
    admin.ask("GET", f"{PATH}/999/export", status=404)
