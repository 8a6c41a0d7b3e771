"""The configuration of the relay, its process, and what it imports."""

from __future__ import annotations

import contextlib
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sigservice.errors import ConfigError
from sigservice.relay.settings import load_settings
from tests.relay.conftest import CLIENT, FRONTEND, RelayKit, call
from tests.server.docs_pages import list_commands
from tests.server.process import ADDRESS, ROOT, find_free_port
from tests.waiting import DEADLINE_SECONDS, until

URL = {"RELAY_UPSTREAM_URLS": "https://flags.example.com/base/"}
IMPORTS = """
import sys
sys.modules["psycopg2"] = None
import sigservice.commands.relay, sigservice.relay.server
print([name for name in sys.modules if name.startswith(("psycopg2.", "sigservice.db"))])
print([name for name in sys.modules if name.startswith("sigservice.repository.")])
"""


@pytest.mark.parametrize(
    ("environ", "names"),
    [
        ({}, ["RELAY_UPSTREAM_URLS", "RELAY_TOKENS"]),
        ({"RELAY_UPSTREAM_URLS": "ftp://hunter2"}, ["RELAY_UPSTREAM_URLS", "RELAY_TOKENS"]),
        ({**URL, "RELAY_TOKENS": "hunter2"}, ["RELAY_TOKENS"]),
        ({**URL, "RELAY_TOKENS": ",".join([f"*:a.{n}" for n in range(101)])}, ["RELAY_TOKENS"]),
        (
            {"RELAY_UPSTREAM_URLS": "https://flags.example.com/api", "RELAY_TOKENS": CLIENT},
            ["RELAY_UPSTREAM_URLS"],
        ),
        ({**URL, "RELAY_TOKENS": CLIENT, "RELAY_TOKENS_FILE": "/x"}, ["RELAY_TOKENS_FILE"]),
        ({**URL, "RELAY_TOKENS_FILE": "/nonexistent/hunter2"}, ["RELAY_TOKENS_FILE"]),
        ({**URL, "RELAY_TOKENS": CLIENT, "HTTP_PORT": "hunter2"}, ["HTTP_PORT"]),
        (
            {**URL, "RELAY_TOKENS": CLIENT, "RELAY_REFRESH_INTERVAL_SECONDS": "0"},
            ["RELAY_REFRESH_INTERVAL_SECONDS"],
        ),
    ],
)
def test_every_invalid_variable_is_named_without_its_value(environ, names):
    with pytest.raises(ConfigError) as caught:
        load_settings(environ)
    assert sorted(line.partition(":")[0] for line in caught.value.problems) == sorted(names)
    assert "hunter2" not in str(caught.value)


def test_variables_of_the_service_alone_are_ignored():
    environ = {**URL, "RELAY_TOKENS": CLIENT, "EMAIL_PORT": "x", "DATABASE_URL": "x"}
    settings = load_settings(environ)
    assert settings.config["relay"]["upstreamUrl"] == "https://flags.example.com/base"
    assert settings.tokens == [CLIENT]


def test_unknown_variables_of_the_relay_are_warnings():
    """Such as those that other versions have."""
    environ = {**URL, "RELAY_TOKENS": CLIENT, "RELAY_STREAMING": "true"}
    (warning,) = load_settings(environ).warnings
    assert warning.startswith("RELAY_STREAMING is not a variable of this service")


def test_tokens_may_be_in_a_file(tmp_path: Path):
    (tmp_path / "tokens").write_text(f"{CLIENT}\n\n*:production.x\n")
    settings = load_settings(URL | {"RELAY_TOKENS_FILE": str(tmp_path / "tokens")})
    assert settings.tokens == [CLIENT, "*:production.x"]


def test_cors_origins_are_those_of_the_variable(fake, make_relay):
    relay = make_relay(fake.url, RELAY_CORS_ORIGINS="https://a.example")
    headers = relay.get("/api/frontend", Origin="https://a.example")[1]
    assert headers["access-control-allow-origin"] == "https://a.example"
    headers = relay.get("/api/frontend", Origin="https://b.example")[1]
    assert "access-control-allow-origin" not in headers


