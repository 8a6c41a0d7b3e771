"""`sigservice send` against servers that fail, and against the service."""

from __future__ import annotations

import argparse
import contextlib
import http.client
import io
import json
import os
import subprocess
import sys
import threading
from datetime import timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sigservice.commands import send as send_command
from sigservice.testing import FakeClock
from tests.receiver import CERTIFICATE, receiving
from tests.server.process import OPEN_LIMITS, make_database_environ, run_command, run_service
from tests.table_tests import each

TOKEN = "signal_secret-of-the-test"
STORED = b'{"signals": [{"id": 7, "payload": {"caf\xc3\xa9": 1}}]}'


class SleepingClock(FakeClock):
    """Time passes only in pauses, which are listed."""

    def __init__(self):
        super().__init__()
        self.pauses = []

    def sleep(self, seconds):
        self.pauses.append(seconds)
        self.advance(seconds)


@pytest.fixture
def clock():
    return SleepingClock()


@pytest.fixture
def receiver():
    with receiving() as one:
        one.answers, one.body = [(200, {})], STORED
        yield one


@pytest.fixture
def send(receiver, clock, capsysbinary):
    """`send("deploys", "--json", "{}")`: (exit code, output, errors)."""

    def run(*arguments, url=receiver.url, **environ):
        parser = argparse.ArgumentParser()
        send_command.add_arguments(parser)
        variables = {"SIGNAL_URL": url, "SIGNAL_TOKEN": TOKEN} | environ
        code = send_command.run_command(
            parser.parse_args(arguments), variables, clock=clock, sleep=clock.sleep
        )
        output, errors = (text.decode() for text in capsysbinary.readouterr())
        assert TOKEN not in output + errors
        return code, output, errors

    return run


def test_a_signal_is_sent_with_token_and_key(send, receiver):
    assert send("deploys/eu", "--json", '{"x":  1}', url=receiver.url + "/base/") == (0, "7\n", "")
    (request,) = receiver.requests
    assert request.path == "/base/api/signal-endpoint/deploys%2Feu"
    assert request.body == b'{"x":  1}'
    assert request.headers["Authorization"] == f"Bearer {TOKEN}"
    assert request.headers["Content-Type"] == "application/json"
    assert len(request.headers["Idempotency-Key"]) == 36


def test_the_endpoint_can_be_a_url(send, receiver):
    assert send(f"{receiver.url}/other/deploys?a=b", url="")[0] == 0
    assert receiver.requests[0].path == "/other/deploys?a=b"


def test_each_command_has_its_own_key(send, receiver):
    send("deploys")
    send("deploys")
    send("deploys", "--idempotency-key", "run 17")
    keys = [request.headers["Idempotency-Key"] for request in receiver.requests]
    assert len(set(keys)) == 3
    assert keys[2] == "run 17"


def test_the_output_can_be_the_response_or_nothing(send, receiver):
    assert send("deploys", "--format", "json")[1] == STORED.decode() + "\n"
    assert send("deploys", "--quiet") == (0, "", "")
    receiver.answers = [(503, {}), (200, {})]
    assert send("deploys", "--quiet") == (0, "", "")


def test_the_payload_comes_from_a_file_or_from_standard_input(
    send, receiver, tmp_path, monkeypatch
):
    file = tmp_path / "payload.json"
    file.write_text('{"from": "file"}')
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'["stdin"]')))
    assert send("deploys", "--json", f"@{file}")[0] == 0
    assert send("deploys", "--json", "-")[0] == 0
    assert send("deploys")[0] == 0
    bodies = [request.body for request in receiver.requests]
    assert bodies == [b'{"from": "file"}', b'["stdin"]', b"{}"]


def test_fields_become_strings_that_can_not_break_the_json(send, receiver):
    fields = ("type=deploy", 'data.branch=a"b=c', "data.app.name=shop", "note=")
    assert send("deploys", *(part for field in fields for part in ("--field", field)))[0] == 0
    assert json.loads(receiver.requests[0].body) == {
        "type": "deploy",
        "data": {"branch": 'a"b=c', "app": {"name": "shop"}},
        "note": "",
    }


def test_a_busy_service_is_retried_after_the_time_that_it_requests(send, receiver, clock):
    receiver.answers = [(503, {"Retry-After": "7"}), (429, {"Retry-After": "2"}), (200, {})]
    code, output, errors = send("deploys")
    assert (code, output) == (0, "7\n")
    first, second = clock.pauses
    assert 7.5 <= first <= 8  # and a random part of the backoff
    assert 3 <= second <= 4
    assert errors.count("Trying again in") == 2
    assert len({request.headers["Idempotency-Key"] for request in receiver.requests}) == 1
    assert len({request.body for request in receiver.requests}) == 1


def test_retry_after_may_be_a_date(send, receiver, clock):
    at = format_datetime(clock.now() + timedelta(seconds=20), usegmt=True)
    receiver.answers = [(503, {"Retry-After": at}), (200, {})]
    assert send("deploys")[0] == 0
    assert 19 <= clock.pauses[0] <= 21


