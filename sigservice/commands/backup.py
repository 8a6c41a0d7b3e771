"""`sigservice backup` and `sigservice restore`."""

import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from sigservice.application.start import build_loggers
from sigservice.commands.parsers import add_parser
from sigservice.config import load_config
from sigservice.crypto.encryption import KEY_FILE
from sigservice.db import backup, migrate, restore
from sigservice.db.data_directory import TEMPORARY
from sigservice.db.open import OpenDatabase

COMMANDS = ("backup", "restore")


def add_parsers(commands: Any) -> None:
    """Adds the parsers of both commands."""
    for name, summary, details, file in (
        (
            "backup",
            "write the database to a new file, also while the service runs",
            "Uses the variables of the service, such as SERVICE_DATA_DIR or DATABASE_URL. The "
            "encryption key is not included. docs/run.md describes backups each night.",
            "the file to create; an existing one is never replaced",
        ),
        (
            "restore",
            "restore a backup into an empty database",
            "Uses the variables of the service, and creates the data directory. Stop the service "
            "first. Everything is restored, or nothing. Restore only files that you "
            "trust: they contain SQL statements.",
            "a file that `sigservice backup` wrote",
        ),
    ):
        example = f"SERVICE_DATA_DIR=/var/lib/sigservice/data sigservice {name} flags.backup"
        parser = add_parser(commands, name, summary, details, example)
        parser.add_argument("file", metavar="FILE", type=Path, help=file)


def run_command(
    command: str, file: Path, environ: Mapping[str, str], announce: Callable[[str], None]
) -> int:
    """Returns the exit code 0. Raises ConfigError and StartError. `announce` is called with a
    description of the database."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # removes the draft
    config = load_config(None, environ).config
    run = _back_up if command == "backup" else _restore
    run(file.absolute(), config, announce)
    return 0


def _back_up(file: Path, config: dict[str, Any], announce: Callable[[str], None]) -> None:
    with closing(_open(config, announce, must_exist=True)) as database:
        backup.write_backup(database, file)
        key = _find_key(config, database)
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
    if key:
        print(
            f"The backup doesn't include the encryption key, {key}. Keep a copy of the key in "
            "another place: without it the stored signing secrets can't be read."
        )


def _restore(file: Path, config: dict[str, Any], announce: Callable[[str], None]) -> None:
    with (
        restore.open_backup(file) as dump,
        closing(_open(config, announce, must_exist=False)) as database,
    ):
        pending = restore.restore_backup(database, dump)
        key = _find_key(config, database)
        home, is_temporary = database.home, database.is_temporary
    print(f"Restored {file}.")
    if is_temporary:
        print(f"The restored database was deleted: SERVICE_DATA_DIR is {TEMPORARY}.")
        return
    if pending:
        print(f"The next start applies {pending} migrations.")
    if not key:
        where = f"copy it to {home / KEY_FILE}, or set" if home else "set"
        print(
            "The backup doesn't include the encryption key. If the service had one, "
            f"{where} SERVICE_ENCRYPTION_KEY before the next start: without the key the stored "
            "signing secrets can't be read."
        )


def _open(
    config: dict[str, Any], announce: Callable[[str], None], *, must_exist: bool
) -> OpenDatabase:
    return OpenDatabase(
        config,
        build_loggers(config)("database"),
        must_exist=must_exist,
        prepare=migrate.connect,
        announce=announce,
    )


def _find_key(config: dict[str, Any], database: OpenDatabase) -> str:
    """Where the encryption key is; "" if there is none."""
    if config["signals"]["encryptionKey"]:
        return "SERVICE_ENCRYPTION_KEY"
    if path := config["signals"]["encryptionKeyFile"]:
        return str(path)
    file = database.home / KEY_FILE if database.home is not None else None
    return str(file) if file is not None and file.exists() else ""
