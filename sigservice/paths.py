"""The folders sql, templates and static: next to the package, or inside it in a wheel."""

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource_dir(name: str) -> Path:
    """The folder `name`; raises FileNotFoundError if the installation lacks it."""
    in_checkout = (_PACKAGE.parent / "setup.cfg").is_file()
    folder = _PACKAGE.parent / name if in_checkout else _PACKAGE / f"_{name}"
    if not folder.is_dir():
        raise FileNotFoundError(f"sigservice is installed without its {name} folder")
    return folder


def sync_folder(folder: str | Path) -> None:
    """Makes the names of new files durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
