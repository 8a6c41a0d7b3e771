"""`sigservice export` and `sigservice import`: files, and moving in from a running server."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from sigservice import payload
from sigservice.context import Context
from sigservice.errors import AppError, BadDataError, StartError
from sigservice.log import escape_line
from sigservice.outgoing.proxies import Proxies
from sigservice.services.identity import SYSTEM
from sigservice.services.transfer import feature_import, snapshot_import, snapshots
from sigservice.services.transfer.snapshot_import import Limits
from sigservice.services.transfer.snapshot_write import Changes
from sigservice.services.transfer.snapshots import Inventory
from sigservice.transfer import skipped
from sigservice.transfer.progress import Progress
from sigservice.transfer.remote_client import Source
from sigservice.transfer.remote_snapshot import Note, Reader

COMMANDS = ("export", "import")
NOT_ALL = 3


def add_to(commands: Any) -> None:
    """The two commands' arguments."""
    writing = commands.add_parser("export", help="write everything about flags to a file")
    writing.add_argument("file", nargs="?", metavar="FILE", help="standard output without it")
    reading = commands.add_parser("import", help="take in a file, or the flags of a running server")
    reading.add_argument("file", nargs="?", metavar="FILE")
    reading.add_argument("--from", dest="source", metavar="URL", help="a running server")
    reading.add_argument("--token", help="an admin token of that server")
    reading.add_argument(
        "--token-stdin", action="store_true", help="read the token from standard input"
    )
    reading.add_argument(
        "--project", action="append", default=[], help="only this one; may be repeated"
    )
    reading.add_argument("--environment", help="for a file of other tools: where to")
    reading.add_argument("--dry-run", action="store_true", help="tell what would change")
    reading.set_defaults(complain=reading.error)


def check(chosen: argparse.Namespace) -> None:
    """Ends the process with code 2 for arguments that do not fit together."""
    if chosen.command == "export":
        return
    if bool(chosen.file) == bool(chosen.source):
        chosen.complain("give a FILE or --from URL")
    if chosen.source and not (chosen.token or chosen.token_stdin):
        chosen.complain("--from needs --token or --token-stdin")
    if chosen.file and (chosen.token or chosen.token_stdin):
        chosen.complain("a token belongs to --from")
    if chosen.source and chosen.environment:
        chosen.complain("--environment belongs to a FILE")


def run(chosen: argparse.Namespace, context: Context) -> int:
    """The exit code: 0 done, 1 it can't, 3 when not everything could be carried."""
    if chosen.command == "export":
        return _export(chosen.file, context)
    limits = Limits(context.config["segmentValuesLimit"], context.config["strategySegmentsLimit"])
    try:
        if chosen.source:
            return _import_server(chosen, context, limits)
        return _import_file(chosen, context, limits)
    except AppError as error:
        for detail in error.details:
            place = f"{detail['path']}: " if detail.get("path") else ""
            print(escape_line(f"sigservice: {place}{detail['message']}"), file=sys.stderr)
        return 1


def _export(file: str | None, context: Context) -> int:
    with context.database.transaction(snapshot=True) as conn:
        found = snapshots.read(conn)
    data = msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n"
    if file is None:
        sys.stdout.buffer.write(data)
        return 0
    try:
        Path(file).write_bytes(data)
    except OSError as error:
        raise StartError(f"{file} can't be written: {error.strerror}") from error
    print(f"{file}: {len(found.features)} flags, {len(found.projects)} projects")
    return 0


def _import_file(chosen: argparse.Namespace, context: Context, limits: Limits) -> int:
    try:
        value = payload.parse(Path(chosen.file).read_bytes())
    except OSError as error:
        raise StartError(f"{chosen.file} can't be read: {error.strerror}") from error
    if not isinstance(value, dict):
        raise BadDataError("This is not a file of flags.")
    is_ours = value.get("format") == "sigservice"
    if is_ours and (chosen.project or chosen.environment):
        raise BadDataError("This file has its own projects and environments.")
    if not is_ours and (len(chosen.project) != 1 or not chosen.environment):
        raise BadDataError("Flags of one environment need --project and --environment.")
    with context.database.transaction() as conn:
        if is_ours:
            changes = snapshot_import.take_all(conn, _inventory(value), SYSTEM, limits)
        else:
            document = feature_import.parse(value)
            (project,) = chosen.project
            changes = feature_import.take(
                conn, project, chosen.environment, document, SYSTEM, limits
            )
        if chosen.dry_run:
            conn.rollback()
    _tell(changes, chosen.dry_run)
    return 0


def _inventory(value: dict[str, Any]) -> Inventory:
    """Raises BadDataError."""
    version = value.get("version")
    if version != snapshots.VERSION:
        raise BadDataError(f"The file's version is {version}, this program reads 1.")
    try:
        return msgspec.convert(value, Inventory)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at ")
        path = path.strip("`").removeprefix("$.")
        raise BadDataError(message, path=path) from error


def _import_server(chosen: argparse.Namespace, context: Context, limits: Limits) -> int:
    token = sys.stdin.readline() if chosen.token_stdin else chosen.token
    source = Source(chosen.source, token, proxies=Proxies.from_config(context.config))
    reader = Reader(source, Progress(sys.stderr), chosen.project)
    wanted = reader.read()
    notes = [*reader.notes, *skipped.count_others(source)]
    people = skipped.count_people(source)
    with context.database.transaction() as conn:
        changes, findings = snapshot_import.take_what_fits(conn, wanted, SYSTEM, limits)
        if chosen.dry_run:
            conn.rollback()
    notes += [
        Note(f"{found.kind} {found.item}", f"{found.path.partition('.')[2]}: {found.message}")
        for found in findings
    ]
    _tell(changes, chosen.dry_run)
    _list("Not carried:", notes)
    _list("Never carried:", people)
    return NOT_ALL if notes else 0


def _tell(changes: Changes, is_dry: bool) -> None:
    whats: dict[tuple[str, str], list[str]] = defaultdict(list)
    for change in changes.made:
        whats[change.kind, change.name].append(change.what)
    for (kind, name), what in whats.items():
        print(escape_line(f"{kind} {name}: {'; '.join(what)}"))
    print(f"{len(whats)} {'would change; nothing was written' if is_dry else 'changed'}")


def _list(title: str, notes: Sequence[Note]) -> None:
    if notes:
        print(title)
    for note in notes:
        print(escape_line(f"  {note.what}: {note.why}"))
