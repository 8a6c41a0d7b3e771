"""Where the database is: in-code db > URL file > URL > parts > defaults; or none: embedded."""

from __future__ import annotations

import pytest

from sigservice.config import load_config
from tests.config.kit import nest, problems
from tests.config.rows import ROWS

URL = "postgresql://url_user:url_password@url.example:1111/url_name?application_name=url_app"
PARTS = {
    "DATABASE_USERNAME": "part_user",
    "DATABASE_PASSWORD": "part_password",
    "DATABASE_HOST": "part.example",
    "DATABASE_PORT": "2222",
    "DATABASE_NAME": "part_name",
    "DATABASE_APPLICATION_NAME": "part_app",
    "DATABASE_SCHEMA": "part_schema",
}
CODE = {
    "user": "code_user",
    "password": "code_password",
    "host": "code.example",
    "port": 3333,
    "database": "code_name",
    "applicationName": "code_app",
    "ssl": False,
}
KEYS = ("user", "password", "host", "port", "database", "applicationName")


def place(config, keys=KEYS):
    return [config["db"][key] for key in keys]


def named(word, port):
    return [f"{word}_user", f"{word}_password", f"{word}.example", port, f"{word}_name"]


@pytest.fixture
def url_file(tmp_path):
    path = tmp_path / "url"
    path.write_text(URL.replace("url", "file").replace("1111", "4444"), encoding="utf-8")
    return str(path)


def test_the_parts_beat_the_defaults():
    loaded = load_config(None, PARTS)
    assert place(loaded.config) == [*named("part", 2222), "part_app"]
    assert loaded.config["db"]["schema"] == "part_schema"


def test_the_url_beats_the_parts():
    loaded = load_config(None, PARTS | {"DATABASE_URL": URL})
    assert place(loaded.config) == [*named("url", 1111), "url_app"]
    assert loaded.config["db"]["schema"] == "part_schema"
    assert {loaded.sources[f"db.{key}"] for key in KEYS} == {"DATABASE_URL"}


def test_the_url_file_beats_the_url(url_file):
    loaded = load_config(None, PARTS | {"DATABASE_URL": URL, "DATABASE_URL_FILE": url_file})
    assert place(loaded.config) == [*named("file", 4444), "file_app"]
    assert {loaded.sources[f"db.{key}"] for key in KEYS} == {"DATABASE_URL_FILE"}


def test_an_in_code_db_beats_everything(url_file):
    environ = PARTS | {"DATABASE_URL": URL, "DATABASE_URL_FILE": url_file, "DATABASE_SSL": "true"}
    loaded = load_config({"db": CODE}, environ)
    assert place(loaded.config) == [*named("code", 3333), "code_app"]
    assert loaded.config["db"]["ssl"] is False
    assert {loaded.sources[f"db.{key}"] for key in CODE} == {"in code"}


def test_an_in_code_db_beats_an_in_code_url():
    config = load_config({"db": CODE, "databaseUrl": URL + "&sslmode=require"}, {}).config
    assert place(config) == [*named("code", 3333), "code_app"]
    assert config["db"]["ssl"] is False


def test_in_code_pool_settings_leave_the_rest_to_the_url():
    config = load_config({"db": {"pool": {"max": 9}}}, {"DATABASE_URL": URL}).config
    assert place(config) == [*named("url", 1111), "url_app"]
    assert config["db"]["pool"]["max"] == 9


def test_an_in_code_url_beats_the_variables(url_file):
    code_url = URL.replace("url_", "code_").replace("url.", "code.")
    for environ in ({"DATABASE_URL": URL}, {"DATABASE_URL_FILE": url_file}, PARTS):
        config = load_config({"databaseUrl": code_url}, environ).config
        assert place(config) == [*named("code", 1111), "code_app"]


def test_an_in_code_url_beats_a_url_file_that_is_not_there():
    environ = {"DATABASE_URL_FILE": "/nonexistent/url"}
    assert load_config({"databaseUrl": URL}, environ).config["db"]["host"] == "url.example"


def test_an_in_code_url_file_beats_every_url(url_file):
    options = {"databaseUrl": URL, "databaseUrlFile": url_file}
    environ = {"DATABASE_URL": URL, "DATABASE_URL_FILE": "/nonexistent/url"}
    assert load_config(options, environ).config["db"]["host"] == "file.example"


def test_a_part_that_the_url_lacks_is_taken_from_its_variable():
    environ = PARTS | {"DATABASE_SSL": '{"rejectUnauthorized": false}'}
    config = load_config(None, environ | {"DATABASE_URL": "postgres://url.example"}).config
    assert place(config) == [
        "part_user",
        "part_password",
        "url.example",
        2222,
        "part_name",
        "part_app",
    ]
    assert config["db"]["ssl"] == {"rejectUnauthorized": False}


def test_a_part_that_nobody_names_has_its_default():
    config = load_config(None, {"DATABASE_URL": "postgres://url.example"}).config
    assert place(config) == [
        "service_user",
        "service_password",
        "url.example",
        5432,
        "service",
        "service",
    ]


