"""Variables that name files: what is no readable text is refused, and never shown."""

from __future__ import annotations

import pytest

from tests.config.kit import problems, refusal
from tests.table_tests import each

FILES = {
    "DATABASE_URL_FILE": "a readable file",
    "DATABASE_SSL_CA_FILE": "a readable PEM file",
    "DATABASE_SSL_CERT_FILE": "a readable PEM file",
    "DATABASE_SSL_KEY_FILE": "a readable PEM file",
    "DATABASE_SSL_CA_CONFIG": "a JSON object",
    "SERVICE_ENCRYPTION_KEY_FILE": "a readable file with one Fernet key per line",
}


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: None, "the file doesn't exist"),
        (lambda path: path.mkdir(), "it is a folder"),
        (lambda path: path.touch(), "the file is empty"),
        (lambda path: path.write_text(" \n"), "the file is empty"),
        (lambda path: path.write_bytes(b"wr0ng\xff\xfe"), "the file is not UTF-8 text"),
        (lambda path: path.symlink_to(path), "the file can't be read"),
        (lambda path: path.symlink_to("/dev/zero"), "the file is larger than 1 MB"),
    ],
    ids=["missing", "folder", "empty", "blank", "binary", "loop", "endless"],
)
@pytest.mark.parametrize("name", FILES)
def test_what_is_no_file_of_text_is_refused(name, make, reason, tmp_path):
    make(tmp_path / "wr0ng")
    (line,) = problems(None, {name: str(tmp_path / "wr0ng")})
    assert refusal(line, name, FILES[name])
    assert reason in line
    assert "wr0ng" not in line


@each(
    "text reason",
    [
        ('{"rejectUnauthorized": true, "rejectUnauthorized": false}', "a duplicate key"),
        ("[" * 100_000, "not valid JSON"),
        ('{"rejectUnauthorized": NaN}', "rejectUnauthorized"),
        ("9" * 5000, "not valid JSON"),
        ('{"rejectUnauthorised": false}', "an unknown key"),
        ('{"ca": "-----BEGIN \\ud800"}', "not UTF-8"),
        ('{"ca": "-----BEGIN \\u0000"}', "NUL"),
    ],
)
def test_json_that_is_no_object_of_ours_is_refused(text, reason):
    (line,) = problems(None, {"DATABASE_SSL": text})
    assert refusal(line, "DATABASE_SSL", "JSON object")
    assert reason in line


def test_a_url_file_with_a_line_break_inside_is_refused(tmp_path):
    (tmp_path / "url").write_text("postgres://ada:hunter2@db.example/fl\nags\n")
    (line,) = problems(None, {"DATABASE_URL_FILE": str(tmp_path / "url")})
    assert refusal(line, "DATABASE_URL_FILE", "a readable file")
    assert "line break" in line
    assert "hunter2" not in line
