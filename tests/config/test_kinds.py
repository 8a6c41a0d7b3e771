"""How a variable's text is read: words for booleans, forms of numbers, lists, addresses, paths."""

from __future__ import annotations

import pytest

from sigservice.config import load_config
from tests.config.kit import nest, problems, refusal
from tests.table_tests import each


def read(path, env, text):
    result = load_config(None, {env: text}).config
    for part in path.split("."):
        result = result[part]
    return result


@each("word", ["true", "1", "t", "yes", "on", "TRUE", "Yes", " on ", "T\n"])
def test_these_words_are_true(word):
    assert read("secureHeaders", "SECURE_HEADERS", word) is True


@each("word", ["false", "0", "f", "no", "off", "FALSE", "No", " off "])
def test_these_words_are_false_where_the_default_is_true(word):
    assert read("server.gracefulShutdownEnable", "GRACEFUL_SHUTDOWN_ENABLE", word) is False


@each("word", ["truee", "2", "-1", "null", "none", "y e s", "enabled", "ja"])
def test_any_other_word_is_no_boolean(word):
    assert problems(None, {"SECURE_HEADERS": word}) == [
        "SECURE_HEADERS: expected true or false, for example true"
    ]


@pytest.mark.parametrize("word", ["true", "TRUE", " true "])
def test_the_version_check_is_on_for_true(word):
    assert read("versionCheck.enable", "CHECK_VERSION", word) is True


@each("word", ["treu", "enabled", "1", "t", "yes", "on", "2", "null"])
def test_the_version_check_is_off_for_anything_but_true_with_a_warning(word):
    loaded = load_config(None, {"CHECK_VERSION": word})
    assert loaded.config["versionCheck"]["enable"] is False
    assert loaded.warnings == [
        "CHECK_VERSION is neither true nor false; every value except true disables the check."
    ]


@pytest.mark.parametrize("word", ["false", "off", "0", "No"])
def test_the_version_check_is_off_for_false_without_a_warning(word):
    loaded = load_config(None, {"CHECK_VERSION": word})
    assert loaded.config["versionCheck"]["enable"] is False
    assert loaded.warnings == []


@each("value", ["false", 0, 1, "yes", []])
def test_in_code_too_anything_but_true_switches_the_version_check_off(value):
    config = load_config({"versionCheck": {"enable": value}}, {}).config
    assert config["versionCheck"]["enable"] is False


@each("text value", [("0", 0), ("007", 7), ("+5", 5), (" 12 ", 12), ("86400", 86_400)])
def test_these_are_whole_numbers(text, value):
    assert read("accessControlMaxAge", "ACCESS_CONTROL_MAX_AGE", text) == value


@each(
    "text",
    ["10abc", "1e3", "3.9", "1_000", "1,000", "0x10", "٣", "１２", "--5", "NaN", "ten", "9" * 400],
)
def test_these_are_no_whole_numbers(text):
    (line,) = problems(None, {"ACCESS_CONTROL_MAX_AGE": text})
    assert line.startswith("ACCESS_CONTROL_MAX_AGE: expected a whole number")
    assert text not in line


def test_the_highest_and_the_lowest_port_are_accepted():
    for port in (0, 65_535):
        assert read("server.port", "HTTP_PORT", str(port)) == port
    for port in (1, 65_535):
        assert read("db.port", "DATABASE_PORT", str(port)) == port


@each("word", ["debug", "info", "warn", "error", "fatal", "INFO", " Warn "])
def test_a_log_level_is_read_in_any_case(word):
    assert read("logLevel", "LOG_LEVEL", word) == word.strip().lower()


@pytest.mark.parametrize("word", ["trace", "warning", "off", "0"])
def test_another_log_level_is_refused(word):
    assert problems(None, {"LOG_LEVEL": word})[0].startswith("LOG_LEVEL: expected one of debug")


@pytest.mark.parametrize("word", ["open-source", "OPEN_SOURCE", "Open-Source", "open_source"])
def test_case_and_underscore_make_no_difference_to_the_authentication_type(word):
    assert read("authentication.type", "AUTH_TYPE", word) == "open-source"
    config = load_config({"authentication": {"type": word}}, {}).config
    assert config["authentication"]["type"] == "open-source"


@pytest.mark.parametrize("word", ["open-source", "custom", "demo", "none"])
def test_the_specification_names_four_authentication_types(word):
    assert read("authentication.type", "AUTH_TYPE", word) == word


