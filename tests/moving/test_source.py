"""The server that is moved from, when it is slow, cross or gone."""

from __future__ import annotations

import io

import pytest

from sigservice.config import load_config
from sigservice.errors import StartError
from sigservice.outgoing.proxies import Proxies
from sigservice.transfer.progress import Progress
from sigservice.transfer.remote_client import Source

TOKEN = "*:*.peer-token-that-nobody-sees"


@pytest.fixture
def ask(peer):
    def get(*parts):
        return Source(peer.url, TOKEN, pause=0).get(*parts)

    return get


def test_the_token_and_the_path_arrive(peer, ask):
    peer.answers["projects/a%2Fb%3F"] = {"x": 1}
    assert ask("projects", "a/b?") == {"x": 1}
    ((path, headers),) = peer.asked
    assert (path, headers["Authorization"]) == ("/api/admin/projects/a%2Fb%3F", TOKEN)


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_is_asked_again(peer, ask, status):
    peer.answers["x"] = [(status, {}, {}), (status, {}, {}), (200, {}, [1])]
    assert ask("x") == [1]
    assert len(peer.asked) == 3


@pytest.mark.parametrize(("asked", "waited"), [("7", 7), ("86400", 60)])
def test_retry_after_is_honoured_up_to_a_minute(peer, ask, monkeypatch, asked, waited):
    pauses = []
    monkeypatch.setattr("urllib3.util.retry.time.sleep", pauses.append)
    peer.answers["x"] = [(429, {"Retry-After": asked}, {}), (200, {}, [])]
    ask("x")
    assert pauses == [waited]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ((401, {}, {}), "does not accept the token"),
        ((403, {}, {}), "answers 403"),
        ((500, {}, {"message": TOKEN}), "answers 500"),
        ((301, {"Location": "http://elsewhere.example/"}, {}), "leads elsewhere"),
        ((200, {}, b"<html>"), "can't be read"),
        ((200, {}, b'"\\u0000"'), "can't be read"),
        ((503, {}, {}), "answers 503"),
    ],
)
def test_what_can_not_be_read_is_one_line_without_the_token(peer, ask, answer, text):
    peer.answers["x"] = [answer]
    with pytest.raises(StartError) as error:
        ask("x")
    assert text in str(error.value)
    assert TOKEN not in str(error.value)
    assert "\n" not in str(error.value)


def test_what_is_not_there_is_none(peer):
    source = Source(peer.url, TOKEN)
    for status in (400, 403, 404, 405):
        peer.answers["x"] = [(status, {}, {})]
        assert source.find("x") is None
    peer.answers["x"] = [(500, {}, {})]
    with pytest.raises(StartError):
        source.find("x")


def test_nobody_listens():
    with pytest.raises(StartError, match="can't be read") as error:
        Source("http://127.0.0.1:9", TOKEN, pause=0).get("projects")
    assert TOKEN not in str(error.value)


@pytest.mark.parametrize(
    "url", ["", "ftp://x", "x.example", "http://", "http://u:p@x", "http://[::1", "http://x:99999"]
)
def test_addresses_that_are_none(url):
    with pytest.raises(StartError, match="--from"):
        Source(url, TOKEN)


@pytest.mark.parametrize("token", ["", " ", "a\nb", "tök"])
def test_tokens_that_are_none(token):
    with pytest.raises(StartError, match="token"):
        Source("http://127.0.0.1:9", token)


@pytest.mark.parametrize("end", ["", "/", "/api", "/api/", "/api/admin"])
def test_the_address_may_have_api_at_its_end(peer, end):
    peer.answers["x"] = []
    Source(peer.url + end, TOKEN).get("x")
    assert peer.asked[0][0] == "/api/admin/x"


def test_the_proxy_of_the_environment_is_used(peer):
    environ = {"http_proxy": peer.url.replace("//", "//me:secret@"), "NO_PROXY": "127.0.0.1"}
    proxies = Proxies.from_config(load_config(None, environ).config)
    with pytest.raises(StartError, match="404"):
        Source("http://flags.example", TOKEN, proxies=proxies).get("projects")
    path, headers = peer.asked[0]
    assert path == "http://flags.example/api/admin/projects"
    assert headers["Proxy-Authorization"].startswith("Basic ")
    peer.answers["x"] = []
    Source(peer.url, TOKEN, proxies=proxies).get("x")
    assert peer.asked[-1][0] == "/api/admin/x"


def test_several_are_asked_at_once_and_answers_keep_their_order(peer):
    source = Source(peer.url, TOKEN)
    peer.answers = {str(n): [n] for n in range(20)}
    done = []
    asks = [lambda n=n: source.get(str(n)) for n in range(20)]
    assert source.each(asks, lambda: done.append(1)) == [[n] for n in range(20)]
    assert len(done) == 20


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_sees_a_bar_and_a_log_lines():
    for stream, shown in ((Terminal(), "] 2/2\n"), (io.StringIO(), "flags: 2\n")):
        progress = Progress(stream)
        progress.stage("flags", 2)
        progress.step()
        progress.step()
        progress.end()
        assert stream.getvalue().endswith(shown)
        assert ("\r" in stream.getvalue()) is stream.isatty()
