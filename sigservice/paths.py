"""The folders sql, templates and static: next to the package, or inside it in a wheel. And what
makes files durable and private."""

import contextlib
import os
import stat
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource_dir(name: str) -> Path:
    """The folder `name`; raises FileNotFoundError if the installation lacks it."""
    in_checkout = (_PACKAGE.parent / "setup.cfg").is_file()
    folder = _PACKAGE.parent / name if in_checkout else _PACKAGE / f"_{name}"
    if not folder.is_dir():
        raise FileNotFoundError(f"sigservice is installed without its {name} folder")
    return folder


def make_private(path: Path) -> bool:
    """Takes a folder or file of the service away from other accounts, which have access to it after
    a copy, or from the volume (`fsGroup` of Kubernetes). False if they still have it."""
    with contextlib.suppress(OSError):
        path.chmod(path.stat().st_mode & stat.S_IRWXU)
    return not path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)


def sync_folder(folder: str | Path) -> None:
    """Makes the names of new files durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