@pytest.mark.parametrize("mode", ["disable", "require"])
def test_the_url_overrides_the_tls_variables(mode):
    environ = {"DATABASE_SSL": "true", "DATABASE_URL": f"{URL}&sslmode={mode}"}
    loaded = load_config(None, environ)
    assert loaded.config["db"]["ssl"] == (
        False if mode == "disable" else {"rejectUnauthorized": False}
    )
    assert loaded.sources["db.ssl"] == "DATABASE_URL"


class TestUrlFile:
    """The file's content is exactly the connection string."""

    def load(self, tmp_path, content):
        (tmp_path / "url").write_bytes(content)
        return load_config(None, {"DATABASE_URL_FILE": str(tmp_path / "url")}).config["db"]

    @pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n"])
    def test_an_editors_last_newline_is_no_part_of_it(self, tmp_path, end):
        assert self.load(tmp_path, b"postgres://a:b@c.example/name" + end)["database"] == "name"

    def test_key_and_value_will_do(self, tmp_path):
        assert self.load(tmp_path, b"host=c.example dbname=name\n")["database"] == "name"

    @pytest.mark.parametrize("content", [b"", b"\n", b" \n"])
    def test_an_empty_file_is_no_silent_miss(self, tmp_path, content):
        (tmp_path / "url").write_bytes(content)
        (line,) = problems(None, {"DATABASE_URL_FILE": str(tmp_path / "url")})
        assert line.startswith("DATABASE_URL_FILE")

    @pytest.mark.parametrize("content", [b"wr0ng", b"postgres://wr0ng,b.example/x", b"\xff\xfe"])
    def test_wrong_content_is_a_start_error_that_never_shows_it(self, tmp_path, content):
        (tmp_path / "url").write_bytes(content)
        (line,) = problems(None, {"DATABASE_URL_FILE": str(tmp_path / "url")})
        assert line.startswith("DATABASE_URL_FILE")
        assert "wr0ng" not in line

    def test_a_file_that_can_not_be_read_is_a_start_error(self, tmp_path):
        for path in (tmp_path / "missing", tmp_path):
            for options, environ in (
                (None, {"DATABASE_URL_FILE": str(path), "DATABASE_URL": URL}),
                ({"databaseUrlFile": str(path)}, {}),
            ):
                (line,) = problems(options, environ)
                assert line.startswith(("DATABASE_URL_FILE", "databaseUrlFile"))


class TestEmbedded:
    """The embedded database is for those who configure none at all."""

    @pytest.mark.parametrize("environ", [{}, {"SERVICE_DATA_DIR": "/x", "HTTP_PORT": "1"}])
    def test_it_is_used_when_no_database_is_configured(self, environ):
        assert load_config(None, environ).config["db"]["embedded"] is True

    @pytest.mark.parametrize(
        "row", [row for row in ROWS if row.env.startswith("DATABASE_")], ids=lambda row: row.path
    )
    def test_one_variable_of_the_database_is_enough_to_switch_it_off(self, row):
        assert load_config(None, row.environ()).config["db"]["embedded"] is False
        assert load_config(None, {row.env: " "}).config["db"]["embedded"] is True

    def test_an_unknown_variable_of_the_database_switches_it_off_too(self):
        environ = {"DATABASE_PASWORD": "x"}
        assert load_config(None, environ).config["db"]["embedded"] is False
        assert load_config(None, {"DATABASE_PASWORD": ""}).config["db"]["embedded"] is True

    @pytest.mark.parametrize(
        "row",
        [row for row in ROWS if row.path.startswith("db.") and not row.at],
        ids=lambda row: row.path,
    )
    def test_an_in_code_db_switches_it_off(self, row):
        assert load_config(row.options(), {}).config["db"]["embedded"] is False

    def test_an_in_code_url_or_url_file_switches_it_off(self, url_file):
        for options in ({"databaseUrl": URL}, {"databaseUrlFile": url_file}):
            assert load_config(options, {}).config["db"]["embedded"] is False

    def test_none_in_code_leaves_it_on(self):
        options = {"db": None, "databaseUrl": None, "databaseUrlFile": None}
        assert load_config(options, {}).config["db"]["embedded"] is True

    def test_nobody_sets_it_in_code(self):
        assert problems(nest("db.embedded", True), {})[0].startswith("db.embedded (in code)")


class TestPool:
    def test_the_smallest_pool_is_not_larger_than_the_largest(self):
        (line,) = problems(None, {"DATABASE_POOL_MIN": "5"})
        assert "DATABASE_POOL_MIN" in line
        assert "DATABASE_POOL_MAX" in line
        assert problems({"db": {"pool": {"min": 3}}}, {"DATABASE_POOL_MAX": "2"})

    def test_both_may_be_the_same(self):
        environ = {"DATABASE_POOL_MIN": "4", "DATABASE_POOL_MAX": "4"}
        assert load_config(None, environ).config["db"]["pool"]["min"] == 4
