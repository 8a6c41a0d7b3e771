"""Finds pg_dump and pg_restore of a matching version, and runs them."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psycopg2.extensions

from sigservice.db.data_directory import packaged_binaries
from sigservice.errors import StartError

PROGRAMS = ("pg_dump", "pg_restore")
MIN_VERSION = 14
_SYSTEM = Path("/usr/lib/postgresql")  # of Debian and Ubuntu
# libpq validates the mode before it connects, so the program ends at once.
_TLS_PROBE = "--dbname=host=/nonexistent sslmode=require"
_NO_TLS = "not compiled in"
_ERROR = re.compile(r"(?:ERROR|FATAL|error):\s+(.*)")
_KEEP_OUT = ("password", "require_auth", "load_balance_hosts", "sslcertmode", "sslnegotiation")


@dataclass(frozen=True)
class PostgresTools:
    """The programs in `folder`, of the major version `version`."""

    folder: Path
    version: int

    def start(
        self, program: str, *arguments: str, libpq: Mapping[str, Any] | None = None, **files: Any
    ) -> subprocess.Popen[bytes]:
        """Starts a program, which connects with `libpq`. Its environment has the password, because
        all accounts can read command lines, and no other variable of libpq."""
        environ = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
        command = [str(self.folder / program), *arguments]
        if libpq is not None:
            environ["PGPASSWORD"] = str(libpq["password"])
            # Leaves out arguments that old versions of libpq reject; without its variables they are
            # its defaults.
            named = {name: value for name, value in libpq.items() if name not in _KEEP_OUT}
            command.append(f"--dbname={psycopg2.extensions.make_dsn(**named)}")
        return subprocess.Popen(command, cwd="/", env=environ, **files)


def find_tools(folders: list[Path], min_version: int, *, with_tls: bool) -> PostgresTools:
    """The first of `folders`, the embedded PostgreSQL and the system's folders that has the
    programs in `min_version` or newer. Raises StartError, which names the version, if there is
    none."""
    rejected = []
    for folder in dict.fromkeys([*folders, *_list_other_folders()]):
        version = _read_version(folder)
        if version < max(min_version, MIN_VERSION):
            rejected.append(f"{folder} ({version or 'no version'})")
        elif with_tls and _NO_TLS in _run(folder / PROGRAMS[0], _TLS_PROBE):
            rejected.append(f"{folder} ({version}, without TLS)")
        else:
            return PostgresTools(folder, version)
    tls = " with TLS" if with_tls else ""
    tried = f" Not suitable: {', '.join(rejected)}." if rejected else ""
    raise StartError(
        f"No pg_dump and pg_restore of PostgreSQL {min_version} or newer{tls} found.{tried} "
        f"Install them (Debian: postgresql-client-{min_version}), or set SERVICE_POSTGRES_BIN to "
        "their folder."
    )


def _list_other_folders() -> list[Path]:
    try:
        folders = [packaged_binaries()]
    except StartError:
        folders = []
    versions = [folder for folder in _SYSTEM.glob("*/bin") if folder.parent.name.isdigit()]
    folders += sorted(versions, key=lambda folder: int(folder.parent.name), reverse=True)
    path = shutil.which(PROGRAMS[0])
    return [*folders, Path(path).parent] if path else folders


def _read_version(folder: Path) -> int:
    """The major version of the programs, or 0 if one is missing."""
    if not all((folder / program).is_file() for program in PROGRAMS):
        return 0
    words = _run(folder / PROGRAMS[0], "--version").split()  # pg_dump (PostgreSQL) 18.4 (Debian…)
    number = words[2].partition(".")[0] if len(words) > 2 else ""
    digits = number.rstrip("abcdefghijklmnopqrstuvwxyz")  # 19devel
    return int(digits) if digits.isdigit() else 0


def _run(program: Path, argument: str) -> str:
    try:
        result = subprocess.run(
            [str(program), argument],
            capture_output=True,
            check=False,
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
        )
    except OSError:
        return ""
    return (result.stdout + result.stderr).decode(errors="replace")


def read_error(file: IO[bytes]) -> str:
    """One line of a program's standard error."""
    file.seek(0)
    text = file.read(100_000).decode(errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [match[1] for line in lines if (match := _ERROR.search(line))]
    return (errors or lines or ["no reason"])[0]
