"""Old events and signals are in the archive before they are deleted."""

from __future__ import annotations

import json
import resource
import threading
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
import webtest

from sigservice.jobs import archive, retention
from tests.conftest import ADMIN, Make

OLD = datetime(2024, 1, 31, 23, 59, 59, 999_000, tzinfo=UTC)
LATER = datetime(2024, 2, 1, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path):
    return tmp_path


@pytest.fixture
def archiving(make_service, folder, rows):
    """A service with a retention of 30 days for events and signals, and no event yet."""
    service = make_service(
        environ={
            "SERVICE_EVENTS_RETENTION_DAYS": "30",
            "SERVICE_SIGNALS_RETENTION_DAYS": "30",
            "SERVICE_SIGNALS_RETENTION_COUNT": "5",
            "SERVICE_ARCHIVE_DIR": str(folder),
        }
    )
    rows("DELETE FROM events")
    return service


def add_events(rows, count, created_at=OLD):
    statement = (
        "INSERT INTO events (created_at, type, created_by, ip, feature_name, data) "
        "SELECT %s, 'feature-updated', 'ada', '10.0.0.7', 'flag', '{\"n\": 1}' "
        "FROM generate_series(1, %s) RETURNING id"
    )
    return [id for (id,) in rows(statement, created_at, count)]


def add_signals(rows, endpoint_id, count, created_at=OLD, payload='{"x":\r\n 1}'):
    statement = (
        "INSERT INTO signals (endpoint_id, token_id, payload, payload_bytes, created_at) "
        "SELECT %s, 0, %s, 2, %s FROM generate_series(1, %s) RETURNING id"
    )
    return [id for (id,) in rows(statement, endpoint_id, payload, created_at, count)]


def read(folder, name):
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def count(rows, table):
    return rows(f"SELECT count(*) FROM {table}")[0][0]


def test_old_events_are_archived_by_month_and_deleted(archiving, folder, rows):
    (first,), (second,) = add_events(rows, 1), add_events(rows, 1, LATER)
    recent = add_events(rows, 2, datetime.now(UTC))
    assert retention.run_once(archiving.context) == 2
    assert [id for (id,) in rows("SELECT id FROM events ORDER BY id")] == recent
    assert sorted(path.name for path in folder.iterdir()) == [
        "events-2024-01.ndjson",
        "events-2024-02.ndjson",
    ]
    (event,) = read(folder, "events-2024-01.ndjson")
    assert event["id"] == first
    assert event["createdAt"] == "2024-01-31T23:59:59.999Z"
    assert (event["type"], event["createdBy"]) == ("feature-updated", "ada")
    assert (event["ip"], event["featureName"], event["data"]) == ("10.0.0.7", "flag", {"n": 1})
    assert [event["id"] for event in read(folder, "events-2024-02.ndjson")] == [second]
    assert (folder / "events-2024-01.ndjson").stat().st_mode & 0o777 == 0o600


def test_events_are_kept_by_default(service, rows):
    add_events(rows, 3)
    before = count(rows, "events")
    assert retention.run_once(service.context) == 0
    assert count(rows, "events") == before


def test_events_are_deleted_without_an_archive_if_none_is_configured(make_service, rows):
    service = make_service(environ={"SERVICE_EVENTS_RETENTION_DAYS": "30"})
    before = count(rows, "events")
    add_events(rows, 3)
    assert retention.run_once(service.context) == 3
    assert count(rows, "events") == before


def test_signals_are_archived_before_any_deletion(archiving, folder, rows):
    web = webtest.TestApp(archiving.app)
    make = Make(web)
    id, gone = make.endpoint("deploys")["id"], make.endpoint("gone")["id"]
    old = add_signals(rows, id, 2)
    surplus = add_signals(rows, id, 7, datetime.now(UTC))[:2]
    orphaned = add_signals(rows, gone, 1, datetime.now(UTC))
    web.delete(f"/api/admin/signal-endpoints/{gone}", headers=ADMIN)
    assert retention.run_once(archiving.context) == 5
    assert count(rows, "signals") == 5
    signals = {
        item["id"]: item
        for path in folder.glob("signals-*.ndjson")
        for item in read(folder, path.name)
    }
    assert set(signals) == {*old, *surplus, *orphaned}
    assert signals[old[0]] == {
        "id": old[0],
        "source": "signal-endpoint",
        "sourceId": id,
        "sourceName": "deploys",
        "createdAt": "2024-01-31T23:59:59.999Z",
        "payload": {"x": 1},
        "createdBySourceTokenId": 0,
        "tokenName": None,
        "sentBy": None,
        "replayOf": None,
    }