@pytest.mark.parametrize("retry_after", ["86400", "Fri, 01 Jan 2999 00:00:00 GMT"])
def test_retry_after_is_capped(send, receiver, clock, retry_after):
    receiver.answers = [(503, {"Retry-After": retry_after}), (200, {})]
    assert send("deploys")[0] == 0
    assert 60 <= clock.pauses[0] <= 61


@pytest.mark.parametrize("retry_after", ["", "soon", "-3", "Fri, 01 Jan 1999 00:00:00 GMT"])
def test_an_invalid_or_past_retry_after_is_ignored(send, receiver, clock, retry_after):
    receiver.answers = [(503, {"Retry-After": retry_after}), (200, {})]
    assert send("deploys")[0] == 0
    assert 0.5 <= clock.pauses[0] <= 1


@each("status", [429, 500, 502, 503, 504, 0])
def test_pauses_grow_until_the_command_gives_up(send, receiver, clock, status):
    receiver.answers = [(status, {})]
    receiver.requests.clear()
    clock.pauses.clear()
    code, _, errors = send("deploys", "--retries", "6")
    assert code == 1
    assert len(receiver.requests) == 7
    for pause, longest in zip(clock.pauses, (1, 2, 4, 8, 16, 30), strict=True):
        assert longest / 2 <= pause <= longest
    assert "Gave up after attempt 7." in errors


def test_the_time_for_all_attempts_is_limited(send, receiver, clock):
    receiver.answers = [(503, {"Retry-After": "30"})]
    code, _, errors = send("deploys", "--max-time", "65")
    assert code == 1
    assert len(receiver.requests) == 3
    assert sum(clock.pauses) < 65
    assert "Gave up after attempt 3." in errors


def test_a_signal_that_was_stored_before_the_connection_closed_is_sent_with_the_same_key(
    send, receiver
):
    receiver.answers = [(0, {}), (200, {"Idempotency-Replayed": "true"})]
    assert send("deploys")[:2] == (0, "7\n")
    first, second = receiver.requests
    assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"]


@pytest.mark.parametrize("body", [b"<html>", b"{}", b'{"signals": [{"id": 7', b"[]"])
def test_a_response_without_an_id_is_no_success(send, receiver, body):
    receiver.body = body
    code, output, errors = send("deploys", "--retries", "1")
    assert (code, output) == (1, "")
    assert "it isn't from a signal endpoint" in errors
    assert len(receiver.requests) == 2


def test_a_rejected_signal_is_not_retried(send, receiver):
    receiver.body = b'{"message": "Invalid token.\\u001b[31m"}'
    for status in (400, 401, 404, 405, 409, 413, 415, 204):
        receiver.answers = [(status, {})]
        code, output, errors = send("deploys")
        assert (code, output) == (1, "")
        if status != 204:
            assert f"status {status}: Invalid token." in errors
        assert len(errors.splitlines()) == 1
        assert "\x1b" not in errors
    assert len(receiver.requests) == 8


def test_a_redirect_is_not_followed(send, receiver):
    receiver.answers = [(307, {"Location": f"{receiver.url}/elsewhere"})]
    code, _, errors = send("deploys")
    assert code == 1
    assert "redirects (307)" in errors
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_service_that_is_not_there_is_retried(send, clock, host):
    code, output, errors = send("deploys", "--retries", "2", url=f"http://{host}:9")
    assert (code, output) == (1, "")
    assert errors.count("Connection failed") == 3
    assert len(clock.pauses) == 2


def test_a_slow_service_is_not_waited_for(send, receiver):
    receiver.hold, receiver.body = threading.Event(), b""
    try:
        code, _, errors = send("deploys", "--timeout", "0.2", "--retries", "1")
    finally:
        receiver.hold.set()
    assert code == 1
    assert errors.count("No response within") == 2


def test_tls_is_verified_with_the_given_authorities(send, clock):
    with receiving("https") as receiver:
        receiver.answers, receiver.body = [(200, {})], STORED
        code, _, errors = send("deploys", "--retries", "0", url=receiver.url)
        assert code == 1
        assert "TLS failed" in errors
        assert send("deploys", "--ca-file", str(CERTIFICATE), url=receiver.url)[0] == 0


def test_the_proxy_of_the_environment_is_used(send, receiver):
    arguments, url = ("deploys", "--retries", "0"), "http://flags.example"
    assert (
        send(*arguments, url=url, HTTP_PROXY="http://127.0.0.1:9", http_proxy=receiver.url)[0] == 0
    )
    assert receiver.requests[0].path == "http://flags.example/api/signal-endpoint/deploys"
    assert send(*arguments, http_proxy="http://127.0.0.1:9", NO_PROXY="127.0.0.1")[0] == 0
    assert send(*arguments, http_proxy="http://127.0.0.1:9")[0] == 1


