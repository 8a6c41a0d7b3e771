"""Backup and restore of databases with a row in each table."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import re
import signal
import subprocess
import sys
import threading
from contextlib import closing

import pytest

import sigservice
from sigservice.config import load_config
from sigservice.db import backup, migrate, restore
from sigservice.db.data_directory import packaged_binaries
from sigservice.db.open import OpenDatabase
from sigservice.db.postgres_tools import find_tools
from sigservice.errors import StartError
from sigservice.log import build_line_loggers
from tests.db.filled import fill_tables, read_tables
from tests.postgres_server import binaries_with_tls
from tests.server.process import make_database_environ
from tests.spec.tls_server import run_tls_server
from tests.waiting import DEADLINE_SECONDS, until

pytestmark = pytest.mark.external

CHANGED_BYTES = 30
LOGGER = build_line_loggers("fatal")("database")


def open_existing(options=None, environ=None, prepare=migrate.connect):
    config = load_config({"db": options} if options else None, environ or {}).config
    return closing(OpenDatabase(config, LOGGER, 0.3, must_exist=True, prepare=prepare))


def write(file, options=None, environ=None):
    with open_existing(options, environ) as database:
        backup.write_backup(database, file)


def read(file, options=None, environ=None):
    with restore.open_backup(file) as dump, open_existing(options, environ) as database:
        return restore.restore_backup(database, dump)


@pytest.fixture(scope="module")
def create(temporary_database):
    """`create()`: the `db` option of a new, empty database."""
    numbers = itertools.count()
    return lambda: temporary_database.create_database(f"backup_{next(numbers)}")


@pytest.fixture
def connect(temporary_database):
    """`connect(options)`: a connection to that database, until the test ends."""
    with contextlib.ExitStack() as stack:
        yield lambda options: stack.enter_context(
            closing(temporary_database.connect(options["database"]))
        )


@pytest.fixture(scope="module")
def filled(create, temporary_database):
    """The `db` option of a database with a row in each table, which tests don't change."""
    options = create()
    with (
        open_existing(options, prepare=migrate.migrate),
        closing(temporary_database.connect(options["database"])) as conn,
    ):
        fill_tables(conn)
    return options


@pytest.fixture(scope="module")
def backup_data(filled, tmp_path_factory):
    file = tmp_path_factory.mktemp("backup") / "x"
    write(file, filled)
    return file.read_bytes()


@pytest.fixture
def backup_of_filled(backup_data, tmp_path):
    file = tmp_path / "flags.backup"
    file.write_bytes(backup_data)
    return file


def list_relations(conn):
    with conn.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace")
        return cursor.fetchall()


def test_every_row_of_every_table_is_restored(filled, backup_of_filled, create, connect):
    target = create()
    read(backup_of_filled, target)
    before, after = read_tables(connect(filled)), read_tables(connect(target))
    assert all(before.values()), "a table without a row"
    assert after == before


def test_restored_tables_are_analyzed(backup_of_filled, create, connect):
    target = create()
    read(backup_of_filled, target)
    with connect(target).cursor() as cursor:
        cursor.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' EXCEPT "
            "SELECT tablename FROM pg_stats WHERE schemaname = 'public'"
        )
        assert cursor.fetchall() == []


def test_identities_continue_after_the_restored_rows(backup_of_filled, create, connect):
    target = create()
    read(backup_of_filled, target)
    with connect(target).cursor() as cursor:
        cursor.execute(
            "INSERT INTO signals (endpoint_id, token_id, payload, payload_bytes) "
            "VALUES (1, 1, '{}', 2) RETURNING id > (SELECT max(id) FROM signals)"
        )
        assert cursor.fetchall() == [(True,)]


def test_service_runs_on_the_restored_database(backup_of_filled, create):
    target = create()
    read(backup_of_filled, target)
    with open_existing(target, prepare=migrate.migrate_existing) as database:
        assert database.pool.statistics()


def test_backup_of_a_database_in_use_has_one_state_of_all_tables(create, connect, tmp_path):
    source, target = create(), create()
    with open_existing(source, prepare=migrate.migrate):
        fill_tables(connect(source))
    conn, stop = connect(source), threading.Event()

    def count(conn):
        """What each change adds one to."""
        with conn.cursor() as cursor:
            cursor.execute("SELECT (SELECT count(*) FROM tags), min(payload_bytes) FROM signals")
            return cursor.fetchall()[0]

    before = count(conn)

    def store():
        with conn.cursor() as cursor:
            while not stop.is_set():
                cursor.execute(
                    "WITH tag AS (INSERT INTO tags (type, value) VALUES ('xx', gen_random_uuid())) "
                    "UPDATE signals SET payload_bytes = payload_bytes + 1"
                )

    thread = threading.Thread(target=store)
    thread.start()
    try:
        write(tmp_path / "x", source)
    finally:
        stop.set()
        thread.join()
    read(tmp_path / "x", target)
    tags, payload_bytes = count(connect(target))
    assert 0 < tags - before[0] == payload_bytes - before[1]
    assert tags < count(conn)[0]


