"""Files that no backup wrote are refused with one line, before the database is used."""

from __future__ import annotations

import io
import json
import tarfile
from typing import Any

import pytest

from sigservice.db.backup_file import MANIFEST, BackupWriter, open_dump
from sigservice.errors import StartError

TABLE = {"name": "users", "rows": 1, "digest": "-17"}


def build_manifest(dump_sha256: str) -> dict[str, Any]:
    return {
        "format": 1,
        "version": "0.1.0",
        "created_at": "2026-11-24T03:15:00+00:00",
        "tools": 18,
        "db_schema": "public",
        "migrations": {"0001_users_and_sessions": "00ff"},
        "tables": [TABLE],
        "has_key": False,
        "dump_sha256": dump_sha256,
    }


@pytest.fixture
def write_file(tmp_path):
    """`write_file(change)`: the path of a file whose manifest is `change(manifest)`, bytes or an
    object."""

    def write(change):
        path = tmp_path / "x"
        with open(path, "w+b") as file:
            digest = BackupWriter(file).write_dump(io.BytesIO(b"PGDMP"))
            manifest = change(build_manifest(digest))
            data = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
            header = tarfile.TarInfo(MANIFEST)
            header.size = len(data)
            file.write(header.tobuf())
            file.write(data + bytes(-len(data) % tarfile.BLOCKSIZE + 2 * tarfile.BLOCKSIZE))
        return path

    return write


def read_refusal(path) -> str:
    with pytest.raises(StartError) as raised, open_dump(path):
        pass
    return str(raised.value)


def test_file_with_a_valid_manifest_is_opened(write_file):
    with open_dump(write_file(lambda manifest: manifest)) as (manifest, dump):
        assert manifest.tables[0].name == "users"
        assert dump.read(5) == b"PGDMP"


@pytest.mark.parametrize(
    "change",
    [
        {"tables": [TABLE | {"name": "x$check$\n\\! id\n"}]},
        {"tables": [TABLE | {"name": ""}]},
        {"tables": [TABLE | {"name": "x" * 64}]},
        {"tables": [TABLE | {"digest": "1) OR true"}]},
        {"tables": [TABLE | {"digest": "1\n"}]},
        {"tables": [TABLE | {"rows": -1}]},
        {"migrations": {"0001\n\\! id": ""}},
        {"created_at": "2026\x1b[2J"},
        {"format": "\x1b[2J"},
        {"format": None},
    ],
    ids=repr,
)
def test_manifest_with_another_text_than_a_backup_writes_is_refused(write_file, change):
    path = write_file(lambda manifest: manifest | change)
    assert read_refusal(path) == f"{path} is not a complete backup of `sigservice backup`."


@pytest.mark.parametrize("beginning", [b"[", b'{"a":', b'{"format": 1, "a": ['])
def test_deeply_nested_manifest_is_refused(write_file, beginning):
    path = write_file(lambda _: beginning * 100_000)
    assert read_refusal(path) == f"{path} is not a complete backup of `sigservice backup`."
