"""The client of a remote server that is slow, fails or doesn't respond."""

from __future__ import annotations

import io

import pytest

from sigservice.commands.transfer.progress import Progress
from sigservice.commands.transfer.remote_client import RemoteClient
from sigservice.config import load_config
from sigservice.errors import StartError
from sigservice.outgoing.proxies import Proxies
from tests.table_tests import each

TOKEN = "*:*.secret-token-of-the-peer"


@pytest.fixture
def fetch(peer):
    def get(*parts):
        return RemoteClient(peer.url, TOKEN, pause=0).get(*parts)

    return get


def test_a_request_has_the_token_and_a_quoted_path(peer, fetch):
    peer.answers["projects/a%2Fb%3F"] = {"x": 1}
    assert fetch("projects", "a/b?") == {"x": 1}
    ((path, headers),) = peer.requests
    assert (path, headers["Authorization"]) == ("/api/admin/projects/a%2Fb%3F", TOKEN)


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_is_retried(peer, fetch, status):
    peer.answers["x"] = [(status, {}, {}), (status, {}, {}), (200, {}, [1])]
    assert fetch("x") == [1]
    assert len(peer.requests) == 3


@pytest.mark.parametrize(("retry_after", "seconds"), [("7", 7), ("86400", 60)])
def test_retry_after_is_honored_up_to_a_minute(peer, fetch, monkeypatch, retry_after, seconds):
    pauses = []
    monkeypatch.setattr("urllib3.util.retry.time.sleep", pauses.append)
    peer.answers["x"] = [(429, {"Retry-After": retry_after}, {}), (200, {}, [])]
    fetch("x")
    assert pauses == [seconds]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ((401, {}, {}), "rejected the token"),
        ((403, {}, {}), "status 403"),
        ((500, {}, {"message": TOKEN}), "status 500"),
        ((301, {"Location": "http://elsewhere.example/"}, {}), "redirects to another URL"),
        ((200, {}, b"<html>"), "could not be read"),
        ((200, {}, b'"\\u0000"'), "could not be read"),
        ((503, {}, {}), "status 503"),
    ],
)
def test_an_error_is_one_line_without_the_token(peer, fetch, answer, text):
    peer.answers["x"] = [answer]
    with pytest.raises(StartError) as error:
        fetch("x")
    assert text in str(error.value)
    assert TOKEN not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_path_is_none(peer):
    client = RemoteClient(peer.url, TOKEN)
    for status in (400, 403, 404, 405):
        peer.answers["x"] = [(status, {}, {})]
        assert client.find("x") is None
    peer.answers["x"] = [(500, {}, {})]
    with pytest.raises(StartError):
        client.find("x")


def test_an_unreachable_server_is_an_error():
    with pytest.raises(StartError, match="could not be read") as error:
        RemoteClient("http://127.0.0.1:9", TOKEN, pause=0).get("projects")
    assert TOKEN not in str(error.value)


@each(
    "url", ["", "ftp://x", "x.example", "http://", "http://u:p@x", "http://[::1", "http://x:99999"]
)
def test_an_invalid_url_is_rejected(url):
    with pytest.raises(StartError, match="--from"):
        RemoteClient(url, TOKEN)


@pytest.mark.parametrize("token", ["", " ", "a\nb", "tök"])
def test_an_invalid_token_is_rejected(token):
    with pytest.raises(StartError, match="token"):
        RemoteClient("http://127.0.0.1:9", token)


@pytest.mark.parametrize("end", ["", "/", "/api", "/api/", "/api/admin"])
def test_the_url_may_end_with_api(peer, end):
    peer.answers["x"] = []
    RemoteClient(peer.url + end, TOKEN).get("x")
    assert peer.requests[0][0] == "/api/admin/x"


def test_the_proxy_of_the_environment_is_used(peer):
    environ = {"http_proxy": peer.url.replace("//", "//me:secret@"), "NO_PROXY": "127.0.0.1"}
    proxies = Proxies.from_config(load_config(None, environ).config)
    with pytest.raises(StartError, match="404"):
        RemoteClient("http://flags.example", TOKEN, proxies=proxies).get("projects")
    path, headers = peer.requests[0]
    assert path == "http://flags.example/api/admin/projects"
    assert headers["Proxy-Authorization"].startswith("Basic ")
    peer.answers["x"] = []
    RemoteClient(peer.url, TOKEN, proxies=proxies).get("x")
    assert peer.requests[-1][0] == "/api/admin/x"


def test_parallel_results_keep_their_order(peer):
    client = RemoteClient(peer.url, TOKEN)
    peer.answers = {str(n): [n] for n in range(20)}
    done = []
    calls = [lambda n=n: client.get(str(n)) for n in range(20)]
    assert client.run_parallel(calls, lambda: done.append(1)) == [[n] for n in range(20)]
    assert len(done) == 20


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_a_bar_on_a_terminal_and_a_line_in_a_log():
    for stream, expected in ((Terminal(), "] 2/2\n"), (io.StringIO(), "flags: 2\n")):
        progress = Progress(stream)
        progress.start_stage("flags", 2)
        progress.advance()
        progress.advance()
        progress.finish()
        assert stream.getvalue().endswith(expected)
        assert ("\r" in stream.getvalue()) is stream.isatty()
