"""The file of a backup: an uncompressed tar archive with `database.dump`, which pg_restore reads,
and `manifest.json`.

The dump comes first, because its size and the digest in the manifest are known only after it."""

import hashlib
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Annotated

import msgspec
from msgspec import Meta

from sigservice.errors import StartError

DUMP, MANIFEST, FORMAT = "database.dump", "manifest.json", 1
_CHUNK_BYTES = 1 << 20
_MAX_MANIFEST_BYTES = 10_000_000
# Names of tables, which operators may add, and of migrations. They are printed, but never part of a
# statement.
_Name = Annotated[str, Meta(pattern=r"\A[^\x00-\x1f\x7f-\x9f]{1,63}\Z")]


class Table(msgspec.Struct, frozen=True):
    """`digest`, a number, doesn't depend on the order of the rows."""

    name: _Name
    rows: Annotated[int, Meta(ge=0)]
    digest: Annotated[str, Meta(pattern=r"\A-?[0-9]{1,40}\Z")]


class Manifest(msgspec.Struct, frozen=True):
    """The values that a restore verifies. `tools` is the major version of the pg_dump, `migrations`
    are checksums by name, `has_key` says whether the service had an encryption key."""

    format: int
    version: str
    created_at: Annotated[str, Meta(pattern=r"\A[-+.:0-9TZ]{1,40}\Z")]
    tools: int
    db_schema: str
    migrations: dict[_Name, str]
    tables: list[Table]
    has_key: bool
    dump_sha256: str = ""


class _Format(msgspec.Struct):
    format: int


class BackupWriter:
    """A backup that is being written. `write_dump` comes first, then `write_manifest`."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write_dump(self, stream: IO[bytes]) -> str:
        """Copies the dump to the end of the stream; returns its SHA-256. Raises OSError."""
        self._file.seek(tarfile.BLOCKSIZE)
        digest, size = hashlib.sha256(), 0
        while chunk := stream.read(_CHUNK_BYTES):
            self._file.write(chunk)
            digest.update(chunk)
            size += len(chunk)
        self._pad(size)
        self._file.seek(0)
        self._write_header(DUMP, size)
        self._file.seek(0, os.SEEK_END)
        return digest.hexdigest()

    def write_manifest(self, manifest: Manifest) -> None:
        """Writes the rest of the file. Raises OSError."""
        data = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
        self._write_header(MANIFEST, len(data))
        self._file.write(data)
        self._pad(len(data))
        self._file.write(bytes(2 * tarfile.BLOCKSIZE))

    def _write_header(self, name: str, size: int) -> None:
        header = tarfile.TarInfo(name)
        header.size, header.mode = size, 0o600
        self._file.write(header.tobuf(tarfile.GNU_FORMAT))

    def _pad(self, size: int) -> None:
        self._file.write(bytes(-size % tarfile.BLOCKSIZE))


@contextmanager
def create_file(path: Path) -> Iterator[IO[bytes]]:
    """A temporary file beside `path`, with mode 600, which is renamed to it after the block. Raises
    StartError if `path` exists or can't be written."""
    if path.exists():
        raise StartError(f"{path} exists already; a backup never replaces a file.")
    draft = ""
    try:
        handle, draft = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name}.", suffix=".partial"
        )
        with os.fdopen(handle, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.rename(draft, path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise StartError(f"{path} could not be written: {error.strerror}.") from error
    finally:
        with suppress(FileNotFoundError):
            os.unlink(draft)


@contextmanager
def open_dump(path: Path) -> Iterator[tuple[Manifest, IO[bytes]]]:
    """The manifest, and a file whose offset is the beginning of the verified dump. Raises
    StartError for a file that is no complete backup."""
    try:
        with open(path, "rb", buffering=0) as file:
            manifest, offset = _read(file, path)
            file.seek(offset)
            yield manifest, file
    except OSError as error:
        raise StartError(f"{path} could not be read: {error.strerror}.") from error


def _read(file: IO[bytes], path: Path) -> tuple[Manifest, int]:
    try:
        with tarfile.open(fileobj=file, mode="r:") as archive:
            dump, entry = archive.getmember(DUMP), archive.getmember(MANIFEST)
            stream, text = archive.extractfile(dump), archive.extractfile(entry)
            if stream is None or text is None or entry.size > _MAX_MANIFEST_BYTES:
                raise KeyError(MANIFEST)
            data = text.read()
            newer = msgspec.json.decode(data, type=_Format).format
            if newer != FORMAT:
                raise StartError(
                    f"{path} has the format {newer} of backups; only {FORMAT} is supported: "
                    "use the version that wrote it."
                )
            manifest = msgspec.json.decode(data, type=Manifest)
            digest = hashlib.sha256()
            shutil.copyfileobj(stream, _Digest(digest), _CHUNK_BYTES)
    except (tarfile.TarError, KeyError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise StartError(f"{path} is not a complete backup of `sigservice backup`.") from error
    if digest.hexdigest() != manifest.dump_sha256:
        raise StartError(f"{path} is damaged: its dump doesn't have the digest of its manifest.")
    return manifest, dump.offset_data


class _Digest:
    """The file that `shutil.copyfileobj` writes to."""

    def __init__(self, digest: "hashlib._Hash") -> None:
        self._digest = digest

    def write(self, data: bytes) -> int:
        self._digest.update(data)
        return len(data)
