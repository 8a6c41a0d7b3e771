"""Where a sign-in may lead: to a path of ours, whatever a link asks for."""

from __future__ import annotations

import random
import re
from urllib.parse import unquote, urljoin, urlsplit

from sigservice.web.guards import make_next_path
from tests.table_tests import each

OURS = "https://flags.example.com/sign-in"


def where_a_browser_goes(location: str) -> str:
    """The host, by the rules of the URL standard: tabs and line ends vanish, \\ is a slash."""
    text = re.sub(r"[\t\r\n]", "", location).strip("".join(map(chr, range(33))))
    return urlsplit(urljoin(OURS, text.replace("\\", "/"))).netloc


@each(
    "path",
    [
        "/",
        "/profile",
        "/admin/signals/1/log?query=a%20b&token=2",
        "/admin/signals/1/log?before=5",
        "/a//b",
        "/%0d%0aLocation:%20//evil.example",
        "/%2f/evil.example",
        "/%5cevil.example",
        "/.//evil.example",
        "/a/../../b",
        "/?next=http://evil.example",
        "/%",
    ],
)
def test_a_path_of_ours_is_kept_as_it_is(path):
    assert make_next_path(path) == path
    assert where_a_browser_goes(path) == "flags.example.com"


@each(
    "path location",
    [
        ("/a b", "/a%20b"),
        ("/é?q=ü", "/%C3%A9?q=%C3%BC"),
        ("/\U0001f600", "/%F0%9F%98%80"),
        ("/a#b", "/a%23b"),
        ("/@evil.example", "/%40evil.example"),
        ("/;x", "/%3Bx"),
        ('/"><script>', "/%22%3E%3Cscript%3E"),
        ("/'", "/%27"),
        ("/ /evil.example", "/%20/evil.example"),
        ("/／evil.example", "/%EF%BC%8Fevil.example"),
        ("/[::1]", "/%5B::1%5D"),
    ],
)
def test_what_a_header_can_not_carry_is_encoded(path, location):
    assert make_next_path(path) == location
    assert unquote(location) == path


@each(
    "target",
    [
        "",
        " ",
        "evil.example",
        "profile",
        "//evil.example",
        "///evil.example",
        "////evil.example",
        "//evil.example/%2f..",
        "//",
        "/\\evil.example",
        "/\\/evil.example",
        "\\/evil.example",
        "\\\\evil.example",
        "/profile\\",
        "http://evil.example",
        "https:evil.example",
        "HTTP://evil.example",
        "javascript:alert(1)",
        "data:text/html,x",
        "mailto:a@b",
        "@evil.example",
        "?next=/",
        "#/",
        ".",
        " /profile",
        "\t/profile",
        "\n//evil.example",
        "/\t/evil.example",
        "/\n/evil.example",
        "/\r/evil.example",
        "/\r\nSet-Cookie: a=b",
        "/\x00/evil.example",
        "/\x0b/evil.example",
        "/\x1f",
        "/\x7f",
        "/\x85/evil.example",
        "/\u00a0/evil.example",
        "/\u00ad/evil.example",
        "/\u200b/evil.example",
        "/\u2028/evil.example",
        "/\u202e",
        "/\ufeff/evil.example",
        "/\ud800",
        "/\U000e0001",
        "／evil.example",
        "⁄/evil.example",
    ],
)
def test_anything_else_leads_home(target):
    assert make_next_path(target) == "/"


def test_a_very_long_path_is_never_cut_in_half():
    long = "/" + "é" * 50_000
    assert make_next_path(long) == "/" + "%C3%A9" * 50_000
    assert make_next_path("/" * 100_000) == "/"


def test_nothing_leads_elsewhere():
    """Pieces that browsers are known to read their own way, in any order."""
    pieces = [
        "/", "//", "\\", "evil.example", "http:", "https://", "@", ":", "?", "#", ".", "..", "%2f",
        "%5c", "%09", "\t", "\n", "\r", "\x00", " ", "\u2028", "\u3000", "／", "é", ";",
        "javascript:", "[", "]", "%", "&", "=",
    ]  # fmt: skip
    random_ = random.Random(7)
    remaining = 0
    for _ in range(5000):
        target = "".join(random_.choices(pieces, k=random_.randrange(1, 7)))
        if random_.random() < 0.7:
            target = "/" + target
        location = make_next_path(target)
        assert re.fullmatch(r"/[!-~]*", location), target
        assert where_a_browser_goes(location) == "flags.example.com", target
        assert make_next_path(location) == location, target
        remaining += location != "/"
    assert remaining > 500
