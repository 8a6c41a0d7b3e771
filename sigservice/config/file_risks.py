"""Risks of files and directories that the configuration names."""

import os
from collections.abc import Iterator
from pathlib import Path

from sigservice.config.encryption import PUBLIC_KEY
from sigservice.config.risk import Config, Risk, Sources
from sigservice.crypto.encryption import KEY_FILE, describe_exposure


def find_encryption_risks(config: Config, sources: Sources) -> Iterator[Risk]:
    """Of the key file that signing secrets need if no key is configured."""
    if keys := config["signals"]["encryptionKey"]:
        if PUBLIC_KEY in keys:
            text = "Signing secrets are encrypted with the public key of the documentation."
            yield Risk("danger", "signals.encryptionKey", text)
        return
    path, file = "signals.encryptionKeyFile", config["signals"]["encryptionKeyFile"]
    if file:
        if exposure := describe_exposure(Path(file)):
            yield Risk("warning", path, f"{exposure}.")
        return
    home, is_temporary = Path(config["dataDir"]).absolute(), config["dataDir"] == ":temporary:"
    if exposure := describe_exposure(home / KEY_FILE):
        yield Risk("warning", "signals.encryptionKey", f"{exposure}.")
    if config["db"]["embedded"]:
        return
    # Path.exists raises for a folder that this account can't enter.
    existing = next(folder for folder in (home, *home.parents) if os.path.exists(folder))
    if is_temporary or not os.access(existing, os.W_OK | os.X_OK):
        yield Risk(
            "warning",
            "signals.encryptionKey",
            "Signing secrets can't be stored, because SERVICE_DATA_DIR can't keep their encryption "
            "key: set SERVICE_ENCRYPTION_KEY.",
        )
    else:
        yield Risk(
            "note",
            "signals.encryptionKey",
            f"The first signing secret creates its encryption key in {home / KEY_FILE}, which a "
            "backup and processes on other machines need too. Or set SERVICE_ENCRYPTION_KEY.",
        )


def find_archive_risks(config: Config, sources: Sources) -> Iterator[Risk]:
    directory = config["archiveDir"]
    if directory is None:
        if config["events"]["retentionDays"]:
            text = "Old audit events are deleted without a copy: set SERVICE_ARCHIVE_DIR."
            yield Risk("note", "archiveDir", text)
    elif not (os.path.isdir(directory) and os.access(directory, os.W_OK | os.X_OK)):
        yield Risk(
            "warning",
            "archiveDir",
            "It is not a directory that this account can write to: old signals and events are not "
            "deleted.",
        )