def test_queued_signals_are_neither_archived_nor_deleted(archiving, folder, rows, monkeypatch):
    monkeypatch.setattr(retention, "ARCHIVE_CHUNK", 2)
    endpoint = Make(webtest.TestApp(archiving.app)).endpoint()["id"]
    queued, *others = add_signals(rows, endpoint, 5)
    rows("INSERT INTO signal_queue (signal_id, endpoint_id) VALUES (%s, %s)", queued, endpoint)
    assert retention.run_once(archiving.context) == 4
    assert rows("SELECT id FROM signals") == [(queued,)]
    assert [item["id"] for item in read(folder, "signals-2024-01.ndjson")] == others


def test_a_kill_between_writing_and_deleting_loses_no_event(archiving, folder, rows, monkeypatch):
    monkeypatch.setattr(retention, "ARCHIVE_CHUNK", 2)
    ids, append = add_events(rows, 5), archive.append

    def append_and_die(*arguments):
        append(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(archive, "append", append_and_die)
    with pytest.raises(KeyboardInterrupt):
        retention.run_once(archiving.context)
    assert count(rows, "events") == 5
    monkeypatch.setattr(archive, "append", append)
    assert retention.run_once(archiving.context) == 5
    ids_in_file = [event["id"] for event in read(folder, "events-2024-01.ndjson")]
    assert ids_in_file == [*ids[:2], *ids]


def test_without_its_directory_nothing_is_deleted_but_other_rows(archiving, folder, rows):
    add_events(rows, 1)
    rows("INSERT INTO feature_last_seen VALUES ('gone', 'development', now())")
    folder.rmdir()
    with pytest.raises(FileNotFoundError):
        retention.run_once(archiving.context)
    assert (count(rows, "events"), count(rows, "feature_last_seen")) == (1, 0)
    folder.mkdir()
    assert retention.run_once(archiving.context) == 1


def test_a_process_skips_what_another_one_is_archiving(archiving, folder, rows, monkeypatch):
    monkeypatch.setattr(retention, "ARCHIVE_CHUNK", 2)
    ids, append, counts = add_events(rows, 5), archive.append, []

    def run_beside(*arguments):
        monkeypatch.setattr(archive, "append", append)
        other = threading.Thread(
            target=lambda: counts.append(retention.run_once(archiving.context))
        )
        other.start()
        other.join()
        append(*arguments)

    monkeypatch.setattr(archive, "append", run_beside)
    counts.append(retention.run_once(archiving.context))
    assert counts == [0, 5]
    assert [event["id"] for event in read(folder, "events-2024-01.ndjson")] == ids


def test_lines_of_several_processes_stay_apart(folder):
    entries = [archive.Entry(OLD, {"text": "x" * 1_000_000})] * 5
    threads = [
        threading.Thread(target=archive.append, args=(str(folder), "events", entries))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read(folder, "events-2024-01.ndjson")) == 20


def test_lists_searches_and_history_work_after_a_deletion(archiving, rows):
    web = webtest.TestApp(archiving.app)
    web.post_json("/api/admin/projects/default/features", {"name": "flag"}, headers=ADMIN)
    rows("UPDATE events SET created_at = %s", OLD)
    (recent,) = add_events(rows, 1, datetime.now(UTC))
    assert retention.run_once(archiving.context) >= 1
    for query in ("", "?query=flag", "?feature=IS:flag", "?from=IS:2024-01-01"):
        events = web.get(f"/api/admin/search/events{query}", headers=ADMIN).json
        assert ([event["id"] for event in events["events"]], events["total"]) == ([recent], 1)
    assert web.get("/api/admin/events/flag", headers=ADMIN).json["totalEvents"] == 1


def make_entries(*numbers, created_at=OLD):
    return [archive.Entry(created_at, {"id": number}) for number in numbers]


def test_a_line_that_a_kill_cut_off_does_not_damage_the_next_one(folder):
    archive.append(str(folder), "events", make_entries(1))
    file = folder / "events-2024-01.ndjson"
    file.write_bytes(file.read_bytes() + b'{"id": 2, "da')
    archive.append(str(folder), "events", make_entries(2))
    assert file.read_text().splitlines() == ['{"id":1}', '{"id": 2, "da', '{"id":2}']


@contextmanager
def limit_file_size(size):
    """Writes beyond `size` fail, as on a full disk, after those that fit."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_full_disk_leaves_no_part_of_a_line(folder):
    file, content = folder / "events-2024-01.ndjson", b"x" * 9_999_990 + b"\n"
    file.write_bytes(content)
    with limit_file_size(10_000_000), pytest.raises(OSError, match="too large"):
        archive.append(str(folder), "events", make_entries(1, 2, 3))
    assert file.read_bytes() == content
