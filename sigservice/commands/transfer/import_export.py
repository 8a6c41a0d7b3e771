"""`sigservice export` and `sigservice import`, from a file or from a running server."""

import argparse
import contextlib
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sigservice import payload
from sigservice.commands.parsers import add_parser
from sigservice.commands.transfer import remote_snapshot
from sigservice.commands.transfer.progress import Progress
from sigservice.commands.transfer.remote_client import RemoteClient
from sigservice.commands.transfer.remote_snapshot import RemoteSnapshotReader
from sigservice.context import Context
from sigservice.db import Connection
from sigservice.errors import AppError, BadDataError, StartError
from sigservice.log import escape_line
from sigservice.outgoing.proxies import Proxies
from sigservice.repository.integrations import integrations as integration_rows
from sigservice.repository.transfer import definitions
from sigservice.routes.admin.integrations.integrations import make_rules
from sigservice.services.identity import SYSTEM
from sigservice.services.transfer import (
    feature_import,
    integration_transfer,
    snapshot_import,
    snapshot_writer,
    snapshots,
)
from sigservice.services.transfer.automation_import import AutomationImporter
from sigservice.services.transfer.automations import Export, read_export
from sigservice.services.transfer.snapshot_import import ImportLimits, Notice, PartialChanges
from sigservice.services.transfer.snapshot_writer import ImportChanges
from sigservice.services.transfer.snapshots import Snapshot
from sigservice.web.body import to_struct
from sigservice.wording import plural

COMMANDS = ("export", "import")
EXIT_INCOMPLETE = 3
INTEGRATION_SECRETS = "Enter before you enable the integration:"


def add_parsers(commands: Any) -> None:
    """Adds the parsers of both commands."""
    export = add_parser(
        commands,
        "export",
        "write all flags and definitions to a file",
        "The file is JSON without users, tokens and signals; `sigservice import` reads it. For a "
        "copy of the whole database use `sigservice backup`. docs/import-export.md has details.",
        "sigservice export flags.json",
    )
    export.add_argument("file", nargs="?", metavar="FILE", help="default: standard output")
    export.add_argument(
        "--integrations", action="store_true", help="include integrations, without their secrets"
    )
    importer = add_parser(
        commands,
        "import",
        "import a file or the flags of a running server",
        "FILE is one of `sigservice export`, or of the export of Unleash. Exit codes: 0 success, "
        "1 failure, 3 some items were skipped. docs/import-export.md has details.",
        "sigservice import --from https://unleash.example.com --token-stdin <token --dry-run",
    )
    importer.add_argument("file", nargs="?", metavar="FILE", help="the file to import")
    importer.add_argument("--from", dest="source", metavar="URL", help="a running server")
    importer.add_argument("--token", help="an admin token of that server")
    importer.add_argument(
        "--token-stdin", action="store_true", help="read the token from standard input"
    )
    importer.add_argument(
        "--project", action="append", default=[], help="import only this project; repeatable"
    )
    importer.add_argument("--environment", help="the target environment for a file of another tool")
    importer.add_argument(
        "--dry-run", action="store_true", help="show the changes without writing them"
    )
    importer.set_defaults(fail=importer.error)


def check_arguments(arguments: argparse.Namespace) -> None:
    """Ends the process with code 2 for arguments that can't be combined."""
    if arguments.command == "export":
        return
    if bool(arguments.file) == bool(arguments.source):
        arguments.fail("FILE or --from URL is required")
    if arguments.source and not (arguments.token or arguments.token_stdin):
        arguments.fail("--from requires --token or --token-stdin")
    if arguments.file and (arguments.token or arguments.token_stdin):
        arguments.fail("--token and --token-stdin require --from")
    if arguments.source and arguments.environment:
        arguments.fail("--environment requires FILE")


def run_command(arguments: argparse.Namespace, context: Context) -> int:
    """The exit code: 0 success, 1 failure, 3 if some items were skipped."""
    if arguments.command == "export":
        return _export(arguments.file, context, with_integrations=arguments.integrations)
    limits = ImportLimits.from_config(context.config)
    try:
        if arguments.source:
            return _import_server(arguments, context, limits)
        return _import_file(arguments, context, limits)
    except AppError as error:
        for detail in error.details:
            path = f"{detail['path']}: " if detail.get("path") else ""
            print(escape_line(f"sigservice: {path}{detail['message']}"), file=sys.stderr)
        return 1


def _export(file: str | None, context: Context, *, with_integrations: bool) -> int:
    with context.database.transaction(snapshot=True) as conn:
        export = read_export(conn)
        if with_integrations:
            export.integrations = integration_transfer.read_integrations(conn)
    data = msgspec.json.format(msgspec.json.encode(export), indent=1) + b"\n"
    if file is None:
        sys.stdout.buffer.write(data)
        return 0
    try:
        Path(file).write_bytes(data)
    except OSError as error:
        raise StartError(f"{file} could not be written: {error.strerror}") from error
    flags, projects = len(export.features), len(export.projects)
    print(f"{file}: {plural(flags, 'flag')}, {plural(projects, 'project')}")
    return 0


