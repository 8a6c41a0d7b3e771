"""sql/schema.snapshot.sql is what the migrations make. SNAPSHOT=write pytest … renews it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

import sigservice
from sigservice.db.data_directory import packaged_binaries

pytestmark = pytest.mark.external

SNAPSHOT = Path(__file__).resolve().parents[2] / "sql" / "schema.snapshot.sql"
HEAD = "-- Today's schema, generated from the migrations for reading; never executed.\n\n"


def test_the_snapshot_is_fresh(temporary_database):
    options = temporary_database.create_database("snapshot")
    sigservice.create({"db": options, "logLevel": "error"}, {}).stop()
    dumped = subprocess.run(
        [
            packaged_binaries() / "pg_dump",
            "--schema-only",
            "--no-owner",
            "--no-privileges",
            "-h",
            options["host"],
            "-U",
            options["user"],
            "snapshot",
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    cached = [
        line
        for line in dumped.splitlines()
        if not line.startswith(("--", "SET ", "SELECT pg_catalog", "\\"))
    ]
    text = HEAD + re.sub(r"\n{3,}", "\n\n", "\n".join(cached)).strip() + "\n"
    if os.environ.get("SNAPSHOT") == "write":
        SNAPSHOT.write_text(text)
    assert SNAPSHOT.read_text() == text