def test_the_base_path_is_served(fake, make_relay):
    relay = make_relay(fake.url, BASE_URI_PATH="/edge1")
    until(lambda: relay.get("/edge1/ready")[0] == 200, "the relay is ready")
    assert relay.get("/edge1/api/client/features", CLIENT)[0] == 200
    assert relay.get("/api/client/features", CLIENT)[0] == 404


@pytest.mark.parametrize(
    ("path", "body", "headers", "status"),
    [
        ("/api/frontend", b"{", {}, 400),
        ("/api/frontend", b"[]", {}, 400),
        ("/api/frontend", b'{"context": {"userId": NaN}}', {}, 400),
        ("/api/frontend", b"[" * 70 + b"]" * 70, {}, 400),
        ("/api/frontend", b" " * 102_401, {}, 413),
        ("/api/frontend", b"{}", {"Content_Type": "text/plain"}, 415),
        ("/api/frontend", b"{}", {"Content_Encoding": "br"}, 415),
        ("/api/frontend/%00", b"{}", {}, 400),
        ("/api/frontend/%ff", b"{}", {}, 400),
        ("/edge/validate", b"{", {}, 400),
    ],
)
def test_bad_input_is_refused(fake, make_relay, path, body, headers, status):
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    assert relay.list_toggles() == {"one"}
    assert relay.post(path, body, FRONTEND, **headers)[0] == status
    assert relay.list_toggles() == {"one"}


@pytest.mark.parametrize("headers", [{"Unleash_Client_Spec": "x"}, {"X": "y" * 40_000}])
def test_bad_headers_are_refused(fake, make_relay, headers):
    relay = make_relay(fake.url)
    relay.wait_until_ready()
    assert relay.get("/api/client/features", CLIENT, **headers)[0] in (400, 431)


def test_a_draining_relay_is_not_healthy(fake, make_relay):
    relay: RelayKit = make_relay(fake.url)
    relay.wait_until_ready()
    relay.context.draining.set()
    for path in ("/health", "/ready", "/internal-backstage/health", "/internal-backstage/ready"):
        assert relay.get(path)[0] == 503


@pytest.mark.external
def test_a_relay_runs_where_psycopg2_is_not_installed():
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.split("\n")[:2]) == (0, ["[]", "[]"]), done.stderr


def _read_page(url: str, token: str, port: int) -> dict[str, str]:
    """The variables of the command in docs/relay.md, with values of this test."""
    (command,) = list_commands("relay")
    *words, program, argument = shlex.split(command.code)
    assert (program, argument) == ("sigservice", "relay")
    values = {"RELAY_UPSTREAM_URLS": url, "RELAY_TOKENS": token, "HTTP_PORT": str(port)}
    assert [word.partition("=")[0] for word in words] == [*values]
    return values


@pytest.mark.external
def test_the_process_serves_and_stops_and_tells_problems(fake, tmp_path):
    command = [sys.executable, "-m", "sigservice", "relay"]
    failed = subprocess.run(
        command, cwd=ROOT, env={}, capture_output=True, text=True, timeout=DEADLINE_SECONDS
    )
    assert (failed.returncode, "RELAY_TOKENS: " in failed.stderr) == (2, True)
    environ = {
        "HTTP_HOST": "127.0.0.1",
        "LOG_LEVEL": "debug",
        "GRACEFUL_SHUTDOWN_DELAY": "0",
        **_read_page(fake.url, CLIENT, find_free_port()),
    }
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines: list[str] = []
    try:
        assert process.stdout is not None
        while not ADDRESS.search(lines[-1] if lines else ""):
            lines.append(process.stdout.readline())
            assert lines[-1]
        match = ADDRESS.search(lines[-1])
        assert match is not None
        url = f"http://127.0.0.1:{match[1]}"
        until(lambda: call(url, "GET", "/ready")[0] == 200, "the relay is ready")
        assert call(url, "GET", "/api/frontend", None, FRONTEND)[0] == 200
        second = subprocess.run(
            command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False
        )
        assert (second.returncode, "HTTP_PORT" in second.stderr) == (1, True)
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=DEADLINE_SECONDS)
        assert process.returncode == 0
        assert CLIENT.partition(".")[2] not in "".join(lines) + rest
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait()
