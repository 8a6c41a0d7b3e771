"""Types of option values for hosts, networks, URLs and base paths."""

import ipaddress
import re
from urllib.parse import urlsplit

from sigservice.config.parse import LIST, InvalidValue, ValueType, check_path, read_words, text_type


def _host(text: str) -> str:
    text = text.strip()
    name = re.fullmatch(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,252}[A-Za-z0-9_.])?", text)
    if not name or re.fullmatch(r"[0-9.]+", text):
        ipaddress.ip_address(text)
    return text


HOST = text_type("a hostname or an address", "127.0.0.1", _host)


def is_this_machine(host: str) -> bool:
    """Whether a host is localhost or a loopback address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def parse_port(text: str) -> int:
    """Raises InvalidValue."""
    if not re.fullmatch(r"0*[1-9][0-9]{0,4}", text) or int(text) > 65535:
        raise InvalidValue("its port must be a number from 1 to 65535")
    return int(text)


def split_database_hosts(text: str) -> list[tuple[str, str]]:
    """The (host, port) of each of the hosts, the port "" if it has none of its own. Only one of
    several hosts can have a port; an IPv6 address with a port is in brackets."""
    if "," not in text:
        return [(text, "")]
    hosts = []
    for item in map(str.strip, text.split(",")):
        host, _, port = item.rpartition(":") if item.count(":") == 1 else (item, "", "")
        if match := re.fullmatch(r"\[(.*)\](?::(.*))?", item):
            host, port = match[1], match[2] or ""
        hosts.append((host, port))
    return hosts


def _database_host(text: str) -> str:
    hosts = split_database_hosts(text)
    if len(hosts) == 1:
        return check_path(text) if text.startswith(("/", "@")) else _host(text)
    if len(hosts) > MAX_DATABASE_HOSTS:
        raise InvalidValue(f"there are more than {MAX_DATABASE_HOSTS} hosts")
    for host, port in hosts:
        if host.startswith(("/", "@")):
            raise InvalidValue("several hosts can't include the folder of a unix socket")
        _host(host)
        if port:
            parse_port(port)
    return text.strip()


MAX_DATABASE_HOSTS = 10
DATABASE_HOST = text_type(
    "a hostname, an address or the folder of a unix socket, or several hosts",
    "db.example.com",
    _database_host,
)


def _url(text: str) -> str:
    text = text.strip()
    parts = urlsplit(text)
    if not re.fullmatch(r"[!#-;=?-\[\]_a-z~]+", text):  # RFC 3986, 2
        raise InvalidValue("it contains a character that a URL can't have")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError
    if parts.query or parts.fragment:
        raise InvalidValue("it has a query or a fragment")
    if "@" in parts.netloc:
        raise InvalidValue("it contains a username, which links would show")
    _ = parts.port  # raises ValueError for an invalid port
    return text.rstrip("/")


URL = text_type("an absolute http or https URL", "https://flags.example.com", _url)


def _endpoint(text: str) -> str:
    """A URL with an optional query, which is requested unchanged."""
    address, _, query = text.strip().partition("?")
    _url(address)
    if not re.fullmatch(r"[!#-;=?-\[\]_a-z~]*", query):
        raise InvalidValue("it contains a character that a URL can't have")
    return text.strip()


ENDPOINT = text_type(
    "an absolute http or https URL", "https://versions.example.com/check", _endpoint
)


def _base_path(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._~/-]*", text) or {".", ".."} & set(text.split("/")):
        raise ValueError
    path = "/" + "/".join(part for part in text.split("/") if part)
    return "" if path == "/" else path


BASE_PATH = text_type("a path that starts with /", "/flags", _base_path)


def _sender(text: str) -> str:
    text = text.strip()
    name, bracket, rest = text.rpartition("<")
    if bracket and not rest.endswith(">"):
        raise ValueError
    if not name.isprintable() or re.search(r'[<>@,;"\\]', name):
        raise InvalidValue("the name contains a character that a sender can't have")
    if not re.fullmatch(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9.-]+", rest.removesuffix(">")):
        raise ValueError
    return text


SENDER = text_type(
    "an address, or a name and an address in angle brackets", "Flags <flags@example.com>", _sender
)


def _networks(values: list[str]) -> list[str]:
    for value in values:
        if value != "localhost":  # the address of a peer on a unix socket
            ipaddress.ip_network(value, strict=False)
    return values


NETWORKS = ValueType(
    "a comma-separated list of addresses or networks",
    "10.0.0.7,192.168.0.0/16",
    lambda text: _networks(LIST.parse(text)),
    lambda value: _networks(read_words([value] if isinstance(value, str) else value)),
)


def _hosts(values: list[str]) -> list[str]:
    for value in values:
        if not re.fullmatch(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*", value):
            ipaddress.ip_network(value, strict=False)
    return values


HOSTS = ValueType(
    "a comma-separated list of hostnames, addresses or networks",
    "hooks.example.com,*.internal.example,10.0.0.0/8",
    lambda text: _hosts(LIST.parse(text.lower())),
    lambda value: _hosts([item.lower() for item in read_words(value)]),
)


# Accepted because machines have them set for other programs; risks.py warns about them.
SOCKS = ("socks4", "socks4a", "socks5", "socks5h")


def _proxy(text: str) -> str:
    text = text.strip()
    parts = urlsplit(text if "://" in text else f"http://{text}")
    if parts.scheme not in ("http", "https", *SOCKS):
        raise InvalidValue("only http and https proxies are supported")
    if not parts.hostname or not re.fullmatch(r"[!-~]+", text):
        raise ValueError
    _ = parts.port
    return text


PROXY = text_type("a proxy URL", "http://proxy.example.com:3128", _proxy)


ANY_ORIGIN = "*"
_ORIGIN = re.compile(
    r"https?://([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*|\[[0-9a-f:.]+\])"
    r"(:[0-9]{1,5})?"
)


def is_origin(text: str) -> bool:
    """Whether the text is `*` or an origin in lower case."""
    return text == ANY_ORIGIN or (len(text) <= 300 and _ORIGIN.fullmatch(text) is not None)