def _import_file(arguments: argparse.Namespace, context: Context, limits: ImportLimits) -> int:
    try:
        value = payload.parse(Path(arguments.file).read_bytes(), "file")
    except OSError as error:
        raise StartError(f"{arguments.file} could not be read: {error.strerror}") from error
    if not isinstance(value, dict):
        raise BadDataError("The file is not an export of flags.")
    is_snapshot = value.get("format") == "sigservice"
    if is_snapshot and (arguments.project or arguments.environment):
        raise BadDataError(
            "--project and --environment can't be used with this file: it contains its own."
        )
    if not is_snapshot and (len(arguments.project) != 1 or not arguments.environment):
        raise BadDataError(
            "A file with flags of one environment requires --project and --environment."
        )
    progress = Progress(sys.stderr)
    automations, integrations = PartialChanges(), PartialChanges()
    with _write_transaction(context, is_dry_run=arguments.dry_run) as conn:
        if is_snapshot:
            export = _parse_export(value)
            _start_writing(progress, len(export.features))
            changes, _ = snapshot_import.import_snapshot(
                conn, export, SYSTEM, limits, progress.advance
            )
            automations = AutomationImporter(
                conn, SYSTEM, context.config, context.encryption, context.clock.now()
            ).write(export)
            changes.entries += automations.entries
            integrations = _import_integrations(conn, export, context)
        else:
            document = feature_import.parse_document(value)
            (project,) = arguments.project
            _start_writing(progress, len(document.features))
            changes = feature_import.import_features(
                conn, project, arguments.environment, document, SYSTEM, limits, progress.advance
            )
    progress.finish()
    changes.entries += integrations.entries
    _print_changes(changes, arguments.dry_run)
    skipped = automations.skipped + integrations.skipped
    _print_items("Skipped:", skipped)
    _print_items("Enter again, because a file has no secrets:", automations.secrets)
    _print_items(INTEGRATION_SECRETS, integrations.secrets)
    return EXIT_INCOMPLETE if skipped else 0


def _import_integrations(conn: Connection, snapshot: Snapshot, context: Context) -> PartialChanges:
    return integration_transfer.import_integrations(
        conn, snapshot.integrations or [], SYSTEM, make_rules(context)
    )


def _start_writing(progress: Progress, count: int) -> None:
    """Fewer flags are written at once."""
    if count > snapshot_writer.PIECE:
        progress.start_stage("writing flags", count)


@contextlib.contextmanager
def _write_transaction(context: Context, *, is_dry_run: bool) -> Iterator[Connection]:
    """A transaction without the timeouts of requests: a large import takes its time, on a slow
    machine above all."""
    with context.database.transaction() as conn:
        definitions.lift_timeouts(conn)
        integration_rows.lock(conn)  # before events, which lock the integrations that want them
        yield conn
        if is_dry_run:
            conn.rollback()


def _parse_export(value: dict[str, Any]) -> Export:
    """Raises BadDataError."""
    version = value.get("version")
    if version != snapshots.VERSION:
        raise BadDataError(f"The file's version is {version}; only version 1 is supported.")
    return to_struct(value, Export)


def _import_server(arguments: argparse.Namespace, context: Context, limits: ImportLimits) -> int:
    token = sys.stdin.readline() if arguments.token_stdin else arguments.token
    client = RemoteClient(arguments.source, token, proxies=Proxies.from_config(context.config))
    progress = Progress(sys.stderr)
    reader = RemoteSnapshotReader(client, progress, arguments.project)
    snapshot = reader.read()
    skipped = [*reader.skipped, *remote_snapshot.list_unsupported(client)]
    accounts = remote_snapshot.list_accounts(client)
    _start_writing(progress, len(snapshot.features))
    with _write_transaction(context, is_dry_run=arguments.dry_run) as conn:
        changes, findings = snapshot_import.import_snapshot(
            conn, snapshot, SYSTEM, limits, progress.advance, lenient=True
        )
        integrations = _import_integrations(conn, snapshot, context)
    progress.finish()
    changes.entries += integrations.entries
    skipped += integrations.skipped
    skipped += [
        Notice(f"{it.kind} {it.item}", f"{it.path.partition('.')[2]}: {it.message}")
        for it in findings
    ]
    _print_changes(changes, arguments.dry_run)
    _print_items("Skipped:", skipped)
    _print_items("Never imported:", accounts)
    _print_items(INTEGRATION_SECRETS, integrations.secrets)
    return EXIT_INCOMPLETE if skipped else 0


def _print_changes(changes: ImportChanges, is_dry_run: bool) -> None:
    descriptions: dict[tuple[str, str], list[str]] = defaultdict(list)
    for change in changes.entries:
        descriptions[change.kind, change.name].append(change.description)
    for (kind, name), texts in descriptions.items():
        print(escape_line(f"{kind} {name}: {'; '.join(texts)}"))
    print(f"{len(descriptions)} {'would change; nothing was written' if is_dry_run else 'changed'}")


def _print_items(title: str, items: Sequence[Notice]) -> None:
    if items:
        print(title)
    for name, text in items:
        print(escape_line(f"  {name}: {text}"))