def test_backup_of_the_version_before_is_restored_and_then_migrated(
    create, connect, tmp_path, monkeypatch
):
    source, target = create(), create()
    with monkeypatch.context() as patch:
        *older, newest = migrate.read_migrations()
        patch.setattr(migrate, "read_migrations", lambda: older)
        with open_existing(source, prepare=migrate.migrate):
            fill_tables(connect(source))
    write(tmp_path / "x", source)
    read(tmp_path / "x", target)
    before = read_tables(connect(source))
    assert read_tables(connect(target)) == before
    service = sigservice.create({"db": target, "logLevel": "error"}, {})
    service.stop()
    after = read_tables(connect(target))
    assert len(after.pop("schema_migrations")) == len(older) + 1
    dropped = re.findall(r"DROP TABLE (\w+)", newest.text)
    assert set(before) - {"schema_migrations", *dropped} <= set(after)
    assert set(before["users"]) <= set(after["users"])


def test_backup_of_a_newer_version_is_refused(backup_of_filled, create, connect, monkeypatch):
    fewer, target = migrate.read_migrations()[:-1], create()
    monkeypatch.setattr(migrate, "read_migrations", lambda: fewer)
    with pytest.raises(StartError, match="The backup was made by a newer version"):
        read(backup_of_filled, target)
    assert list_relations(connect(target)) == []


def test_restore_into_a_database_with_tables_is_refused(filled, backup_of_filled, connect):
    before = read_tables(connect(filled))
    with pytest.raises(StartError, match="not empty"):
        read(backup_of_filled, filled)
    assert read_tables(connect(filled)) == before


def test_restore_into_another_schema_is_refused(backup_of_filled, create):
    with pytest.raises(StartError, match="no tables of the service in the schema 'other'"):
        read(backup_of_filled, create() | {"schema": "other"})


def test_any_schema_is_backed_up_alone(filled, create, connect, tmp_path):
    schema = 'my "Größe'
    with open_existing(filled | {"schema": schema}, prepare=migrate.migrate):
        pass
    write(tmp_path / "x", filled | {"schema": schema})
    target = create()
    read(tmp_path / "x", target | {"schema": schema})
    assert list_relations(connect(target)) == []
    with open_existing(target | {"schema": schema}, prepare=migrate.migrate_existing):
        pass


@pytest.mark.parametrize("damage", ["shorter", "text", "empty"])
def test_damaged_file_is_refused(backup_of_filled, create, connect, damage):
    data = backup_of_filled.read_bytes()
    damaged = {"shorter": data[:-20_000], "text": b"SELECT 1;\n" * 100, "empty": b""}[damage]
    backup_of_filled.write_bytes(damaged)
    target = create()
    with pytest.raises(StartError, match=r"The backup was not restored|is not a backup"):
        read(backup_of_filled, target)
    assert list_relations(connect(target)) == []


def test_restore_ends_if_pg_restore_writes_nothing(monkeypatch):
    """As for some damaged files, for which it computes for ever."""
    monkeypatch.setattr(restore, "SILENT_SECONDS", 0.01)
    reading, writing = os.pipe()
    with open(reading, "rb") as _, open(writing, "wb", buffering=0) as output:
        script = restore._Output(reading)
        output.write(b"one\rline\nthe")
        assert script.readline() == b"one\rline\n"
        with pytest.raises(StartError, match="it is damaged"):
            script.readline()
        output.write(b" end")
        output.close()
        assert (script.readline(), script.readline()) == (b"the end", b"")