@pytest.mark.parametrize("word", ["enterprise", "hosted", "opensource", "no"])
def test_a_typing_error_never_gives_another_authentication_type(word):
    assert problems(None, {"AUTH_TYPE": word})[0].startswith("AUTH_TYPE: expected one of")


@each(
    "text value",
    [
        ("a", ["a"]),
        ("a,b", ["a", "b"]),
        (" a , b ,", ["a", "b"]),
        (",,a,,", ["a"]),
        ("b,a,b", ["b", "a"]),
        (",", []),
        ("with blank,b", ["with blank", "b"]),
    ],
)
def test_a_list_is_split_stripped_and_freed_of_doubles(text, value):
    assert read("environmentEnableOverrides", "ENABLED_ENVIRONMENTS", text) == value


def test_in_code_a_list_is_cleaned_the_same_way():
    options = {"environmentEnableOverrides": [" a ", "", "b", "a"]}
    assert load_config(options, {}).config["environmentEnableOverrides"] == ["a", "b"]
    options = {"environmentEnableOverrides": ("a",)}
    assert load_config(options, {}).config["environmentEnableOverrides"] == ["a"]


@each("value", ["a,b", [1], [None], {"a": 1}, 5])
def test_in_code_a_list_is_a_list_of_texts(value):
    (line,) = problems({"environmentEnableOverrides": value}, {})
    assert refusal(line, "environmentEnableOverrides (in code)", "a list")


CSP_REFUSED = [
    "a;script-src",
    "a b",
    'a"',
    "a\\b",
    "<a>",
    "a\rb",
    "a\nSet-Cookie:x",
    "'unsafe-inlin'",
    "'self",
    "a'b",
    "bücher.example",
]


@each("text", CSP_REFUSED)
def test_a_csp_source_can_not_leave_its_directive_or_its_header(text):
    assert refusal(problems(None, {"CSP_ALLOWED_SCRIPT": text})[0], "CSP_ALLOWED_SCRIPT", "CSP")


@each("text", [*CSP_REFUSED, "a.example,b.example"])
def test_in_code_a_csp_source_can_not_leave_its_directive_either(text):
    options = nest("additionalCspAllowedDomains.scriptSrc", [text])
    line = problems(options, {})[0]
    assert refusal(line, "additionalCspAllowedDomains.scriptSrc (in code)", "a list of CSP sources")


@each(
    "source",
    [
        "cdn.example",
        "*.example",
        "https://a.example:8443/x",
        "data:",
        "'unsafe-inline'",
        "'sha256-aB+/='",
    ],
)
def test_these_are_csp_sources(source):
    path = "additionalCspAllowedDomains.imgSrc"
    assert read(path, "CSP_ALLOWED_IMG", source) == [source]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("https://flags.example", "https://flags.example"),
        ("https://flags.example/", "https://flags.example"),
        ("http://flags.example:8080/sub/path//", "http://flags.example:8080/sub/path"),
        (" http://[::1]:4242 ", "http://[::1]:4242"),
    ],
)
def test_the_public_address_is_kept_without_its_last_slash(text, value):
    assert read("server.unleashUrl", "SERVICE_URL", text) == value


@each(
    "text",
    [
        "flags.example",
        "/flags",
        "//flags.example",
        "ftp://flags.example",
        "https://",
        "https:///path",
        "https://flags.example:99999",
        "https://flags.example:port",
        "https://flags.example/?a=b",
        "https://flags.example/#top",
        "https://flags example",
        "https://flags.example/a b",
        "https://flags.example\nX: y",
        "https://[::1",
        "https://ada:hunter2@flags.example",
        'https://flags.example/"><b>',
        "https://flags.example/ä",
    ],
)
def test_the_public_address_is_an_absolute_http_address(text):
    (line,) = problems(None, {"SERVICE_URL": text})
    assert refusal(line, "SERVICE_URL", "an absolute http or https URL")


@each(
    "text value",
    [
        ("/", ""),
        ("//", ""),
        ("/flags", "/flags"),
        ("flags", "/flags"),
        ("/flags/", "/flags"),
        ("//a///b//", "/a/b"),
        ("/a.b_c~d-e", "/a.b_c~d-e"),
    ],
)
def test_a_base_path_has_a_first_slash_and_no_last_one(text, value):
    assert read("server.baseUriPath", "BASE_URI_PATH", text) == value
    config = load_config({"server": {"baseUriPath": text}}, {}).config
    assert config["server"]["baseUriPath"] == value