INVALID = [
    (("--json", '{"x": NaN}'), {}, "not valid JSON"),
    (("--json", "{'x': 1}"), {}, "not valid JSON"),
    (("--json", ""), {}, "not valid JSON"),
    (("--json", '"\\u0000"'), {}, "NUL"),
    (("--json", "[" * 65 + "]" * 65), {}, "nested deeper"),
    (("--json", "@/does/not/exist"), {}, "could not be read"),
    (("--field", "x"), {}, "NAME=VALUE"),
    (("--field", "=1"), {}, "NAME=VALUE"),
    (("--field", "a..b=1"), {}, "NAME=VALUE"),
    (("--field", "a=1", "--field", "a.b=1"), {}, "NAME=VALUE"),
    (("--field", "a=1", "--field", "a=2"), {}, "occurs twice"),
    (("--field", "a=\udcff"), {}, "UTF-8"),
    ((), {"SIGNAL_TOKEN": " "}, "token is missing"),
    ((), {"SIGNAL_TOKEN": "two\nlines"}, "one line"),
    ((), {"SIGNAL_TOKEN": "tök"}, "ASCII"),
    (("--token-file", "/does/not/exist"), {}, "could not be read"),
    ((), {"SIGNAL_URL": ""}, "set SIGNAL_URL or --url"),
    (("--url", "ftp://flags.example"), {}, "https:// or http://"),
    (("--url", "flags.example"), {}, "https:// or http://"),
    (("--url", "http://me:pass@flags.example"), {}, "username or password"),
    (("--url", "http://[::1"), {}, "not a valid URL"),
    (("--idempotency-key", "a\nb"), {}, "--idempotency-key"),
    (("--idempotency-key", " "), {}, "--idempotency-key"),
    (("--timeout", "0"), {}, "--timeout"),
    (("--timeout", "nan"), {}, "--timeout"),
    (("--max-time", "inf"), {}, "--max-time"),
    (("--retries", "-1"), {}, "--retries"),
    (("--ca-file", "/does/not/exist"), {}, "--ca-file"),
    (("--ca-file", __file__), {}, "--ca-file"),
]


@each("row", INVALID)
def test_invalid_usage_sends_nothing(send, receiver, row):
    arguments, environ, text = row
    code, output, errors = send("deploys", *arguments, **environ)
    assert (code, output) == (2, "")
    assert text in errors
    assert len(errors.splitlines()) == 1
    assert receiver.requests == []


def test_the_token_of_a_file_overrides_the_variable(send, receiver, tmp_path):
    file = tmp_path / "token"
    file.write_text("signal_of-the-file\n")
    assert send("deploys", "--token-file", str(file))[0] == 0
    assert receiver.requests[0].headers["Authorization"] == "Bearer signal_of-the-file"


@contextlib.contextmanager
def losing_first_response(port):
    """The URL of a relay to the port that closes the first connection instead of responding."""
    responses = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as conn:
                conn.request("POST", self.path, body, dict(self.headers))
                response = conn.getresponse()
                responses.append(response.read())
            if len(responses) > 1:
                self.send_response(response.status)
                self.end_headers()
                self.wfile.write(responses[-1])

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.external
def test_the_service_stores_the_signal_once(database):
    with run_service(OPEN_LIMITS | make_database_environ(database.options())) as process:
        endpoint, token = process.create_sender()
        environ = os.environ | {
            "SIGNAL_URL": f"http://127.0.0.1:{process.port}",
            "SIGNAL_TOKEN": token,
        }
        done = run_command(["send", "deploys", "--json", "-"], environ, '{"type": "deploy"}')
        assert (done.returncode, done.stderr) == (0, "")
        path = f"/api/admin/signal-endpoints/{endpoint}/signals/{int(done.stdout)}"
        assert process.request("GET", path)[1]["payload"] == {"type": "deploy"}
        with losing_first_response(process.port) as url:
            lost = run_command(["send", "deploys"], environ | {"SIGNAL_URL": url})
        assert "connection was closed" in lost.stderr
        assert int(lost.stdout) == int(done.stdout) + 1  # stored once, by the first attempt
        path = f"/api/admin/signal-endpoints/{endpoint}/signals"
        assert len(process.request("GET", path)[1]["signalEndpointSignals"]) == 2
        done = run_command(["send", "deploys"], environ | {"SIGNAL_TOKEN": "signal_wrong"})
        assert done.returncode == 1
        assert "status 401: " in done.stderr


@pytest.mark.external
def test_usage_errors_and_help_are_those_of_argparse():
    assert run_command(["send"], os.environ).returncode == 2
    both = ["send", "deploys", "--json", "{}", "--field", "a=1"]
    assert run_command(both, os.environ).returncode == 2
    assert "Exit codes: 0" in run_command(["send", "--help"], os.environ).stdout
    assert "send a signal" in run_command(["--help"], os.environ).stdout


@pytest.mark.external
def test_the_command_does_not_import_the_service():
    """So that it starts in a fraction of the time."""
    script = (
        "import sys; from sigservice.__main__ import main; sys.argv[1:] = ['send', 'x'];"
        "code = main(); print(code, 'psycopg2' in sys.modules, 'bottle' in sys.modules,"
        "'sigservice.application.service' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env={}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "2 False False False\n"
