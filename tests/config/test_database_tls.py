"""DATABASE_SSL and its relatives: what each says about TLS, and who is heard first."""

from __future__ import annotations

import json

import pytest

from sigservice.config import load_config
from tests.config.kit import PEM, PEM_FILE, problems, refusal
from tests.table_tests import each

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
FULL = {"rejectUnauthorized": False, "ca": CERTIFICATE, "cert": CERTIFICATE, "key": CERTIFICATE}
FILES = {
    "DATABASE_SSL_CA_FILE": PEM_FILE,
    "DATABASE_SSL_CERT_FILE": PEM_FILE,
    "DATABASE_SSL_KEY_FILE": PEM_FILE,
}


def ssl(options=None, **environ):
    return load_config(options, environ).config["db"]["ssl"]


def test_without_settings_there_is_no_tls():
    assert ssl() is False
    assert ssl(DATABASE_HOST="db.example") is False


@each(
    "text value",
    [
        ("false", False),
        ("null", False),
        (" false ", False),
        ("true", {"rejectUnauthorized": True}),
        ("{}", {"rejectUnauthorized": True}),
        ('{"rejectUnauthorized": true}', {"rejectUnauthorized": True}),
        ('{"rejectUnauthorized": false}', {"rejectUnauthorized": False}),
        ('{"rejectUnauthorized": null, "ca": null}', {"rejectUnauthorized": True}),
        (json.dumps(FULL), FULL),
        (json.dumps(FULL, indent=2), FULL),
        (json.dumps({"ca": CERTIFICATE}), {"rejectUnauthorized": True, "ca": CERTIFICATE}),
    ],
)
def test_database_ssl_is_json(text, value):
    assert ssl(DATABASE_SSL=text) == value


@pytest.mark.parametrize("name", ["DATABASE_SSL", "DATABASE_SSL_CA_CONFIG"])
def test_line_ends_that_a_shell_left_as_two_characters_are_mended(name):
    text = json.dumps({"ca": CERTIFICATE.strip().replace("\n", "\\n")})
    assert ssl(**{name: text})["ca"] == CERTIFICATE.strip()


@each(
    "text",
    [
        "wr0ng",
        "TRUE",
        "yes",
        '{"ca": "wr0ng',
        "{'ca': 'wr0ng'}",
        '"wr0ng"',
        "1",
        "0",
        "[]",
        '["wr0ng"]',
        "9" * 5000,
        "[" * 100_000,
        '{"rejectUnauthorized": "wr0ng"}',
        '{"rejectUnauthorized": 0}',
        '{"ca": "wr0ng"}',
        '{"ca": ["-----BEGIN wr0ng"]}',
        '{"ca": true}',
        '{"key": 5}',
        '{"rejectUnauthorised": false, "key": "-----BEGIN wr0ng"}',
    ],
)
def test_anything_else_in_database_ssl_is_a_start_error_without_the_value(text):
    (line,) = problems(None, {"DATABASE_SSL": text})
    assert refusal(line, "DATABASE_SSL", "JSON object")
    assert "wr0ng" not in line


@each(
    "value meaning",
    [
        (False, False),
        (True, {"rejectUnauthorized": True}),
        ({}, {"rejectUnauthorized": True}),
        ({"rejectUnauthorized": False}, {"rejectUnauthorized": False}),
        (FULL, FULL),
    ],
)
def test_the_in_code_object_means_the_same(value, meaning):
    assert ssl({"db": {"ssl": value}}) == meaning
    assert ssl({"db": {"ssl": value}}, DATABASE_SSL="true", **FILES) == meaning


@each("value", ["wr0ng", "true", 1, [], {"ca": "wr0ng"}, {"ca": 5}])
def test_another_in_code_value_is_a_start_error_without_the_value(value):
    (line,) = problems({"db": {"ssl": value}}, {})
    assert refusal(line, "db.ssl (in code)", "JSON object")
    assert "wr0ng" not in line


def test_the_four_keys_may_come_as_json():
    assert ssl(DATABASE_SSL_CA_CONFIG=json.dumps(FULL)) == FULL
    assert ssl(DATABASE_SSL_CA_CONFIG="  " + json.dumps(FULL, indent=1)) == FULL


def test_the_four_keys_may_come_as_a_file(tmp_path):
    path = tmp_path / "tls.json"
    path.write_text(json.dumps(FULL) + "\n", encoding="utf-8")
    assert ssl(DATABASE_SSL_CA_CONFIG=str(path)) == FULL
    assert ssl(DATABASE_SSL_CA_CONFIG=f" {path}\n") == FULL