def test_changed_byte_is_noticed_where_it_changes_a_row(
    filled, backup_data, create, connect, tmp_path, monkeypatch
):
    """pg_restore verifies a checksum of the rows of each table. The list of tables, which comes
    first, has none."""
    monkeypatch.setattr(restore, "SILENT_SECONDS", 5)
    file, target, rows = tmp_path / "x", create(), read_tables(connect(filled))
    choose = random.Random(1)
    for _ in range(CHANGED_BYTES):
        data = bytearray(backup_data)
        data[choose.randrange(len(data) * 3 // 4, len(data))] ^= 1 << choose.randrange(8)
        file.write_bytes(data)
        try:
            read(file, target)
        except StartError:
            assert list_relations(connect(target)) == []
        else:
            assert read_tables(connect(target)) == rows
            target = create()


def test_command_of_psql_in_the_dump_is_not_run(create, connect, tmp_path):
    source, target, proof = create(), create(), tmp_path / "proof"
    with open_existing(source, prepare=migrate.migrate):
        with connect(source).cursor() as cursor:
            cursor.execute(f"CREATE TABLE notes (text text DEFAULT '{'X' * 200}')")
    write(tmp_path / "x", source)
    command = f"'');\n\\unrestrict x\n\\! touch {proof}\n--".ljust(202).encode()
    dump = (tmp_path / "x").read_bytes()
    (tmp_path / "x").write_bytes(dump.replace(b"'%b'" % (b"X" * 200), command))
    with pytest.raises(StartError, match="not restored: syntax error"):
        read(tmp_path / "x", target)
    assert not proof.exists()
    assert list_relations(connect(target)) == []


def test_table_that_an_operator_added_is_restored_with_any_text(create, connect, tmp_path):
    source, target = create(), create()
    texts = ["\\.", "\\.\n\\.", "\\", "\t\r\n", "", "COPY x FROM stdin;\n", "ü" * 1_000_000]
    with open_existing(source, prepare=migrate.migrate):
        with connect(source).cursor() as cursor:
            cursor.execute('CREATE TABLE "My notes" (text text)')
            cursor.execute('INSERT INTO "My notes" SELECT unnest(%s)', (texts,))
    write(tmp_path / "x", source)
    read(tmp_path / "x", target)
    with connect(target).cursor() as cursor:
        cursor.execute('SELECT text FROM "My notes"')
        assert [text for (text,) in cursor.fetchall()] == texts


def test_file_is_private_and_alone(filled, tmp_path):
    file = tmp_path / "x"
    write(file, filled)
    assert file.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["x"]


def test_existing_file_is_never_replaced(filled, backup_of_filled):
    before = backup_of_filled.read_bytes()
    with pytest.raises(StartError, match="exists already"):
        write(backup_of_filled, filled)
    assert backup_of_filled.read_bytes() == before


def test_failed_backup_leaves_no_file(create, tmp_path):
    with pytest.raises(StartError, match="no tables of the service"):
        write(tmp_path / "x", create())
    with pytest.raises(StartError, match="could not be written"):
        write(tmp_path / "missing" / "x", create())
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_restore_that_a_signal_ends_leaves_the_database_empty(
    backup_of_filled, create, connect, number
):
    """The restore waits for a lock, which the test holds until the process has ended."""
    target = create()
    conn = connect(target)
    with conn.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s, hashtext('public'))", (migrate.LOCK,))

        def find_waiting():
            cursor.execute(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            )
            return cursor.fetchall() == [(1,)]

        def count_sessions():
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            )
            return cursor.fetchall()[0][0]

        process = subprocess.Popen(
            [sys.executable, "-m", "sigservice", "restore", str(backup_of_filled)],
            env=os.environ | make_database_environ(target),
        )
        try:
            until(find_waiting, "the restore")
            process.send_signal(number)
            assert process.wait(DEADLINE_SECONDS) != 0
        finally:
            process.kill()
            process.wait()
        cursor.execute("SELECT pg_advisory_unlock(%s, hashtext('public'))", (migrate.LOCK,))
        until(lambda: count_sessions() == 1, "the end of the restore's session")
    assert list_relations(conn) == []


@pytest.fixture(scope="module")
def tls_server():
    """A server of the system's version with TLS, which may be older than the embedded one."""
    with run_tls_server() as server:
        yield server


def test_server_with_tls_is_backed_up_and_restored(tls_server, tmp_path):
    tls_server.server.ask('CREATE DATABASE other OWNER "secure"')
    source = tls_server.environ("secure", DATABASE_SSL='{"rejectUnauthorized": false}')
    target = source | {"DATABASE_NAME": "other"}
    with open_existing(environ=source, prepare=migrate.migrate):
        with closing(tls_server.server.connect("secure")) as conn:
            fill_tables(conn)
    write(tmp_path / "x", environ=source)
    read(tmp_path / "x", environ=target)
    with (
        closing(tls_server.server.connect("secure")) as before,
        closing(tls_server.server.connect("other")) as after,
    ):
        assert read_tables(after) == read_tables(before)


def test_backup_of_the_embedded_database_is_restored_on_an_older_server(
    tls_server, filled, backup_of_filled, connect
):
    read(backup_of_filled, environ=tls_server.environ("app"))
    with closing(tls_server.server.connect("app")) as conn:
        assert read_tables(conn) == read_tables(connect(filled))


def test_password_is_not_on_the_command_line(tls_server):
    with open_existing(environ=tls_server.environ("app")) as database:
        tools = find_tools(database.tool_folders, 14, with_tls=False)
        libpq = database.libpq_arguments()
        with tools.start("pg_dump", libpq=libpq, stdout=subprocess.DEVNULL) as process:
            assert "hunter2" not in " ".join(process.args)
    assert process.returncode == 0


def test_missing_programs_are_named_with_their_version():
    with pytest.raises(StartError, match="of PostgreSQL 99 or newer with TLS found") as raised:
        find_tools([packaged_binaries()], 99, with_tls=True)
    assert str(packaged_binaries()) in str(raised.value)
    assert "SERVICE_POSTGRES_BIN" in str(raised.value)


def test_programs_without_tls_are_not_used_for_a_server_with_tls():
    binaries_with_tls()
    assert find_tools([], 14, with_tls=False).folder == packaged_binaries()
    assert find_tools([], 14, with_tls=True).folder != packaged_binaries()