@each("text", ["/a?b", "/a#b", "/a b", "/../a", "/a/..", "/a/./b", "/a\n", "/ä", "/a%2f"])
def test_these_are_no_base_paths(text):
    (line,) = problems(None, {"BASE_URI_PATH": text})
    assert line.startswith("BASE_URI_PATH: expected a path that starts with /")


@pytest.mark.parametrize("name", ["sid", "__Host-sid", "a.b"])
def test_these_are_cookie_names(name):
    assert (
        load_config({"session": {"cookieName": name}}, {}).config["session"]["cookieName"] == name
    )


@each("name", ["", "a b", "a;b", "a=b", "a,b", "ä", "a\r\nb", 'a"', 5])
def test_these_are_no_cookie_names(name):
    (line,) = problems({"session": {"cookieName": name}}, {})
    assert line.startswith("session.cookieName (in code): expected a cookie name")


@each("text", ["10.0.0.7", "10.0.0.0/8", "10.0.0.7/8", "::1", "fd00::/8", "localhost"])
def test_a_trusted_proxy_is_an_address_or_a_network(text):
    assert read("server.trustedProxy", "SERVICE_TRUSTED_PROXY", text) == [text]


@each("text", ["*", "proxy.example", "10.0.0", "10.0.0.0/33", "10.0.0.0/-1"])
def test_a_trusted_proxy_is_nothing_else(text):
    (line,) = problems(None, {"SERVICE_TRUSTED_PROXY": text})
    assert line.startswith("SERVICE_TRUSTED_PROXY: expected a comma-separated list of addresses")


def test_a_text_of_two_lines_is_refused_where_one_is_expected():
    for name in ("DATABASE_USERNAME", "DATABASE_SCHEMA", "EMAIL_USER", "NO_PROXY"):
        for text in ("a\nb", "a\rb", "a\n", "a\x7f", "a\udcff"):
            assert refusal(problems(None, {name: text})[0], name, "on one line")


def test_a_path_has_no_line_break():
    for name in ("DATABASE_URL_FILE", "SERVICE_DATA_DIR", "SERVICE_POSTGRES_BIN"):
        assert "a line break" in problems(None, {name: "/a\r\n"})[0]
    assert refusal(problems({"dataDir": "a\0"}, {})[0], "dataDir (in code)", "a path")


@pytest.mark.parametrize("text", ["a\udcff", "a\0"])
def test_a_secret_is_text_that_the_database_can_hold(text):
    for name in ("DATABASE_PASSWORD", "EMAIL_PASSWORD", "SERVICE_METRICS_TOKEN"):
        assert refusal(problems(None, {name: text})[0], name, "text")


@each("text", ["::1", "localhost", "db_1", "10.0.0.7", "fe80::1%eth0", "a.b."])
def test_these_are_hosts(text):
    assert read("server.host", "HTTP_HOST", f" {text} ") == text


@each("text", ["a b", "a:80", "[::1]", "999.1.1.1", "https://a", "a/b", "-a", "*", "a" * 300])
def test_these_are_no_hosts(text):
    for name in ("HTTP_HOST", "EMAIL_HOST", "DATABASE_HOST"):
        assert refusal(problems(None, {name: text})[0], name, "a hostname")


@pytest.mark.parametrize(
    "text", ["/var/run/postgresql", "a,b", "a:5432, b", "::1,[::2]:1,10.0.0.1"]
)
def test_a_database_has_a_host_a_folder_or_several_hosts(text):
    assert read("db.host", "DATABASE_HOST", text) == text


@each(
    "text",
    ["/a,/b", "a,", ",a", "a,b:0", "a,b:70000", "a,b:x", "a,b:1:2", "a,[b]x", ",".join("a" * 11)],
)
def test_several_hosts_of_a_database_are_checked(text):
    assert problems(None, {"DATABASE_HOST": text})[0].startswith("DATABASE_HOST: ")


@pytest.mark.parametrize("text", ["proxy", "proxy:3128", "http://a:b@proxy:1/", "https://[::1]:1"])
def test_these_are_proxies(text):
    assert read("outgoing.allProxy", "ALL_PROXY", text) == text


@each("text", ["gopher://a", "http://", "a b", "http://a:port", "http://[::1"])
def test_these_are_no_proxies_and_the_variable_is_named_as_it_was_given(text):
    for name in ("HTTPS_PROXY", "https_proxy"):
        assert refusal(problems(None, {name: text})[0], name, "a proxy URL")


def test_a_secret_is_kept_to_the_letter():
    text = " with blanks, a comma and ümläuts "
    assert read("db.password", "DATABASE_PASSWORD", text) == text
    assert read("email.smtppass", "EMAIL_PASSWORD", text) == text
