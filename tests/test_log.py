"""Lines of the log as JSON objects."""

from __future__ import annotations

import json
import logging
import re
from typing import Any

import pytest
import webtest

from sigservice.log import LogForwarder, NamedFormat, build_line_loggers, log_error
from tests.conftest import ADMIN
from tests.server.process import make_database_environ, run_service
from tests.waiting import until

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


def read_lines(text: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        assert re.fullmatch(TIME, line["time"])
        assert {"level", "logger", "message"} <= set(line)
    return lines


@pytest.mark.external
def test_every_line_of_a_process_is_an_object(database):
    environ = make_database_environ(database.options()) | {
        "LOG_FORMAT": "json",
        "LOG_LEVEL": "debug",
        "REQUEST_LOGGER_ENABLE": "true",
    }
    with run_service(environ) as service:
        service.request("GET", "/health?token=s3cret")
        service.request("DELETE", "/api/admin/api-tokens/*:*.s3cret%0A")
        requests = until(
            lambda: (
                len(x := [x for x in read_lines(service.stderr) if x["logger"] == "HTTP"]) > 1 and x
            ),
            "both requests in the log",
        )
        assert "s3cret" not in service.stderr
        assert {"server", "HTTP"} <= {line["logger"] for line in read_lines(service.stderr)}
    first, second = ({key: line[key] for key in line if key != "time"} for line in requests)
    assert first == {
        "level": "info",
        "logger": "HTTP",
        "message": "200 GET /health",
        "status": 200,
        "method": "GET",
        "path": "/health",
    }
    assert second["path"] == "/api/admin/api-tokens/(hidden)"


def test_an_unexpected_error_has_its_traceback_in_a_field(make_service, capsys):
    def add_route(root):
        root.get("/broken", callback=lambda: 1 / 0)

    service = make_service({"logFormat": "json", "preRouterHook": add_route})
    webtest.TestApp(service.app).get("/broken", headers=ADMIN, status=500)
    (line,) = read_lines(capsys.readouterr().err)
    assert re.fullmatch(
        r"500 \w+ on /broken \([0-9a-f-]{36}\): ZeroDivisionError", line["message"]
    ), line["message"]
    assert line["level"] == "error"
    assert line["exception"].startswith("Traceback (most recent call last):\n")
    assert line["exception"].endswith("ZeroDivisionError: division by zero\n")


@pytest.mark.parametrize(
    "text", ['say "hi"', "two\nlines\r\x1b[2J", "\u2028\x85", "\udcff é", "%s"]
)
def test_any_text_stays_one_line(capsys, text):
    logger = build_line_loggers("info", form="json")("test")
    logger.info("%s", text)
    logger.info(text)
    output = capsys.readouterr().err
    assert output.count("\n") == 2
    assert output.isascii()
    assert [line["message"] for line in read_lines(output)] == [text, text]


def test_named_arguments_and_causes_are_fields(capsys):
    logger = build_line_loggers("info", form="json")("HTTP")
    logger.info(NamedFormat("%s %s", "status", "path"), 200, "/")
    logger.debug("not written")
    try:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise ValueError("outer") from error
    except ValueError as error:
        log_error(logger, "100% failed", error, "17")
    request, failure = read_lines(capsys.readouterr().err)
    assert (request["status"], request["path"], request["message"]) == (200, "/", "200 /")
    assert failure["message"] == "100% failed (17): ValueError"
    assert "KeyError: 'inner'" in failure["exception"]
    assert "ValueError: outer" in failure["exception"]


def test_records_of_the_standard_module_have_the_same_form(capsys):
    forwarder = LogForwarder(build_line_loggers("info", form="json")("server"))
    forwarder.emit(logging.makeLogRecord({"msg": "no %s", "args": ("socket",), "levelno": 40}))
    (line,) = read_lines(capsys.readouterr().err)
    assert (line["level"], line["logger"], line["message"]) == ("error", "server", "no socket")