def test_a_wrong_file_of_the_four_keys_is_a_start_error_without_its_content(tmp_path):
    paths = [tmp_path / "missing-wr0ng", tmp_path, tmp_path / "text", tmp_path / "pem"]
    paths[2].write_text("wr0ng", encoding="utf-8")
    paths[3].write_text(CERTIFICATE + "wr0ng", encoding="utf-8")
    for path in paths:
        (line,) = problems(None, {"DATABASE_SSL_CA_CONFIG": str(path)})
        assert refusal(line, "DATABASE_SSL_CA_CONFIG", "a JSON object")
        assert "wr0ng" not in line


def test_a_ca_alone_demands_tls_and_verifies_nothing():
    assert ssl(DATABASE_SSL_CA_FILE=PEM_FILE) == {"rejectUnauthorized": False, "ca": PEM}


def test_a_certificate_and_its_key_verify_nothing_either():
    two = {name: path for name, path in FILES.items() if name != "DATABASE_SSL_CA_FILE"}
    assert ssl(**two)["rejectUnauthorized"] is False


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        ("DATABASE_SSL_CERT_FILE", "DATABASE_SSL_KEY_FILE"),
        ("DATABASE_SSL_KEY_FILE", "DATABASE_SSL_CERT_FILE"),
    ],
)
def test_a_certificate_and_its_key_go_together(arguments, missing):
    (line,) = problems(None, {arguments: PEM_FILE})
    assert line.startswith(f"{missing}: must be set with {arguments}; expected a readable PEM file")
    (line,) = problems({"db": {"ssl": {"cert": PEM}}}, {})
    assert "cert and key must be set together" in line


def test_all_three_files_switch_verification_on():
    assert ssl(**FILES) == {"rejectUnauthorized": True, "ca": PEM, "cert": PEM, "key": PEM}


@pytest.mark.parametrize(("word", "reject"), [("true", True), ("false", False)])
def test_the_variable_decides_about_verification_whatever_the_files(word, reject):
    one = {"DATABASE_SSL_CA_FILE": PEM_FILE}
    for files in ({}, one, FILES):
        result = ssl(**files, DATABASE_SSL_REJECT_UNAUTHORIZED=word)
        assert result["rejectUnauthorized"] is reject
        assert set(result) - {"rejectUnauthorized"} == {
            name.split("_")[2].lower() for name in files
        }


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_readable_pem_is_a_start_error(name, tmp_path):
    (tmp_path / "wr0ng").write_text("no certificate", encoding="utf-8")
    for path in (tmp_path / "missing-wr0ng", tmp_path, tmp_path / "wr0ng"):
        (line,) = problems(None, {name: str(path)})
        assert refusal(line, name, "a readable PEM file")
        assert "wr0ng" not in line


def test_database_ssl_is_used_alone():
    others = FILES | {
        "DATABASE_SSL_CA_CONFIG": json.dumps(FULL),
        "DATABASE_SSL_REJECT_UNAUTHORIZED": "false",
    }
    assert ssl(DATABASE_SSL="false", **others) is False
    assert ssl(DATABASE_SSL="true", **others) == {"rejectUnauthorized": True}


def test_the_four_keys_come_before_the_files():
    text = json.dumps({"rejectUnauthorized": False})
    assert ssl(DATABASE_SSL_CA_CONFIG=text, **FILES) == {"rejectUnauthorized": False}


def test_the_source_of_the_tls_settings_is_told():
    for environ in (
        {"DATABASE_SSL": "true"},
        {"DATABASE_SSL_CA_CONFIG": "{}"},
        {"DATABASE_SSL_CA_FILE": PEM_FILE},
        {"DATABASE_SSL_REJECT_UNAUTHORIZED": "true"},
    ):
        source = load_config(None, environ).sources["db.ssl"]
        assert next(iter(environ)) in source


@pytest.mark.parametrize(
    "environ",
    [
        {"DATABASE_SSL": '{"rejectUnauthorized": false}'},
        {"DATABASE_SSL_CA_FILE": PEM_FILE},
        {"DATABASE_URL": "postgres://h/d?sslmode=require"},
    ],
)
def test_a_connection_that_verifies_nothing_is_warned_about(environ):
    warnings = load_config(None, environ).warnings
    assert len([line for line in warnings if "not verified" in line]) == 1


@pytest.mark.parametrize(
    "environ", [{}, {"DATABASE_SSL": "false"}, {"DATABASE_SSL": "true"}, FILES]
)
def test_other_connections_are_not_warned_about(environ):
    assert load_config(None, environ).warnings == []
